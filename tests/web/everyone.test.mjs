// SPDX-License-Identifier: MIT
// The checks of a dashboard that everybody can use, 15 to 23 by their numbers, in a real browser.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, hasRoomForThumbs, hearsNothing, hide, isLive, keepsFocus, launch, open, show, shut, sleep, tell, threeProviders, until } from './daemon.mjs';

let place;
let browser;
let names; /* of the providers: their addresses */

before(async () => {
  place = new Place();
  names = await threeProviders(place);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const views = () => ['#/', `#/p/${encodeURIComponent(names.told)}?pool=default`, '#/batches', '#/deferred', '#/alerts', '#/audit', '#/settings'];

/* 640 pixels of twice the size are what 200 % leave of 1280. */
test('15: no view scrolls sideways or is cut off, from 320 to 2560 pixels, and at 200 %', async () => {
  for (const [width, deviceScaleFactor] of [[320, 1], [360, 3], [640, 2], [768, 1], [961, 1], [1000, 1], [1041, 1], [1280, 1], [2560, 1]]) {
    const page = await open(browser, place.insideUrl, { width, deviceScaleFactor });
    await isLive(page);
    for (const view of views()) {
      await show(page, view);
      await fits(page, `${view} at ${width}`);
    }
    await shut(page);
  }
});

test('16: a thumb can hit everything in every view, and charts let the page scroll', async () => {
  const page = await open(browser, place.insideUrl, { width: 360, hasTouch: true, isMobile: true });
  await isLive(page);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.plot')).touchAction), 'pan-y');
  for (const view of views()) {
    await show(page, view);
    await sleep(500); /* what it asks for has come */
    await page.locator('#menu').click();
    await hasRoomForThumbs(page, view);
    await page.locator('#menu').click();
  }
  await shut(page);
});

test('16: the menu of a phone says whether it is open, and Esc closes it', async () => {
  const page = await open(browser, place.url, { width: 360, hasTouch: true, isMobile: true });
  await isLive(page);
  const menu = page.locator('#menu');
  const batches = page.getByRole('link', { name: 'Batches' });
  const isOpen = async () => {
    const said = await menu.getAttribute('aria-expanded');
    assert.equal(said, String(await batches.isVisible()));
    return said === 'true';
  };
  assert.equal(await isOpen(), false);
  const before = await menu.boundingBox();
  await menu.click();
  assert.equal(await isOpen(), true);
  const { x, y } = await menu.boundingBox();
  assert.ok(x === before.x && Math.abs(y - before.y) < 1, `it opens below its button, which stays: ${x}, ${y}`);
  assert.ok((await batches.boundingBox()).y >= before.y + before.height);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Overview', 'and comes after it');
  await batches.focus();
  await page.keyboard.press('Escape');
  assert.equal(await isOpen(), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'menu');
  await menu.click();
  await batches.click();
  await page.locator('h2', { hasText: 'Batches' }).waitFor();
  assert.equal(await isOpen(), false, 'it closes where it led somewhere');
  await shut(page);
});

test('17: with the keyboard alone', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const second = await page.evaluate(() => document.activeElement.getAttribute('href'));
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement.closest('tr')).outlineStyle), 'none', 'the focus is seen');
  assert.match(second, /^#\/p\//);
  await page.keyboard.press('k');
  assert.notEqual(await page.evaluate(() => document.activeElement.getAttribute('href')), second);
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/p\//);
  await page.keyboard.press('Escape');
  await page.waitForURL(/#\/$/);
  await page.keyboard.press('?');
  await page.waitForSelector('dialog[open]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  assert.match(await page.evaluate(() => document.documentElement.dataset.theme), /dark|light/);
  await page.keyboard.press('/');
  await page.keyboard.type(names.told);
  await until('only those are shown', async () => (await page.locator('table.keys tbody tr').count()) === 1);
  await shut(page);
});

test('what is typed into the filter sifts every list, and is said where its box is out of sight', async () => {
  const page = await open(browser, `${place.insideUrl}#/batches`);
  await isLive(page);
  const seen = () => page.locator('tbody tr:visible').count();
  await until('three batches', async () => (await seen()) === 3);
  await page.keyboard.press('/');
  await page.keyboard.type('TWO');
  await until('one of them', async () => (await seen()) === 1);
  await sleep(2500); /* statuses come and change it */
  assert.equal(await seen(), 1);
  await show(page, '#/settings');
  await page.keyboard.press('/');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('breaker.');
  await until('defaults are opened for it', async () => (await seen()) >= 2);
  assert.ok((await page.locator('tbody tr:visible').allTextContents()).every((text) => text.includes('breaker.')));
  await page.setViewportSize({ width: 360, height: 800 });
  await page.getByText('Only what has “breaker.” in it is shown.').waitFor();
  await fits(page, 'with a filter');
  await page.getByRole('button', { name: 'show all' }).click();
  await until('all of it', async () => (await seen()) > 10);
  assert.equal(await page.getByText('Only what has').isVisible(), false);
  await shut(page);
});

test('17: where the filter is in a menu, its key opens that', async () => {
  const page = await open(browser, place.url, { width: 640 });
  await isLive(page);
  await page.keyboard.press('/');
  await page.keyboard.type(names.told);
  await until('only those are shown', async () => (await page.locator('table.keys tbody tr').count()) === 1);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#menu').getAttribute('aria-expanded'), 'false');
  await shut(page);
});

test('what is pointed at in a chart is said in its legend, and of when it is', async () => {
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(names.told)}?pool=default`);
  await isLive(page);
  const legend = page.locator('.legend');
  await until('some seconds are there', async () => (await page.locator('figure tbody tr').count()) > 5);
  assert.doesNotMatch(await legend.textContent(), /at \d/);
  const box = await page.locator('.plot .u-over').boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
  await until('it says when', async () => /at \d\d:\d\d:\d\d$/.test(await legend.textContent()));
  const clocks = async () => (await legend.textContent()).match(/(\d\d:\d\d:\d\d)$/)[1];
  const middle = await clocks();
  await page.mouse.move(box.x + box.width * 0.9, box.y + box.height / 2);
  await until('a later one', async () => (await clocks()) > middle);
  await page.mouse.move(box.x, box.y - 60);
  await until('and nothing where nothing is pointed at', async () => !/at \d/.test(await legend.textContent()));
  await shut(page);
});

test('every column says what it is, to those who ask', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const bare = await page.evaluate(() => [...document.querySelectorAll('table.keys th')].filter((n) => !n.title).map((n) => n.textContent));
  assert.deepEqual(bare, []);
  await page.keyboard.press('?');
  for (const state of ['critical', 'holding', 'warning', 'ok', 'idle']) await page.locator('dialog dt', { hasText: state }).waitFor();
  await shut(page);
});

test('a command is copied; where a page may not, it is selected', async () => {
  const page = await open(browser, place.url, { permissions: ['clipboard-read', 'clipboard-write'] });
  await isLive(page);
  const button = page.locator('.more .command button');
  const code = await page.locator('.more .command code').textContent();
  await button.click();
  await until('it says so', async () => (await button.textContent()) === 'copied');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), code);
  await until('and is itself again', async () => (await button.textContent()) === 'copy');
  await page.evaluate(() => Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined }));
  await button.click();
  assert.equal(await page.evaluate(() => getSelection().toString()), code);
  await shut(page);
});

/* Below, or beside it to the right; never back up to the left. */
const isRead = (a, b) => b.y >= a.y - 8 || b.x >= a.right;

test('17: Tab goes in the order in which things are read, and is always seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const seen = [];
  for (let i = 0; i < 40 && !(seen.length > 3 && seen.at(-1).isBody); i++) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => {
      const n = document.activeElement;
      const box = n.getBoundingClientRect();
      const styles = [n, n.closest('tr')].filter(Boolean).map((one) => getComputedStyle(one).outlineStyle);
      return { what: n.textContent.slice(0, 30) || n.tagName, x: Math.round(box.left), right: Math.round(box.right), y: Math.round(box.top + scrollY),
        isSkip: n.className === 'skip', isBody: n === document.body, isRinged: styles.some((s) => s !== 'none') };
    }));
  }
  const there = seen.filter((s) => !s.isBody && !s.isSkip);
  assert.ok(there.every((s) => s.isRinged), JSON.stringify(seen));
  assert.ok(there.length > 12, JSON.stringify(there));
  there.slice(1).forEach((s, i) => assert.ok(isRead(there[i], s), `${JSON.stringify(there[i])} before ${JSON.stringify(s)}`));
  await shut(page);
});

/* What a real daemon does seldom when one looks: the last row comes first, and goes back. */
const turnRows = async (page, status, isWorst) => {
  const [first, ...rest] = [...status.keys].sort((a, b) => (a.provider < b.provider ? -1 : 1));
  await tell(page, 'status', { ...status, keys: [...rest, { ...first, state: isWorst ? 'critical' : 'idle' }] });
};

test('17: a row keeps the focus wherever it goes, and so does a batch', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const name = [...status.keys].sort((a, b) => (a.provider < b.provider ? -1 : 1))[0].provider;
  const places = () => page.evaluate((row) => [...document.querySelectorAll('table.keys tbody tr')].findIndex((n) => n.textContent.includes(row)), name);
  await turnRows(page, status, false);
  await page.locator('table.keys a', { hasText: name }).focus();
  await page.evaluate(() => { window.held = document.activeElement; });
  const seen = new Set();
  for (let i = 0; i < 6; i++) {
    await turnRows(page, status, i % 2 === 0);
    await sleep(50);
    seen.add(await places());
    assert.ok(await page.evaluate(() => document.activeElement === window.held), `after ${i} moves`);
  }
  assert.ok(seen.size > 1, 'the row moved');
  await show(page, '#/batches');
  const deferred = (n) => ({ ...status, batches: status.batches.map((b) => ({ ...b, items: { ...b.items, deferred: n } })) });
  await tell(page, 'status', deferred(7));
  await page.locator('td a', { hasText: '7' }).first().waitFor();
  const held = keepsFocus(page, 'td a[href^="#/deferred"]');
  for (let n = 8; n < 12; n++) {
    await sleep(1000);
    await tell(page, 'status', deferred(n));
  }
  await held;
  await page.locator('td a', { hasText: '11' }).first().waitFor();
  await shut(page);
});

test('18: axe finds nothing wrong, in every view and both themes', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.insideUrl, { colorScheme, bypassCSP: true });
    await isLive(page);
    for (const view of views()) {
      await show(page, view);
      await sleep(600);
      await axeIsHappy(page, `${view} ${colorScheme}`);
    }
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    await axeIsHappy(page, `help ${colorScheme}`);
    await shut(page);
  }
});

test('13 and 19: charts for those who do not see them', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const figure = page.locator('figure').first();
  assert.match(await figure.getAttribute('aria-label'), /requests sent a second/);
  await until('a sentence', async () => /Last 15 min: .*\/s on average/.test(await figure.locator('figcaption').textContent()));
  await until('a table', async () => (await figure.locator('tbody tr').count()) > 0);
  assert.ok(await figure.locator('tbody tr').count() <= 60);
  await page.goto(`${place.url}#/p/${encodeURIComponent(names.told)}?pool=default`);
  await page.locator('figure.latency figcaption', { hasText: 'p95' }).waitFor();
  const answers = (await page.locator('figure.latency td').allTextContents()).reduce((sum, n) => sum + Number(n.replaceAll(',', '')), 0);
  assert.ok(answers > 0, 'a table behind the bars');
  await page.goto(`${place.url}#/p/${encodeURIComponent(names.shut)}?pool=default&range=1d`);
  await page.locator('figure').first().waitFor();
  await page.locator('figure canvas').first().waitFor(); /* axes */
  await page.goto(`${place.url}#/p/${encodeURIComponent(names.shut)}?pool=default&range=15m`);
  await page.evaluate(() => { window.fetch = async () => ({ ok: true, json: async () => ({ step_s: 60, end_s: Math.floor(Date.now() / 1000), series: [] }) }); });
  await page.locator('select').selectOption('1d');
  await page.getByText('no requests in this window').first().waitFor();
  await page.locator('figure canvas').first().waitFor();
  await shut(page);
});

