// SPDX-License-Identifier: MIT
// The checks of a dashboard that people can rely on, by their numbers, in a real browser.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { Place, axeSource, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

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
  const context = await browser.newContext();
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const asked = [];
  let bytes = 0;
  await session.send('Network.enable');
  page.on('request', (r) => asked.push(r.url()));
  session.on('Network.dataReceived', (e) => { bytes += e.encodedDataLength; });
  await page.goto(place.url);
  await page.waitForSelector('figure figcaption');
  const cold = asked.filter((u) => !u.startsWith('data:') && !u.includes('/history'));
  assert.ok(cold.length <= 4, `requests: ${cold}`);
  assert.ok(asked.every((u) => u.startsWith(place.url) || u.startsWith('data:')), `off-host: ${asked}`);
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
  await context.close();
});

test('2 and 24: the page has its table before any script, and without scripts', async () => {
  const page = await open(browser, place.url, { javaScriptEnabled: false });
  const rows = await page.locator('table.keys tbody tr').allTextContents();
  assert.ok(rows.length >= 3, `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.told) && /of 600/.test(row)), `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.shut) && row.includes('holding') && row.includes('Next start in')), `${rows}`);
  await shut(page);
});

test('4: a hidden tab closes its stream, and catches up when it is seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const hide = (hidden) => page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
  await hide(true);
  await until('the stream is closed', async () => (await fetch(`${place.insideUrl}metrics`)).text().then((t) => /flyball_event_clients 0/.test(t)));
  const before = await page.locator('.summary').first().textContent();
  await sleep(1500);
  assert.equal(await page.locator('.summary').first().textContent(), before);
  await hide(false);
  await until('it catches up', async () => (await page.locator('.summary').first().textContent()) !== before);
  await shut(page);
});

