// SPDX-License-Identifier: MIT
// 1: what a cold load costs where there is much to show: 50 providers, and all that the page asks
// for until its chart is drawn. The stream that follows is not part of the load.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

const PROVIDERS = 50;
const MOST = 60 * 1024;
let place;
let browser;

before(async () => {
  place = new Place();
  const address = await place.mock('127.0.0.2', '--limit', 'window=100000/1m', '--dialect', 'github');
  const lines = [];
  for (let i = 0; i < PROVIDERS * 4; i++) lines.push(`{"url":"http://${address}/item/${i}","pool":"provider-${i % PROVIDERS}"}\n`);
  const list = join(place.folder, 'all.jsonl');
  writeFileSync(list, lines.join(''));
  await place.configure(`batches:\n  all: {list: ${list}}\n`);
  await place.serve();
  await until('all is fetched', async () => (await place.status()).batches[0].items.ended === PROVIDERS * 4);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

/* A cold load: bytes on the wire by URL, until nothing more comes but the stream. */
const load = async (page, url) => {
  const session = await page.context().newCDPSession(page);
  const urls = new Map();
  const bytes = new Map();
  await session.send('Network.enable');
  session.on('Network.requestWillBeSent', (e) => urls.set(e.requestId, e.request.url));
  session.on('Network.loadingFinished', (e) => { /* its head as well; of the page itself no other event tells */
    const of = urls.get(e.requestId);
    if (!/^data:|\/events\b/.test(of)) bytes.set(of, (bytes.get(of) || 0) + e.encodedDataLength);
  });
  await page.goto(url);
  await isLive(page);
  await page.waitForSelector('figure canvas');
  await sleep(1500);
  return bytes;
};

test('1: 50 providers are loaded with at most 60 KB, the figures of the chart among them', async (t) => {
  assert.equal((await place.status()).keys.length, PROVIDERS);
  const page = await open(browser, 'about:blank');
  const bytes = await load(page, place.url);
  const all = [...bytes.values()].reduce((a, b) => a + b, 0);
  assert.equal(await page.locator('table.keys tbody tr').count(), PROVIDERS);
  assert.ok([...bytes.keys()].some((u) => u.includes('/history')), `${[...bytes.keys()]}`);
  t.diagnostic(`${all} bytes`);
  assert.ok(all <= MOST, `${all} bytes: ${JSON.stringify([...bytes])}`);
  assert.ok(bytes.get(place.url) > 1000, `the page itself is counted: ${JSON.stringify([...bytes])}`);
  await shut(page);
});

test('1: whoever does not take gzip gets the page as it is', async () => {
  const plain = await fetch(place.url, { headers: { 'Accept-Encoding': 'identity' } });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.match(await plain.text(), /provider-49/);
  const packed = await fetch(place.url, { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.match(packed.headers.get('vary'), /Accept-Encoding/);
  assert.match(await packed.text(), /provider-49/);
});
