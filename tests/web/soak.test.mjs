// SPDX-License-Identifier: MIT
// 3: hours of seconds cost nothing: the heap does not grow and the main thread rests. A minute by
// default, with bounds that hold on a busy machine; `make soak-web` is longer and strict, and with
// SOAK_SECONDS=3600 the hour of the check.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, sleep, until } from './daemon.mjs';
import { inWords, judge, openControl, pairUp, stolen, tasksOf } from './stalls.mjs';

const SECONDS = Number(process.env.SOAK_SECONDS || 60);
const PROVIDERS = Number(process.env.SOAK_PROVIDERS || 20);
const STRICT = Boolean(process.env.STRICT);
const WARM_S = Math.min(15, SECONDS / 4);
const HEAP_MB = 5;
const SPARE = STRICT ? 0 : 5; /* a minute is too short to compare what is rare */
const BUSY = STRICT ? 0.05 * Math.max(1, PROVIDERS / 20) : 0.5; /* 5 % with the 20 of the check */
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

test(`3: ${SECONDS} s with ${PROVIDERS} providers`, async () => {
  const page = await open(browser, place.url);
  const session = await page.context().newCDPSession(page);
  const measure = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map((m) => [m.name, m.value]));
  };
  await isLive(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' }); /* of the processor */
  const control = await openControl(browser);
  await sleep(WARM_S * 300);
  await pairUp(browser, page, control, WARM_S); /* meanwhile rings and rows get their size */
  const first = await measure();
  const before = stolen();
  const began = Date.now();
  const tasks = await tasksOf(browser, [page, control], SECONDS);
  const after = stolen();
  const last = await measure();
  const grown = (last.JSHeapUsedSize - first.JSHeapUsedSize) / 1e6;
  const busy = (last.TaskDuration - first.TaskDuration) / ((Date.now() - began) / 1000);
  const found = judge(...tasks, SPARE);
  console.log(`heap ${grown.toFixed(2)} MB, main thread ${(busy * 100).toFixed(1)} % of a processor; stolen from the machine `
    + `${(((after.steal - before.steal) / (after.all - before.all)) * 100).toFixed(1)} %`);
  console.log(`${inWords('page', found.page, SECONDS)}\n${inWords('control', found.control, SECONDS)}\n${found.verdict}`);
  assert.ok(found.page.busy_s > 0 && found.control.busy_s > 0, 'both have worked');
  assert.ok(grown < HEAP_MB, `the heap grew by ${grown} MB`);
  assert.ok(busy < BUSY, `the main thread was busy for ${busy}`);
  assert.ok(!found.isToBlame, found.verdict);
  await control.context().close();
  await shut(page);
});
