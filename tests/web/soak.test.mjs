// SPDX-License-Identifier: MIT
// 3: hours of seconds cost nothing: the heap does not grow and the main thread rests. A minute by
// default, with bounds that hold on a busy machine; `make soak-web` is longer and strict, and with
// SOAK_SECONDS=3600 the hour of the check.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

const SECONDS = Number(process.env.SOAK_SECONDS || 60);
const PROVIDERS = Number(process.env.SOAK_PROVIDERS || 20);
const STRICT = Boolean(process.env.STRICT);
const HEAP_MB = 5;
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

const CHUNK_S = 60;

/*
 * The longest task of the page's main thread, in milliseconds: of the processor, and by the clock.
 * On a machine that others use as well only the first says something of the page.
 */
const longestTask = async (seconds) => {
  const session = await browser.newBrowserCDPSession();
  const longest = { processor: 0, clock: 0, tasks: 0 };
  for (let left = seconds; left > 0; left -= CHUNK_S) {
    const events = [];
    const hear = ({ value }) => events.push(...value);
    session.on('Tracing.dataCollected', hear);
    await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] } });
    await sleep(Math.min(left, CHUNK_S) * 1000);
    const isOver = new Promise((resolve) => { session.once('Tracing.tracingComplete', resolve); });
    await session.send('Tracing.end');
    await isOver;
    session.off('Tracing.dataCollected', hear);
    const mains = new Set(events.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map((e) => `${e.pid}/${e.tid}`));
    events.filter((e) => e.ph === 'X' && mains.has(`${e.pid}/${e.tid}`)).forEach((e) => {
      longest.tasks += 1;
      longest.processor = Math.max(longest.processor, (e.tdur || 0) / 1000);
      longest.clock = Math.max(longest.clock, e.dur / 1000);
    });
  }
  return longest;
};

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
  await sleep(Math.min(15000, SECONDS * 250)); /* rings and rows have their size */
  const first = await measure();
  const began = Date.now();
  const longest = await longestTask(SECONDS);
  const last = await measure();
  const grown = (last.JSHeapUsedSize - first.JSHeapUsedSize) / 1e6;
  const busy = (last.TaskDuration - first.TaskDuration) / ((Date.now() - began) / 1000);
  console.log(`heap ${grown.toFixed(2)} MB, main thread ${(busy * 100).toFixed(1)} % of a processor, `
    + `longest of ${longest.tasks} tasks ${longest.processor.toFixed(0)} ms (by the clock ${longest.clock.toFixed(0)} ms)`);
  assert.ok(longest.tasks > 0);
  assert.ok(grown < HEAP_MB, `the heap grew by ${grown} MB`);
  assert.ok(busy < BUSY, `the main thread was busy for ${busy}`);
  assert.ok(longest.processor <= 50, `a task of ${longest.processor} ms`);
  await shut(page);
});
