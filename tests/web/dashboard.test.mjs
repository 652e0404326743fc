// SPDX-License-Identifier: MIT
// The checks of a dashboard that people can rely on, by their numbers, in a real browser.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, hasRoomForThumbs, hearsNothing, hide, isLive, keepsFocus, launch, open, show, shut, sleep, tell, until } from './daemon.mjs';

const HOSTILE = '<img src=x onerror=alert(1)>';
let place;
let browser;
let names; /* of the providers: their addresses */

before(async () => {
  place = new Place();
  const slow = await place.mock('127.0.0.2', '--limit', 'rate=20/s burst=5', '--dialect', 'retry-after');
  const told = await place.mock('127.0.0.3', '--limit', 'window=600/1m', '--dialect', 'github');
  const shut = await place.mock('127.0.0.4', '--limit', 'fixed=3/1h', '--dialect', 'github');
  names = { told, shut };
  await place.configure(`batches:\n  one: {list: ${place.list('one', slow, 20000)}}\n  two: {list: ${place.list('two', told, 20000)}}\n  three: {list: ${place.list('three', shut, 50)}}\n`);
  await place.serve();
  await until('all providers are known', async () => (await place.status()).keys.length >= 3);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const get = (url, headers) => new Promise((resolve, reject) => {
  request(url, { headers }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(answer));
  }).on('error', reject).end();
});

test('1: a cold load is small, and all of it from here', async () => {
  const page = await open(browser, 'about:blank');
  const session = await page.context().newCDPSession(page);
  const asked = [];
  let bytes = 0;
  await session.send('Network.enable');
  page.on('request', (r) => asked.push(r.url()));
  const streams = new Set(); /* what follows the load, for as long as it is looked at */
  session.on('Network.requestWillBeSent', (e) => { if (/\/events\b/.test(e.request.url)) streams.add(e.requestId); });
  session.on('Network.dataReceived', (e) => { if (!streams.has(e.requestId)) bytes += e.encodedDataLength; });
  await page.goto(place.url);
  await page.waitForSelector('figure figcaption');
  const cold = asked.filter((u) => !u.startsWith('data:') && !u.includes('/history'));
  assert.ok(cold.length <= 4, `requests: ${cold}`);
  assert.ok(asked.every((u) => u.startsWith(place.url) || u.startsWith('data:')), `off-host: ${asked}`);
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
  await shut(page);
});

test('2 and 24: the page has its table before any script, and without scripts', async () => {
  const page = await open(browser, place.url, { javaScriptEnabled: false });
  const rows = await page.locator('table.keys tbody tr').allTextContents();
  assert.ok(rows.length >= 3, `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.told) && /of 600/.test(row)), `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.shut) && row.includes('holding') && row.includes('Next start in')), `${rows}`);
  await shut(page);
});

const STRICT = Boolean(process.env.STRICT);
const totals = (page) => page.locator('.totals').textContent();

/* Counts what changes in the page. */
const countChanges = () => {
  window.changes = 0;
  new MutationObserver((all) => { window.changes += all.length; })
    .observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
};

test('4: a hidden tab closes its stream, draws nothing, and catches up when it is seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await hide(page, true);
  await until('the stream is closed', async () => (await fetch(`${place.insideUrl}metrics`)).text().then((t) => /flyball_event_clients 0/.test(t)));
  await sleep(500); /* what was asked for before has come */
  const before = await totals(page);
  await page.evaluate(countChanges);
  await sleep(3000);
  assert.equal(await page.evaluate(() => window.changes), 0, 'nothing is drawn');
  const seen = Date.now();
  await hide(page, false);
  await until('it catches up', async () => (await totals(page)) !== before);
  assert.ok(Date.now() - seen <= (STRICT ? 1000 : 10000), `${Date.now() - seen} ms`);
  await shut(page);
});

test('5: one stream for all tabs, and a seventh still loads', async () => {
  const context = await browser.newContext();
  const pages = [];
  for (let i = 0; i < 7; i++) pages.push(await open(browser, place.url, { context }));
  const complaints = () => pages.flatMap((page) => page.complaints);
  await Promise.all(pages.map(isLive));
  const metrics = await (await fetch(`${place.insideUrl}metrics`)).text();
  assert.match(metrics, /flyball_event_clients 1\n/);
  const before = await pages[6].locator('.summary').first().textContent();
  await until('the last one is told too', async () => (await pages[6].locator('.summary').first().textContent()) !== before);
  await pages[0].close();
  const then = await pages[6].locator('.summary').first().textContent();
  await until('another one takes over', async () => (await pages[6].locator('.summary').first().textContent()) !== then);
  assert.deepEqual(complaints(), []);
  await shut(pages[6]);
});

