// SPDX-License-Identifier: MIT
// Figures that answer the question: which limit binds, what is left of that one, why, until when.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

let place;
let browser;
let held; /* asks to wait for long */
let told; /* tells a quota that is smaller than the pace it accepts */
let busy;

before(async () => {
  place = new Place();
  /* It tells of a large quota, and a small window is stated. */
  const windowed = await place.mock('127.0.0.2', '--limit', 'window=100000/1m', '--dialect', 'github');
  held = await place.mock('127.0.0.3', '--limit', 'fixed=3/5m', '--dialect', 'retry-after');
  told = await place.mock('127.0.0.4', '--limit', 'fixed=300/1m', '--dialect', 'github');
  busy = await place.mock('127.0.0.5', '--limit', 'rate=20/s burst=5', '--dialect', 'retry-after');
  await place.configure('providers:\n  windowed: {hosts: ["127.0.0.2"], limit: "window=40/5m margin=0%"}\n'
    + `batches:\n  windowed: {list: ${place.list('windowed', windowed, 500)}}\n  held: {list: ${place.list('held', held, 500)}}\n`
    + `  told: {list: ${place.list('told', told, 20000)}}\n  busy: {list: ${place.list('busy', busy, 20000)}}\n`);
  await place.serve();
  await until('two of them wait', async () => (await place.status()).keys.filter((k) => k.state === 'holding' && k.next_start_in_s > 20).length >= 2);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const keyOf = async (provider) => (await place.status()).keys.find((k) => k.provider === provider);
const row = (page, name) => page.locator('table.keys tbody tr', { hasText: name });

test('a window is a limit, and what is left is that of the window that is full', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const words = await row(page, 'windowed').textContent();
  assert.match(words, /\/ 0\.13 \/swindow/); /* 40 in 5 minutes */
  assert.match(words, /0 of 40\/5 min/);
  assert.match(words, /one more in \d/);
  assert.equal(await row(page, 'windowed').locator('td.why').textContent(), 'window');
  const key = await keyOf('windowed');
  assert.ok(key.quota.remaining > 90000 && key.window.remaining === 0 && key.window.reset_in_s > 0, JSON.stringify(key));
  await row(page, 'windowed').locator('a').click();
  await page.locator('.left-row').nth(1).waitFor();
  assert.match((await page.locator('.left-row').allTextContents()).join(), /quota.*of 100,000.*window0 of 40/);
  assert.match(await page.locator('.verdict').textContent(), /a window is full, 40 in 5 min\. 0\.133\/s by the window that is stated\./);
  const { series: [{ limit }] } = await (await fetch(`${place.url}history?step=1&samples=5&provider=windowed`)).json();
  assert.ok(Math.abs(limit.at(-1) - 40 / 300) < 0.001, `${limit}`);
  await shut(page);
});

test('a hold says what the server said, and nothing of a pace', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  assert.equal(await row(page, held).locator('td.why').textContent(), 'Retry-After');
  await row(page, held).locator('a').click();
  const why = page.locator('main .verdict');
  await why.waitFor();
  assert.match(await why.textContent(), /^‖Next start in .*: Retry-After \d+ \(429 at \d\d:\d\d:\d\d\)\.$/);
  assert.match(await page.locator('main .facts').textContent(), /refused \(429\)[1-9]\d* in 1 h, [1-9]\d* of \d+ requests since the start/);
  assert.match(await page.locator('main .facts').textContent(), /last refusal.*\(429, Retry-After \d+\)/);
  await shut(page);
});

