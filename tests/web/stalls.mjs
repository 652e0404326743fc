// SPDX-License-Identifier: MIT
// stalls.mjs - what the machine does to any task: a control beside the page that is measured.
//
// A task that took long on a virtual machine may be the page's own, or the machine stood still in it.
// So a second renderer of the same browser does a constant piece of work, as long and as often as the
// page works. Its pieces cannot be long by themselves: one that is tells of the machine.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LONG_MS = 50;
const STALL_MS = 25; /* at least, whatever is usual for the page */
const CHUNK_S = 60; /* of a trace that is held in memory */
const TASK = 'ThreadControllerImpl::RunTask';

const sum = (values) => values.reduce((a, b) => a + b, 0);

/*
 * Every task of the main threads of these pages, as [{ ms, clock_ms }] for each page: `ms` is time of
 * the processor, as the thread's own clock has it. A mark tells which thread is whose.
 */
export const tasksOf = async (browser, pages, seconds) => {
  const session = await browser.newBrowserCDPSession();
  const tasks = pages.map(() => []);
  for (let left = seconds; left > 0; left -= CHUNK_S) {
    const events = [];
    const hear = ({ value }) => value.forEach((e) => events.push(e));
    session.on('Tracing.dataCollected', hear);
    await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'blink.user_timing'], excludedCategories: ['*'] } });
    await Promise.all(pages.map((page, i) => page.evaluate((name) => { performance.mark(name); performance.clearMarks(name); }, `soak-${i}`)));
    await sleep(Math.min(left, CHUNK_S) * 1000);
    const isOver = new Promise((resolve) => { session.once('Tracing.tracingComplete', resolve); });
    await session.send('Tracing.end');
    await isOver;
    session.off('Tracing.dataCollected', hear);
    const marks = pages.map((_, i) => events.find((e) => e.name === `soak-${i}`));
    assert.equal(new Set(marks.map((mark) => mark.pid)).size, pages.length, 'each has a process of its own');
    marks.forEach((mark, i) => {
      events.filter((e) => e.name === TASK && e.ph === 'X' && e.pid === mark.pid && e.tid === mark.tid)
        .forEach((e) => tasks[i].push({ ms: (e.tdur || 0) / 1000, clock_ms: e.dur / 1000 }));
    });
  }
  await session.detach();
  return tasks;
};

/*
 * How long the task is in which a stall finds the thread: half of its time went into longer ones. One
 * that is long counts no more than it may take, or a single stall of seconds would be what is usual.
 */
export const usualOf = (tasks) => {
  const lengths = tasks.map((t) => t.ms).sort((a, b) => a - b);
  const worth = (ms) => Math.min(ms, LONG_MS);
  let left = sum(lengths.map(worth)) / 2;
  return lengths.find((ms) => { left -= worth(ms); return left <= 0; }) || 0;
};

/* A page of nothing with a piece of work that is always the same; `pace` says how much of it, how often. */
export const openControl = async (browser) => {
  const page = await (await browser.newContext()).newPage();
  await page.evaluate(() => {
    const words = new Int32Array(4096);
    const work = (rounds) => {
      for (let i = 0; i < rounds; i++) words[i & 4095] = Math.imul(words[Math.imul(i, 40503) & 4095], 1664525) + i;
    };
    let timer = 0;
    window.pace = (rounds, every_ms) => {
      clearInterval(timer);
      timer = setInterval(() => work(rounds), every_ms);
    };
  });
  return page;
};

/*
 * How much the control has to do and how often, after `seconds` of both with [rounds, every_ms]. Who
 * did nothing meanwhile cannot be compared with: then it stays as it was.
 */
export const pacedLike = (its, others, seconds, [rounds, every_ms]) => {
  const [usual, present, busy_ms] = [usualOf(its), usualOf(others), sum(its.map((t) => t.ms))];
  return [usual > 0 && present > 0 ? rounds * (usual / present) : rounds, busy_ms > 0 ? (usual * seconds * 1000) / busy_ms : every_ms];
};

/*
 * So many seconds of both tell how long and how often the control has to work to be as busy as the
 * page. In two steps: the first begins with a guess, and with code that is not compiled yet.
 */
export const pairUp = async (browser, page, control, seconds) => {
  let pace = [1e6, 100];
  const keep = () => control.evaluate((to) => window.pace(...to), pace);
  for (const step_s of [seconds * 0.4, seconds * 0.6]) {
    await keep();
    const [its, others] = await tasksOf(browser, [page, control], step_s);
    pace = pacedLike(its, others, step_s, pace);
  }
  await keep();
};

/*
 * What is said of them: `long_ms` is more than any of them should take. A long one counts as work like
 * a usual one: what it took beyond that is what is judged, and must not excuse itself.
 */
const summaryOf = (tasks, long_ms) => {
  const usual = usualOf(tasks);
  const over = (name) => ({ longest: tasks.reduce((most, t) => Math.max(most, t[name]), 0), overruns: tasks.filter((t) => t[name] > long_ms).length });
  return { ...over('ms'), byClock: over('clock_ms'), usual, busy_s: sum(tasks.map((t) => t.ms)) / 1000, work_s: sum(tasks.map((t) => (t.ms > long_ms ? usual : t.ms))) / 1000, tasks: tasks.length, long_ms };
};

/*
 * How often tasks of the page were long, how often pieces of the control were longer than usual by as
 * much, and whether the page is to blame. It is not if it has none, or if the control had as many in
 * as much time of work. `spare` are allowed.
 */
export const judge = (page, control, spare = 0) => {
  const its = summaryOf(page, LONG_MS);
  const others = summaryOf(control, usualOf(control) + Math.max(LONG_MS - its.usual, STALL_MS));
  const asked = Math.max(1, Math.round(its.overruns * (its.work_s > 0 ? others.work_s / its.work_s : 1)));
  const verdict = its.overruns === 0 ? 'no task was long'
    : others.overruns >= asked ? 'tasks were long, but the control was held up as often: the machine stood still'
      : its.overruns <= spare ? `tasks were long, and the control was not held up as often; up to ${spare} are allowed here`
        : 'tasks were long, and the control was not held up as often: the page is to blame';
  return { page: its, control: others, verdict, isToBlame: verdict.endsWith('to blame') };
};

export const inWords = (name, of, seconds) => `${name}: ${of.overruns} of ${of.tasks} tasks over ${of.long_ms.toFixed(0)} ms, the longest ${of.longest.toFixed(0)} ms`
  + ` (by the clock ${of.byClock.overruns}, ${of.byClock.longest.toFixed(0)} ms); usual are ${of.usual.toFixed(1)} ms, busy for ${((of.busy_s / seconds) * 100).toFixed(1)} %`;

/* What the hypervisor gave to others and what there was of all processors, in ticks since the start. */
export const stolen = () => {
  const ticks = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1, 9).map(Number);
  return { steal: ticks[7], all: sum(ticks) };
};