/* Browsers know locks on this machine and over https; a host that is configured may be neither. */
test('5: where there are no locks a tab asks every 2 s and holds no connection between', async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }));
  const pages = [];
  for (let i = 0; i < 7; i++) pages.push(await open(browser, place.url, { context }));
  const asked = [];
  pages[6].on('request', (r) => r.url().includes('/events') && asked.push(r.url()));
  const before = await totals(pages[6]);
  await until('the last one is told as well', async () => (await totals(pages[6])) !== before);
  const clients = [];
  for (let i = 0; i < 40; i++) {
    clients.push(Number((await (await fetch(`${place.insideUrl}metrics`)).text()).match(/flyball_event_clients (\d+)/)[1]));
    await sleep(150);
  }
  assert.ok(Math.min(...clients) < 6, `all connections are always in use: ${clients}`);
  assert.ok(clients.reduce((a, b) => a + b, 0) / clients.length < 5, `${clients}`);
  assert.ok(asked.length >= 2 && asked.length <= 5, `asked ${asked.length} times in 6 s`);
  await until('events come as well', () => pages[6].locator('.events li time').count());
  assert.deepEqual(pages.flatMap((page) => page.complaints), []);
  await shut(pages[6]);
});

test('6 and 8: headers that keep a browser safe, and no other name for us', async () => {
  for (const path of ['', 'app.js', 'app.css', 'status']) {
    const answer = await get(place.url + path, {});
    assert.equal(answer.statusCode, 200, path);
    assert.equal(answer.headers['content-security-policy'], "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.ok(answer.headers['cache-control']);
  }
  assert.equal((await get(place.url, { Host: 'evil.example' })).statusCode, 403);
});

/* The configuration refuses such names; the page must not depend on that. */
const bewitch = async (page) => {
  const status = await place.status();
  const name = { provider: HOSTILE, why: HOSTILE, cause: HOSTILE, told_by: HOSTILE, credential: HOSTILE };
  status.keys.push({ ...status.keys[0], ...name, state: 'holding', may_start: false });
  status.batches.push({ ...status.batches[0], name: HOSTILE, bound_by: HOSTILE });
  const news = { kind: 'breaker', provider: HOSTILE, pool: HOSTILE, cause: HOSTILE, time: status.now };
  await page.evaluate(([data, event]) => {
    const other = new BroadcastChannel('flyball'); /* as another tab would tell it */
    other.postMessage({ kind: 'news', data: event });
    other.postMessage({ kind: 'status', data });
  }, [status, news]);
};

test('14: a hostile name is text everywhere', async () => {
  const page = await open(browser, place.url);
  let alerted = false;
  page.on('dialog', (d) => { alerted = true; d.dismiss(); });
  await isLive(page);
  await bewitch(page);
  await page.getByText(HOSTILE).first().waitFor();
  await page.evaluate((name) => { location.hash = `#/p/${encodeURIComponent(name)}?pool=default`; }, HOSTILE);
  await bewitch(page);
  await page.locator('h2', { hasText: HOSTILE }).waitFor();
  await page.evaluate(() => { location.hash = '#/batches'; });
  await bewitch(page);
  await page.getByText(HOSTILE).first().waitFor();
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(alerted, false);
  await shut(page);
});

const views = () => ['#/', `#/p/${encodeURIComponent(names.told)}?pool=default`, '#/batches', '#/deferred', '#/alerts', '#/audit', '#/settings'];

/* 640 pixels of twice the size are what 200 % leave of 1280. */
test('15: no view scrolls sideways or is cut off, from 320 to 2560 pixels, and at 200 %', async () => {
  for (const [width, deviceScaleFactor] of [[320, 1], [360, 3], [640, 2], [768, 1], [1280, 1], [2560, 1]]) {
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
  await menu.click();
  assert.equal(await isOpen(), true);
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
  await sleep(5500); /* what was said before is long ago */
  await page.evaluate(() => {
    window.spoken = [];
    const said = document.getElementById('said');
    new MutationObserver(() => window.spoken.push([Date.now(), said.textContent])).observe(said, { childList: true, characterData: true, subtree: true });
  });
  const status = await place.status();
  const key = status.keys.find((k) => k.provider === names.told);
  const forced = (state) => ({ ...status, keys: status.keys.map((k) => (k === key ? { ...k, state } : k)) });
  await tell(page, 'status', forced('critical'));
  await until('it is said', () => page.evaluate(() => window.spoken.length));
  for (let i = 0; i < 8; i++) { /* back and forth, and figures that change, while the daemon tells its own */
    await tell(page, 'status', forced(i % 2 ? 'critical' : 'warning'));
    await sleep(250);
  }
  const early = await page.evaluate(() => window.spoken);
  assert.equal(early.length, 1, JSON.stringify(early));
  assert.ok(early[0][1].includes(`${names.told} is now critical`), early[0][1]);
  await sleep(6000);
  const spoken = await page.evaluate(() => window.spoken);
  spoken.forEach(([at, text], i) => {
    assert.match(text, /^[^,]* is now (ok|warning|critical|holding|idle)(, [^,]* is now (ok|warning|critical|holding|idle))*$/);
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
  const inks = ['--text', '--quiet', '--rate', '--limit', '--ok', '--warning', '--critical', '--holding', '--idle'];
  return inks.flatMap((ink) => ['--page', '--panel', '--row'].map((paper) => [ink, paper, ratio(light(ink), light(paper))]));
});

test('22: every ink is readable on every paper, in both themes, and the choice is remembered', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.url, { colorScheme });
    for (const [ink, paper, ratio] of await contrastIn(page)) assert.ok(ratio >= 4.5, `${ink} on ${paper}, ${colorScheme}: ${ratio}`);
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

test('25: a deep link brings the view back, and the range goes along', async () => {
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(names.shut)}?pool=default&range=1h`);
  await isLive(page);
  await page.locator('h2', { hasText: names.shut }).waitFor();
  assert.equal(await page.locator('select').inputValue(), '1h');
  const key = (await place.status()).keys.find((k) => k.provider === names.shut);
  await page.getByText(`${key.throttled} of ${key.requests} requests`).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/#\/\?range=1h$/);
  await page.locator('table.keys a', { hasText: names.told }).click();
  await page.waitForURL(/#\/p\/.*range=1h$/);
  await page.getByRole('link', { name: 'Batches' }).click();
  await page.waitForURL(/#\/batches\?range=1h$/);
  assert.equal(await page.locator('nav [aria-current]').textContent(), 'Batches');
  await page.locator('select').selectOption('1d');
  await page.waitForURL(/#\/batches\?range=1d$/);
  const links = await page.evaluate(() => [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href')));
  assert.ok(links.every((href) => href.endsWith('?range=1d')), `${links}`);
  await page.locator('select').selectOption('15m');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.waitForURL(/#\/$/);
  await shut(page);
});

/* What the page says and the status that it says it of, taken in the same moment. */
const spy = () => {
  window.pairs = [];
  new BroadcastChannel('flyball').onmessage = ({ data: message }) => {
    if (message.kind !== 'status') return;
    const rows = [...document.querySelectorAll('table.keys tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    window.pairs.push({ status: JSON.parse(message.data), rows, figures: [...document.querySelectorAll('.totals .figures b')].map((b) => b.textContent) });
  };
};

const grouped = (n) => Math.round(n).toLocaleString('en-US');
const isAbout = (text, value) => Math.abs(Number(text.replaceAll(',', '')) - value) <= Math.max(0.0051, value * 0.006);

const sameRow = (k, [name, state, , pace, left, next, queued, refused, why]) => {
  assert.equal(name, k.pool === 'default' ? k.provider : `${k.provider}/${k.pool}`);
  assert.match(state, new RegExp(`^\\S\\s*${k.state}$`));
  const [sent, limit] = pace.split(' / ');
  if (k.state === 'idle') assert.equal(sent, '-'); else assert.ok(isAbout(sent, k.rate_per_s), `${pace} ${k.rate_per_s}`);
  if (!k.learning && k.limit_per_s > 0) assert.ok(isAbout(limit.match(/[\d.,]+/)[0], k.limit_per_s), `${pace} ${k.limit_per_s}`);
  const told = k.quota || k.window;
  if (told) assert.ok(left.startsWith(`${grouped(told.remaining)} of ${grouped(told.limit)}`), left);
  if (k.may_start) assert.equal(next, k.queued + k.in_flight > 0 ? 'now' : '-');
  else if (k.next_start_in_s > 2) assert.match(next, /^in \d/);
  assert.equal(queued, grouped(k.queued));
  assert.equal(refused, grouped(k.throttled || 0));
  assert.equal(why, k.enabled && !k.may_start && k.state !== 'ok' ? k.cause || '' : '');
};

const RANKS = ['critical', 'holding', 'warning', 'ok', 'idle'];

test('25: every figure of every row is that of the status with the same sequence', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.evaluate(spy);
  const asked = [];
  const pairs = await until('a few statuses came', async () => {
    asked.push(await place.status());
    const all = await page.evaluate(() => window.pairs);
    return all.length >= 5 && all;
  });
  for (const { status, rows, figures } of pairs) {
    const keys = [...status.keys].sort((a, b) => RANKS.indexOf(a.state) - RANKS.indexOf(b.state) || (a.provider < b.provider ? -1 : 1));
    assert.equal(rows.length, keys.length);
    keys.forEach((k, i) => sameRow(k, rows[i]));
    assert.deepEqual(figures.slice(1), [status.queue.active_tasks, status.queue.length, status.keys.reduce((sum, k) => sum + k.throttled, 0)].map(grouped));
  }
  const both = pairs.flatMap(({ status }) => asked.filter((other) => other.sequence === status.sequence).map((other) => [status, other]));
  assert.ok(both.length > 0, 'at least one of them was asked for as well');
  both.forEach(([one, other]) => { /* of the one that is held, whose figures stand still */
    const [mine, its] = [one, other].map((s) => s.keys.find((k) => k.provider === names.shut));
    ['state', 'rate_per_s', 'limit_per_s', 'queued', 'in_flight', 'throttled', 'requests', 'cause'].forEach((name) => assert.equal(mine[name], its[name], name));
    assert.equal(mine.quota.remaining, its.quota.remaining);
  });
  await shut(page);
});