test('5: one stream for all tabs, and a seventh still loads', async () => {
  const context = await browser.newContext();
  const pages = [];
  for (let i = 0; i < 7; i++) pages.push(await open(browser, place.url, { context }));
  await Promise.all(pages.map(isLive));
  const metrics = await (await fetch(`${place.insideUrl}metrics`)).text();
  assert.match(metrics, /flyball_event_clients 1\n/);
  const before = await pages[6].locator('.summary').first().textContent();
  await until('the last one is told too', async () => (await pages[6].locator('.summary').first().textContent()) !== before);
  await pages[0].close();
  const then = await pages[6].locator('.summary').first().textContent();
  await until('another one takes over', async () => (await pages[6].locator('.summary').first().textContent()) !== then);
  await context.close();
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

/* What is cut off, and has no title that says all of it. */
const cutOff = (page) => page.evaluate(() => [...document.querySelectorAll('main *, header *')]
  .filter((n) => n.offsetParent && n.scrollWidth > n.clientWidth + 1 && getComputedStyle(n).overflowX !== 'visible' && !n.closest('.unseen, thead, [title], input, select, .plot, ol'))
  .map((n) => n.outerHTML.slice(0, 100)));

/* 640 pixels of twice the size are what 200 % leave of 1280. */
test('15: no view scrolls sideways or is cut off, from 320 to 2560 pixels, and at 200 %', async () => {
  for (const [width, deviceScaleFactor] of [[320, 1], [360, 3], [640, 2], [768, 1], [1280, 1], [2560, 1]]) {
    const page = await open(browser, place.insideUrl, { width, deviceScaleFactor });
    await isLive(page);
    for (const view of views()) {
      await page.evaluate((hash) => { location.hash = hash; }, view);
      await sleep(100);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view} at ${width}`);
      assert.deepEqual(await cutOff(page), [], `${view} at ${width}`);
    }
    await shut(page);
  }
});

test('16: a thumb can hit everything, and charts let the page scroll', async () => {
  const page = await open(browser, place.url, { width: 360, hasTouch: true, isMobile: true });
  await isLive(page);
  await page.locator('#menu').click();
  await page.getByRole('link', { name: 'Batches' }).waitFor();
  const small = await page.evaluate(() => [...document.querySelectorAll('a, button, select, input')]
    .filter((n) => n.offsetParent && !n.closest('.skip, noscript, .panel h2') && !n.classList.contains('skip'))
    .map((n) => [n.textContent || n.tagName, n.getBoundingClientRect()])
    .filter(([, r]) => r.height < 44 || r.width < 44).map(([t, r]) => `${t}: ${r.width}x${r.height}`));
  assert.deepEqual(small, []);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('.plot')).touchAction), 'pan-y');
  await page.getByRole('link', { name: 'Batches' }).click();
  await page.locator('h2', { hasText: 'Batches' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'Batches' }).isVisible(), false, 'the menu closes');
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

test('17: Tab goes in the order in which things are read, and is always seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const seen = [];
  for (let i = 0; i < 20; i++) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => {
      const n = document.activeElement;
      const box = n.getBoundingClientRect();
      const styles = [n, n.closest('tr')].filter(Boolean).map((one) => getComputedStyle(one).outlineStyle);
      return { y: Math.round(box.top + scrollY), isHeader: Boolean(n.closest('header.top')), isBody: n === document.body, isRinged: styles.some((s) => s !== 'none') };
    }));
  }
  const inMain = seen.filter((s) => !s.isHeader && !s.isBody).slice(1);
  assert.ok(seen.filter((s) => !s.isBody).every((s) => s.isRinged), JSON.stringify(seen));
  assert.ok(inMain.length > 3);
  await shut(page);
});

test('18: axe finds nothing wrong, in every view and both themes', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.insideUrl, { colorScheme, bypassCSP: true });
    await isLive(page);
    await page.evaluate(axeSource);
    for (const view of views()) {
      await page.evaluate((hash) => { location.hash = hash; }, view);
      await sleep(700);
      const { violations } = await page.evaluate(() => axe.run());
      assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [], `${view} ${colorScheme}`);
    }
    await shut(page);
  }
});

test('13, 19 and 20: charts and changes for those who do not see them', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const figure = page.locator('figure').first();
  assert.match(await figure.getAttribute('aria-label'), /requests sent a second/);
  await until('a sentence', async () => /Last 15 min: .*\/s on average/.test(await figure.locator('figcaption').textContent()));
  await until('a table', async () => (await figure.locator('tbody tr').count()) > 0);
  assert.ok(await figure.locator('tbody tr').count() <= 60);
  assert.equal(await page.locator('[aria-live=polite]').count(), 1);
  const spoken = await page.evaluate(() => new Promise((resolve) => {
    const said = [];
    new MutationObserver(() => said.push([Date.now(), document.getElementById('said').textContent])).observe(document.getElementById('said'), { childList: true, characterData: true, subtree: true });
    setTimeout(() => resolve(said), 12000);
  }));
  spoken.forEach(([at, text], i) => {
    assert.match(text, / is now (ok|warning|critical|holding|idle)/);
    assert.ok(i === 0 || at - spoken[i - 1][0] >= 4900, 'at most one in five seconds');
  });
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
    await page.evaluate(axeSource);
    const { violations } = await page.evaluate(() => axe.run({ runOnly: ['color-contrast'] }));
    assert.deepEqual(violations.map((v) => v.nodes.map((n) => n.html).join(' ')), []);
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

test('25: a deep link brings the view back, and figures are those of the status', async () => {
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(names.shut)}?pool=default&range=1h`);
  await isLive(page);
  await page.locator('h2', { hasText: names.shut }).waitFor();
  assert.equal(await page.locator('select').inputValue(), '1h');
  const key = (await place.status()).keys.find((k) => k.provider === names.shut);
  await page.getByText(`${key.throttled} of ${key.requests} requests`).waitFor();
  /* Every figure of the page is that of one status: the page's, at the same sequence. */
  await page.goto(`${place.url}#/`);
  const row = page.locator('table.keys tbody tr', { hasText: names.shut });
  await until('the same figures', async () => (await row.textContent()).includes(`${key.quota.remaining} of ${key.quota.limit}`));
  await shut(page);
});
