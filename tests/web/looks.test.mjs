// SPDX-License-Identifier: MIT
// What must look right: large figures, more contrast, colours of the system, no plots, dense rows.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, hearsNothing, isLive, launch, open, shut, sleep, tell, until } from './daemon.mjs';

let place;
let browser;

before(async () => {
  place = new Place();
  const told = await place.mock('127.0.0.3', '--limit', 'window=600/1h', '--dialect', 'github');
  await place.configure(`providers:\n  api:\n    hosts: ["127.0.0.3"]\n    limit: reserve=10%\nbatches:\n  one: {list: ${place.list('one', told, 20000)}}\n`);
  await place.serve();
  await until('its quota is known', async () => (await place.status()).keys.some((k) => k.quota));
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

/* The same page as it is built where there is no npm. */
const withoutPlots = (page) => page.route('**/app.js', async (route) => {
  const answer = await route.fetch();
  const text = await answer.text();
  const own = text.indexOf('/* SPDX-License-Identifier: MIT */\n(');
  assert.ok(own > 0, 'uPlot comes first');
  await route.fulfill({ response: answer, body: text.slice(own) });
});

test('13: without plots there is no hole where they would be, but the table behind them', async () => {
  for (const width of [1280, 360]) {
    const page = await open(browser, 'about:blank', { width, bypassCSP: true });
    await withoutPlots(page);
    await page.goto(place.url);
    await isLive(page);
    const table = page.locator('figure table');
    await until('figures', async () => (await table.locator('tbody tr').count()) > 3);
    assert.equal(await page.locator('.plot').isVisible(), false);
    const box = await table.boundingBox();
    assert.ok(box.width > 250 && box.height > 60, JSON.stringify(box));
    assert.match(await table.locator('tbody tr').first().textContent(), /^\d\d:\d\d:\d\d/);
    await fits(page, `${width}`);
    await axeIsHappy(page, `without plots at ${width}`);
    await shut(page);
  }
});

test('a limit that the server tells is no guess', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const key = { ...status.keys[0], state: 'ok', rate_per_s: 9, limit_per_s: 10, limit_by: 'learned', limit_told: false, learned: true, learning: false, confidence: 0.9 };
  await tell(page, 'status', { ...status, keys: [key, { ...key, pool: 'told', limit_told: true }] });
  await page.locator('td.rate', { hasText: '/ 10.0 /stold' }).waitFor();
  await page.locator('td.rate', { hasText: '/ ~10.0 /s90 %' }).waitFor();
  await shut(page);
});

test('14: large figures stay in their cells, and can be read', async () => {
  for (const width of [961, 1000, 1120, 1280, 1920]) {
    const page = await open(browser, place.url, { width, before: hearsNothing });
    await isLive(page);
    const status = await place.status();
    const key = { ...status.keys[0], state: 'warning', queued: 1234567, throttled: 1234567, quota: { limit: 5000000, remaining: 1234567, reserve: 500000, reset_in_s: 3500 } };
    await tell(page, 'status', { ...status, keys: [key, { ...key, pool: 'other', rate_per_s: 123456, limit_per_s: 234567, learned: true, learning: false, confidence: 0.92, quota: { limit: 5e12, remaining: 1.234567e12, reset_in_s: 86000 } }] });
    await page.locator('td.left', { hasText: '1,234,567 of 5,000,000' }).waitFor();
    const overlaps = await page.evaluate(() => [...document.querySelectorAll('table.keys tbody tr')].flatMap((row) => [...row.cells].filter((cell) => cell.offsetParent).flatMap((cell, i, cells) => {
      const end = cells[i + 1] ? cells[i + 1].getBoundingClientRect().left : row.getBoundingClientRect().right;
      return [...cell.querySelectorAll('*'), cell].filter((n) => n.textContent && n.children.length === 0).filter((n) => {
        const range = document.createRange();
        range.selectNodeContents(n);
        const seen = n.scrollWidth > n.clientWidth && getComputedStyle(n).overflowX === 'hidden' ? n.getBoundingClientRect().right : range.getBoundingClientRect().right;
        return Math.min(seen, getComputedStyle(cell).overflowX === 'hidden' ? cell.getBoundingClientRect().right : seen) > end + 0.5;
      }).map((n) => `${n.textContent} in ${cell.className}`);
    })));
    assert.deepEqual(overlaps, [], `at ${width}`);
    if (width >= 1280) {
      const isWhole = await page.locator('td.left .left-figures').first().evaluate((n) => n.scrollWidth <= n.clientWidth);
      assert.ok(isWhole, `nothing of 1,234,567 of 5,000,000 is cut off at ${width}`);
    }
    await fits(page, `${width}`);
    await shut(page);
  }
});

/* What a table says in every frame after a status came, until all rows have it. */
const framesOf = (page, status) => page.evaluate(async (text) => {
  const frames = [];
  const table = document.querySelector('table.keys');
  const wordsOf = (row) => [row.querySelector('.name').textContent, row.querySelector('.state').textContent.trim(), row.querySelector('.number').textContent];
  const look = () => frames.push([...table.tBodies[0].rows].map(wordsOf));
  const queued = String(JSON.parse(text).keys[0].queued);
  const isOver = () => frames.at(-1).some((row) => row[2] === queued) && table.getAttribute('aria-busy') === 'false';
  new BroadcastChannel('flyball').postMessage({ kind: 'status', data: text });
  for (look(); frames.length < 300 && !isOver(); look()) await new Promise(requestAnimationFrame);
  return frames;
}, JSON.stringify(status));

const RANKS = ['critical', 'holding', 'warning', 'ok', 'idle'];

test('3 and 25: many rows are shown in several frames, what changed its state at once', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const keys = Array.from({ length: 50 }, (_, i) => ({ ...status.keys[0], pool: `p${String(i).padStart(2, '0')}`, state: 'ok', queued: 1 }));
  await tell(page, 'status', { ...status, keys });
  await page.locator('table.keys tbody tr').nth(49).waitFor();
  const next = keys.map((k, i) => ({ ...k, queued: 2, state: i === 40 ? 'critical' : 'ok' }));
  const frames = await framesOf(page, { ...status, keys: next });
  const wanted = [next[40], ...next.filter((k) => k.state === 'ok')].map((k) => `api/${k.pool}`);
  const shownIn = (all, queued) => all.map((rows) => rows.filter((row) => row[2] === queued).length);
  const shown = shownIn(frames, '2');
  assert.equal(shown.at(-1), 50, `${shown}`);
  shown.slice(1).forEach((n, i) => assert.ok(n - shown[i] <= 25, `not all in one frame: ${shown}`));
  for (const rows of frames.filter((_, i) => shown[i] > 0)) {
    assert.deepEqual(rows.map(([name]) => name), wanted);
    assert.match(rows[0][1], /critical$/);
  }
  /* All change their state: they go up a few at a time, and in every frame the order is right. */
  const held = next.map((k) => ({ ...k, state: 'holding', queued: 3 }));
  const moves = await framesOf(page, { ...status, keys: held });
  const moved = shownIn(moves, '3');
  assert.equal(moved.at(-1), 50, `${moved}`);
  moved.slice(1).forEach((n, i) => assert.ok(n - moved[i] <= 7, `not all in one frame: ${moved}`));
  moves.forEach((rows) => {
    const states = rows.map(([, state]) => RANKS.indexOf(state.match(/\w+$/)[0]));
    assert.deepEqual(states, [...states].sort((a, b) => a - b));
  });
  assert.deepEqual(moves.at(-1).map(([name]) => name), held.map((k) => `api/${k.pool}`));
  await shut(page);
});

