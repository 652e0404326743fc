// SPDX-License-Identifier: MIT
// The report of `flyball fetch --report`: the same page, frozen, from a file and without a network.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Place, axeIsHappy, fits, launch, open, shut } from './daemon.mjs';

const HOSTILE = '<img src=x onerror=alert(1)>';
const BREAKER = '</script><script>alert(1)</script>'; /* of the element that holds the figures */
const CANARY = 'canary5ecret';
let place;
let browser;
let file;
let name;

before(async () => {
  place = new Place();
  name = await place.mock('127.0.0.2', '--limit', 'rate=40/s burst=1', '--dialect', 'retry-after');
  file = join(place.folder, 'report.html');
  const list = join(place.folder, 'urls.jsonl');
  writeFileSync(list, Array.from({ length: 120 }, (_, i) => `${JSON.stringify({ url: `http://${name}/item/${i}`, id: `${i}`, ...(i ? {} : { pool: BREAKER }) })}\n`).join(''));
  const fetching = place.run('fetch', list, '--jsonl', join(place.folder, 'out.jsonl'), '--report', file,
    '--provider', HOSTILE, '--header', `Authorization: Bearer ${CANARY}`);
  const code = await new Promise((resolve) => { fetching.once('exit', resolve); });
  assert.equal(code, 0);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const openReport = async (options = {}) => {
  const context = await browser.newContext({ viewport: { width: options.width || 1280, height: 900 }, ...options });
  const asked = [];
  context.on('request', (r) => asked.push(r.url()));
  const page = await open(browser, pathToFileURL(file).href, { context });
  page.asked = asked;
  return page;
};

test('5: it opens from a file, asks nobody, and breaks no rule of its own policy', async () => {
  const page = await openReport({ offline: true });
  await page.getByText('120 of 120 items').first().waitFor();
  await page.locator('canvas').waitFor();
  const [, average] = (await page.locator('figcaption').first().textContent()).match(/The run: ([\d.]+)\/s on average/);
  const [, mean] = (await page.locator('table.keys td.rate').first().textContent()).match(/([\d.]+) \//);
  assert.equal(average, mean, 'one mean, in the sentence and in the table');
  assert.ok(await page.locator('figure tbody tr').count() > 0);
  assert.match((await page.locator('table.keys tbody tr').allTextContents()).join(), /<img src=x onerror=alert\(1\)>/);
  assert.ok(await page.locator('.bars i').count() > 0, 'a histogram of latencies');
  assert.ok(await page.locator('.waits li').count() > 0, 'waits by cause');
  assert.deepEqual(page.asked.filter((u) => !u.startsWith('data:')), [pathToFileURL(file).href]);
  await shut(page);
});

test('7: its policy would stop what does not belong to it', async () => {
  const page = await openReport();
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
    return window.injected;
  });
  assert.equal(ran, undefined);
  assert.match(page.complaints.join(), /Content Security Policy/);
  await shut(page, /Content Security Policy/);
});

test('24: without scripts it has its table and its sentence', async () => {
  const page = await openReport({ javaScriptEnabled: false });
  assert.match(await page.locator('#summary').textContent(), /120 of 120 items/);
  assert.match((await page.locator('table.keys tbody tr').allTextContents()).join(), /<img src=x onerror=alert\(1\)>/);
  await shut(page);
});

test('15 and 18: from 320 to 2560 pixels, and axe finds nothing wrong', async () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [320, 1280, 2560]) {
      const page = await openReport({ colorScheme, width, bypassCSP: true });
      await page.locator('canvas').waitFor();
      await fits(page, `${width}`);
      await axeIsHappy(page, `${width} ${colorScheme}`);
      await shut(page);
    }
  }
});

test('14: a hostile name is text, with scripts and without', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await openReport({ javaScriptEnabled });
    await page.getByText(HOSTILE).first().waitFor();
    await page.locator('tbody td', { hasText: BREAKER }).first().waitFor();
    assert.equal(await page.locator('img').count(), 0);
    assert.equal(await page.locator('script').count(), 2, 'ours, and the figures');
    await shut(page);
  }
});

test('no secret is in it', () => {
  assert.ok(!readFileSync(file, 'utf8').includes(CANARY));
});

test('every shape stands for a state', async () => {
  const page = await openReport();
  await page.locator('canvas').waitFor();
  const bare = await page.evaluate(() => [...document.querySelectorAll('.shape')].filter((n) => !/\bstate-(ok|warning|critical|holding|idle)\b/.test(`${n.className} ${n.parentNode.className}`)).map((n) => n.outerHTML));
  assert.deepEqual(bare, []);
  await shut(page);
});