test('a quota that is told binds where less is left than the pace would take', async () => {
  const key = await until('a quota binds', async () => { const k = await keyOf(told); return k.quota && k.limit_by === 'quota' && k; });
  const most = Math.max(1, key.quota.remaining) / key.quota.reset_in_s;
  assert.ok(key.limit_per_s <= most * 1.2 + 0.1, JSON.stringify(key));
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(told)}?pool=default`);
  await isLive(page);
  await until('it says so', async () => /by what is left of the quota/.test(await page.locator('main .facts').textContent()));
  assert.match(await page.locator('main .facts').textContent(), /told byx-ratelimit-remaining/);
  await shut(page);
});

test('the last minute is there when the page is opened', async () => {
  await until('there is a minute to show', async () => {
    const { series } = await (await fetch(`${place.url}history?step=1&samples=60&figure=sent&provider=${busy}`)).json();
    return series[0].sent.filter((v) => v > 0).length >= 15;
  });
  const page = await open(browser, place.url);
  const points = async () => ((await row(page, busy).locator('.spark-line').getAttribute('points')) || '').split(' ').length / 2;
  await until('its line has more seconds than the page', async () => (await points()) >= 15, 5000);
  await shut(page);
});

test('pictures out of sight rest, and are drawn when they come into it; words go on', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const line = row(page, busy).locator('.spark-line');
  const points = () => line.getAttribute('points');
  const plot = () => page.locator('.plot canvas').evaluate((c) => c.toDataURL());
  const words = () => page.locator('main figcaption').first().textContent();
  await page.evaluate(() => { document.querySelector('main').style.paddingTop = '5000px'; });
  await sleep(1500);
  const before = [await points(), await plot(), await words()];
  await until('the words change', async () => (await words()) !== before[2]);
  await sleep(1500);
  assert.deepEqual([await points(), await plot()], before.slice(0, 2));
  await line.evaluate((node) => node.closest('tr').scrollIntoView());
  await until('the line is drawn', async () => (await points()) !== before[0], 3000);
  await page.locator('.plot canvas').scrollIntoViewIfNeeded();
  await until('the chart is drawn', async () => (await plot()) !== before[1], 3000);
  await shut(page);
});

test('events: what began is a sentence, what repeats is one line, and no pace that wavers', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  const list = page.locator('ol.events');
  await list.locator('li', { hasText: 'batch held began' }).waitFor();
  await page.evaluate(() => {
    const other = new BroadcastChannel('flyball'); /* as another tab would tell it */
    for (let i = 0; i < 12; i++) other.postMessage({ kind: 'news', data: { kind: 'answer', provider: 'again', pool: 'default', status: 429, time: new Date().toISOString() } });
  });
  await list.locator('li', { hasText: 'again refused 12 requests (429)' }).waitFor();
  assert.equal(await list.locator('li', { hasText: 'again refused' }).count(), 1);
  await page.evaluate(() => {
    const other = new BroadcastChannel('flyball');
    const at = (s) => new Date(Date.UTC(2030, 0, 1, 12, 0, s)).toISOString();
    const tell = (s, cause) => other.postMessage({ kind: 'news', data: { kind: 'wait', provider: 'slow', pool: 'default', cause, time: at(s), until: at(s + 30) } });
    tell(0, 'bucket'); tell(31, 'bucket'); tell(62, 'bucket'); /* one that goes on */
    tell(200, 'bucket'); tell(201, 'window'); /* another, and one for something else */
    tell(202, 'window'); tell(205, 'window'); /* that begins again while it lasts */
  });
  await list.locator('li', { hasText: 'slow waits for a window' }).waitFor();
  const waits = await list.locator('li', { hasText: 'slow waits' }).allTextContents();
  assert.deepEqual(waits.map((t) => t.match(/for (.+) until .*\d+:\d+:(\d+)/).slice(1).join(' ')), ['a window that is full 55', 'its rate 50', 'its rate 32']);
  const rates = (await list.locator('li').allTextContents()).filter((t) => /\/s$/.test(t));
  assert.ok(rates.length <= 6, `${rates}`);
  await shut(page);
});

test('a provider: waits, what was put off, and when what was learned has changed', async () => {
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(busy)}?pool=default`);
  await isLive(page);
  const text = () => page.locator('main').textContent();
  await until('waits have shares', async () => /Waits by cause.*p50.*p95.*that waited/s.test(await text()));
  assert.match(await text(), /0 deferred0 refused/);
  await until('its limit was learned', async () => (await keyOf(busy)).limit_by === 'learned', 120000);
  await until('and when', async () => /learned[\d.]+\/s, confidence [\d.]+, changed \d+ m?s ago/.test(await text()));
  await shut(page);
});