test('rows are 28 pixels high on a desk', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const heights = await page.evaluate(() => [...document.querySelectorAll('table.keys tr')].map((row) => row.getBoundingClientRect().height));
  heights.forEach((height) => assert.ok(Math.abs(height - 28) <= 1, `${heights}`));
  await shut(page);
});

test('the grade is always there, and quiet while all is healthy', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  await tell(page, 'status', { ...status, grade: 'healthy' });
  await page.locator('.states .quiet', { hasText: 'overall healthy' }).waitFor();
  await tell(page, 'status', { ...status, grade: 'degraded' });
  await page.locator('.states .state-warning', { hasText: 'overall degraded' }).waitFor();
  assert.equal(await page.locator('.states', { hasText: 'healthy' }).count(), 0);
  await shut(page);
});

test('22: who asks for more contrast gets it, in both themes, chosen or not', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.url, { contrast: 'more', colorScheme });
    const inks = () => page.evaluate(() => ['--text', '--quiet', '--idle', '--line'].map((name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()));
    assert.equal(new Set(await inks()).size, 1, `${await inks()}`);
    await page.keyboard.press('t');
    assert.equal(new Set(await inks()).size, 1, `chosen: ${await inks()}`);
    await shut(page);
  }
});

/* What is painted in the middle of an element, by a picture of it. */
const coloursOf = async (page, selector) => {
  const png = await page.locator(selector).first().screenshot();
  return page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
    return [...seen];
  }, [...png]);
};

