// SPDX-License-Identifier: MIT
// How soon things are seen. Bounds are those of a busy machine; `make soak-web` has the real ones.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, until } from './daemon.mjs';

const STRICT = Boolean(process.env.STRICT);
let place;
let browser;
let origin;
let refusedAt = 0;
let mayRefuse = false;

before(async () => {
  place = new Place();
  origin = createServer((request, answer) => {
    if (mayRefuse && !refusedAt) refusedAt = Date.now();
    if (mayRefuse) answer.writeHead(429, { 'Retry-After': '60' });
    answer.end('ok');
  }).listen(0, '127.0.0.7');
  await until('the origin listens', () => origin.address());
  await place.configure(`batches:\n  one: {list: ${place.list('one', `127.0.0.7:${origin.address().port}`, 20000)}}\n`);
  await place.serve();
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  origin.closeAllConnections();
  origin.close();
  place.close();
});

test('2: the table has its values soon, on a machine four times as slow', async () => {
  const page = await open(browser, 'about:blank');
  const session = await page.context().newCDPSession(page);
  await until('the provider is known', async () => (await place.status()).keys.length > 0);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  await page.goto(place.url, { waitUntil: 'commit' });
  await page.locator('table.keys tbody tr').first().waitFor();
  const painted = await until('it is painted', () => page.evaluate(() => (performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime));
  console.log(`first useful paint after ${painted.toFixed(0)} ms`);
  assert.ok(painted < (STRICT ? 1000 : 20000), `${painted} ms`);
  await shut(page);
});

test('a provider that refuses is seen to do so', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.evaluate(() => {
    new MutationObserver(() => {
      const row = document.querySelector('table.keys tbody tr');
      if (row && !window.seenAt && /holding/.test(row.textContent)) window.seenAt = Date.now();
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  mayRefuse = true;
  const seenAt = await until('it is seen', () => page.evaluate(() => window.seenAt));
  console.log(`seen ${seenAt - refusedAt} ms after the first 429`);
  assert.ok(seenAt - refusedAt <= (STRICT ? 2000 : 30000), `${seenAt - refusedAt} ms`);
  await page.locator('.verdict.state-holding', { hasText: 'Next start in' }).waitFor();
  await shut(page);
});
