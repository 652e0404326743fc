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
  const own = text.indexOf('/* SPDX-License-Identifier: MIT */\n(() => {');
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

test('14: large figures stay in their cells, and can be read', async () => {
  for (const width of [1120, 1280, 1920]) {
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
  await shut(page);
});