test('22: where the system has its own colours bars and plots are drawn in these', async () => {
  const page = await open(browser, place.url, { forcedColors: 'active', colorScheme: 'dark' });
  await isLive(page);
  await page.locator('.plot canvas').waitFor();
  await sleep(1500);
  const system = await page.evaluate(() => {
    const probe = document.createElement('i');
    probe.style.forcedColorAdjust = 'none';
    document.body.append(probe);
    return Object.fromEntries(['Canvas', 'CanvasText', 'LinkText'].map((name) => {
      probe.style.color = name;
      return [name, getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).join()];
    }));
  });
  assert.notEqual(system.Canvas, system.CanvasText);
  const bar = await coloursOf(page, 'td.left .bar');
  assert.ok(bar.includes(system.CanvasText), `its track and its notch are seen: ${bar}`);
  assert.ok(bar.includes(system.LinkText), `its fill is seen: ${bar}`);
  const notch = await page.locator('td.left .bar b').evaluate((n) => getComputedStyle(n).backgroundColor.match(/\d+/g).slice(0, 3).join());
  assert.equal(notch, system.CanvasText);
  const plot = await coloursOf(page, '.plot');
  assert.ok(plot.includes(system.LinkText) || plot.includes(system.CanvasText), `its lines: ${plot.slice(0, 20)}`);
  await shut(page);
});

test('23: the five shapes weigh about the same', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const states = ['critical', 'holding', 'warning', 'ok', 'idle'];
  await tell(page, 'status', { ...status, keys: states.map((state) => ({ ...status.keys[0], provider: `p-${state}`, state })) });
  await until('all five', async () => (await page.locator('table.keys tbody tr').count()) === 5);
  const boxes = await page.evaluate(() => [...document.querySelectorAll('table.keys td.state .shape')].map((n) => {
    const style = getComputedStyle(n, '::before');
    return [parseFloat(style.width), parseFloat(style.height), n.getBoundingClientRect().width];
  }));
  boxes.forEach(([width, height, room]) => {
    assert.ok(width >= 9 && width <= 11 && height >= 9 && height <= 10, JSON.stringify(boxes));
    assert.equal(room, 14);
  });
  await shut(page);
});

test('one that may start and is critical says how little is left', async () => {
  const page = await open(browser, place.url, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const key = { ...status.keys[0], state: 'critical', may_start: true, left_by: 'quota', because: undefined, why: 'May start now.', quota: { limit: 400, remaining: 60, reset_in_s: 7200.4 } };
  await tell(page, 'status', { ...status, keys: [key] });
  await page.locator('.verdict.state-critical', { hasText: 'Only 60 of 400 are left, until the reset in 2 h.' }).waitFor();
  assert.equal(await page.locator('td.why').textContent(), 'little left');
  await page.locator('td.left .bar.is-out').waitFor();
  await tell(page, 'status', { ...status, keys: [{ ...key, state: 'warning' }] });
  await page.locator('td.left .bar.is-low').waitFor();
  await tell(page, 'status', { ...status, keys: [{ ...key, state: 'ok', quota: { ...key.quota, remaining: 9 } }] });
  await page.locator('td.left .bar:not(.is-low, .is-out)').waitFor(); /* a row that is well has no bar that warns */
  await shut(page);
});