test('20: a change of state is said once, at most one in five seconds, and never a figure', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  assert.equal(await page.locator('[aria-live=polite]').count(), 1);
  const status = await place.status();
  place.daemon.kill('SIGSTOP'); /* what it would tell of its own may come first */
  await sleep(5500); /* what was said before is long ago */
  await page.evaluate(() => {
    window.spoken = [];
    const said = document.getElementById('said');
    new MutationObserver(() => window.spoken.push([Date.now(), said.textContent])).observe(said, { childList: true, characterData: true, subtree: true });
  });
  const key = status.keys.find((k) => k.provider === names.told);
  const forced = (state) => ({ ...status, keys: status.keys.map((k) => (k === key ? { ...k, state } : k)) });
  await tell(page, 'status', forced('critical'));
  await until('it is said', () => page.evaluate(() => window.spoken.length));
  for (let i = 0; i < 8; i++) { /* back and forth, and figures that change */
    await tell(page, 'status', forced(i % 2 ? 'critical' : 'warning'));
    await sleep(250);
  }
  const early = await page.evaluate(() => window.spoken);
  place.daemon.kill('SIGCONT');
  assert.equal(early.length, 1, JSON.stringify(early));
  assert.ok(early[0][1].includes(`${names.told} is now critical`), early[0][1]);
  await sleep(6000);
  const spoken = await page.evaluate(() => window.spoken);
  spoken.forEach(([at, text], i) => {
    assert.match(text, /^[^,]* is now (ok|warning|critical|holding|idle)(, [^,]* is now (ok|warning|critical|holding|idle))*(, and \d+ more have changed)?$/);
    assert.ok(i === 0 || at - spoken[i - 1][0] >= 4900, 'at most one in five seconds');
  });
  await shut(page);
});

