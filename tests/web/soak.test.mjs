// SPDX-License-Identifier: MIT
// 3: hours of seconds cost nothing: the heap does not grow and the main thread rests. A minute by
// default, with bounds that hold on a busy machine; `make soak-web` is longer and strict.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, sleep, until } from './daemon.mjs';

const SECONDS = Number(process.env.SOAK_SECONDS || 60);
const PROVIDERS = Number(process.env.SOAK_PROVIDERS || 20);
const STRICT = Boolean(process.env.STRICT);
const HEAP_MB = 5;
let place;
let browser;

before(async () => {
  place = new Place();
  const batches = [];
  for (let i = 1; i <= PROVIDERS; i++) {
    const limit = i % 5 ? 'rate=10/s' : 'window=300/1m';
    const address = await place.mock(`127.0.1.${i}`, '--limit', limit, '--dialect', i % 2 ? 'github' : 'retry-after');
    batches.push(`  b${i}: {list: ${place.list(`b${i}`, address, 20000)}}\n`);
  }
  await place.configure(`batches:\n${batches.join('')}`);
  await place.serve();
  await until('all providers are known', async () => (await place.status()).keys.length >= PROVIDERS);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const watchTasks = (page) => page.evaluate(() => {
  window.longest = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((e) => { window.longest = Math.max(window.longest, e.duration); }))
    .observe({ type: 'longtask' });
});

test(`3: ${SECONDS} s with ${PROVIDERS} providers`, async () => {
  const page = await open(browser, place.url);
  const session = await page.context().newCDPSession(page);
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map((m) => [m.name, m.value]));
  };
  await isLive(page);
  await session.send('Performance.enable');
  await sleep(Math.min(15000, SECONDS * 250)); /* rings and rows have their size */
  const first = await measure();
  await watchTasks(page);
  await sleep(SECONDS * 1000);
  const longest = await page.evaluate(() => window.longest);
  const last = await measure();
  const grown = (last.JSHeapUsedSize - first.JSHeapUsedSize) / 1e6;
  const busy = (last.TaskDuration - first.TaskDuration) / (last.Timestamp - first.Timestamp);
  console.log(`heap ${grown.toFixed(2)} MB, main thread ${(busy * 100).toFixed(1)} %, longest task ${longest} ms`);
  assert.ok(grown < HEAP_MB, `the heap grew by ${grown} MB`);
  assert.ok(busy < (STRICT ? 0.05 : 0.5), `the main thread was busy for ${busy}`);
  if (STRICT) assert.ok(longest <= 50, `a task of ${longest} ms`);
  assert.deepEqual(page.complaints, []);
});