test('21: no motion for those who asked for none', async () => {
  const page = await open(browser, place.url, { reducedMotion: 'reduce' });
  await isLive(page);
  const moving = await page.evaluate(() => [...document.querySelectorAll('*')].filter((n) => {
    const s = getComputedStyle(n);
    return s.transitionDuration !== '0s' || s.animationName !== 'none';
  }).length);
  assert.equal(moving, 0);
  await hide(page, true); /* nothing comes: then no axis may move by itself */
  await sleep(1500);
  const plot = () => page.locator('.plot canvas').first().evaluate((c) => c.toDataURL());
  const before = await plot();
  await sleep(2000);
  assert.equal(await plot(), before);
  await shut(page);
});

const contrastIn = (page) => page.evaluate(() => {
  const style = getComputedStyle(document.documentElement);
  const part = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const light = (name) => {
    const hex = style.getPropertyValue(name).trim();
    const [r, g, b] = [1, 3, 5].map((i) => part(parseInt(hex.slice(i, i + 2), 16) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const inks = ['--text', '--quiet', '--rate', '--limit', '--ok', '--warning', '--critical', '--holding', '--idle', '--focus'];
  const steps = [1, 2, 3, 4, 5].map((i) => `--step-${i}`);
  return {
    texts: inks.flatMap((ink) => ['--page', '--panel', '--row'].map((paper) => [ink, paper, ratio(light(ink), light(paper))])),
    shapes: steps.map((step) => [step, '--panel', ratio(light(step), light('--panel'))]),
    neighbours: steps.slice(1).map((step, i) => [step, steps[i], ratio(light(step), light(steps[i]))]),
  };
});

test('22: every ink is readable on every paper, in both themes, and the choice is remembered', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.url, { colorScheme });
    const found = await contrastIn(page);
    for (const [kind, least] of [['texts', 4.5], ['shapes', 3], ['neighbours', 1.2]]) {
      found[kind].forEach(([ink, paper, ratio]) => assert.ok(ratio >= least, `${ink} on ${paper}, ${colorScheme}: ${ratio}`));
    }
    await page.keyboard.press('t');
    const chosen = await page.evaluate(() => document.documentElement.dataset.theme);
    assert.equal(chosen, colorScheme === 'light' ? 'dark' : 'light');
    await page.reload();
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), chosen);
    await shut(page);
  }
  for (const more of [{ forcedColors: 'active' }, { contrast: 'more' }, { contrast: 'more', colorScheme: 'dark' }]) {
    const page = await open(browser, place.insideUrl, { ...more, bypassCSP: true });
    await isLive(page);
    await axeIsHappy(page, JSON.stringify(more), { runOnly: ['color-contrast'] });
    await shut(page);
  }
});

test('23: a state is told by its word and its shape, whatever colours are seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const session = await page.context().newCDPSession(page);
  for (const type of ['deuteranopia', 'protanopia', 'achromatopsia']) {
    await session.send('Emulation.setEmulatedVisionDeficiency', { type });
    const cells = await page.locator('table.keys td.state').allTextContents();
    cells.forEach((text) => assert.match(text, /^[■‖▲●○]\s*(critical|holding|warning|ok|idle)$/));
  }
  const row = page.locator('table.keys tbody tr', { hasText: names.shut });
  await until('holding', async () => /‖\s*holding/.test(await row.locator('.state').textContent()));
  await shut(page);
});
