// SPDX-License-Identifier: MIT
// What a chart shows of its figures, and how long a while is called: functions alone, no browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';

/* The scripts of the page are one scope; here with a document that makes nothing. */
const load = (names, ...more) => {
  const node = () => ({ setAttribute() {}, append() {}, addEventListener() {} });
  const text = ['words', 'morph', 'model', 'parts', 'chart', ...more].map((name) => readFileSync(new URL(`../../web/js/${name}.js`, import.meta.url), 'utf8'));
  class IntersectionObserver {}
  return vm.runInNewContext(`${text.join('\n')};({${names}})`, { document: { createElement: node }, location: { origin: '' }, URLSearchParams, IntersectionObserver });
};

const page = load(['seriesOf', 'span', 'took', 'moment', 'windowOf', 'heightOf', 'peaksOf', 'holesOf', 'dataOf', 'timesOf']);

/* Of so many seconds that end now; `at` says what differs. */
const seriesOf = (seconds, at = {}) => {
  const t = Array.from({ length: seconds }, (_, i) => 1000 + i);
  const column = (value) => t.map(() => value);
  const s = { t, sent: column(10), limit: column(12), confidence: column(1), throttled: column(0) };
  Object.entries(at).forEach(([name, cells]) => Object.entries(cells).forEach(([i, value]) => { s[name][i] = value; }));
  return s;
};

test('a while is said in one way: two units at most, and no parts of a second', () => {
  const said = [0, 0.03, 0.49, 0.5, 1, 59.4, 60, 61, 90, 3599, 3600, 3660, 86400, 90000, -5].map((s) => page.span(s));
  assert.deepEqual(said, ['< 1 s', '< 1 s', '< 1 s', '1 s', '1 s', '59 s', '1 min', '1 min 1 s', '1 min 30 s', '59 min 59 s', '1 h', '1 h 1 min', '1 d', '1 d 1 h', '5 s']);
  assert.equal(page.span(3725, 1), '1 h');
});

test('what an answer took is said to the millisecond', () => {
  assert.deepEqual([0.0042, 0.092, 0.31, 1.2, 9.94, 75].map((s) => page.took(s)), ['4.2 ms', '92 ms', '310 ms', '1.2 s', '9.9 s', '1 min 15 s']);
});

test('a chart begins with its first sample, and is half a minute long at least', () => {
  const at = (chart) => { const [low, high] = page.windowOf({ range: '15m', ...chart }, 1000, 1099); return high - low; };
  assert.equal(at({ series: seriesOf(100) }), 99);
  assert.equal(at({ series: seriesOf(100, { sent: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i, null])) }) }), 59, 'what is not known is left out');
  assert.equal(at({ series: seriesOf(100, { sent: Object.fromEntries(Array.from({ length: 95 }, (_, i) => [i, null])) }) }), 30);
  assert.equal(page.windowOf({ range: '15m', series: seriesOf(2000) }, 1000, 2999)[0], 2999 - 900, 'and no longer than its range');
});

test('the search at the start does not set the scale', () => {
  const search = seriesOf(60, { limit: { 3: 64, 4: 900 } });
  assert.equal(page.heightOf({ series: search }, 1100), 18, 'one and a half times the limit of now');
  assert.ok(Math.abs(page.heightOf({ series: seriesOf(60) }, 12) - 13.8) < 1e-9, 'all of it where it is near');
  assert.equal(page.heightOf({ series: null }, 0), 1);
});

test('the last moment of a run is no sample of its own', () => {
  const key = { provider: 'a', pool: 'default' };
  const run = (last_s) => page.seriesOf({ ends_s: [1, 2, 3, 3 + last_s], spans_s: [1, 1, 1, last_s], series: [{ ...key, sent: [10, 20, 30, 1], limit: [null, 5, 6, 7], throttled: [0, 0, 1, 1] }] }, key);
  const short = JSON.parse(JSON.stringify(run(0.1)));
  assert.deepEqual([short.t, short.limit, short.throttled], [[1, 2, 3.1], [null, 5, 7], [0, 0, 2]]);
  assert.ok(Math.abs(short.sent[2] - 31 / 1.1) < 1e-9, `${short.sent}`);
  assert.deepEqual([...run(0.5).sent], [10, 20, 30, 2]);
});

test('a burst does not set the scale either, and how high it went is said', () => {
  const burst = seriesOf(60, { sent: { 0: 51, 1: 40, 30: 60 } });
  const top = page.heightOf({ series: seriesOf(600, { sent: { 0: 51, 1: 40, 30: 60 } }) }, 60);
  assert.equal(top, 18);
  assert.deepEqual(JSON.parse(JSON.stringify(page.peaksOf(burst, top))), [[1000, 51], [1030, 60]], 'once, where it was highest');
  assert.equal(page.heightOf({ series: seriesOf(20, { sent: { 0: 51 } }) }, 51), 51 * 1.15, 'of a few seconds none is a burst');
  assert.deepEqual([...page.peaksOf(seriesOf(60), 18)], []);
});

test('an instant of another day has its date', () => {
  const now = new Date(2030, 4, 6, 12, 0, 0);
  const said = [new Date(2030, 4, 6, 3, 0, 9), new Date(2030, 4, 7, 3, 0, 9), new Date(2029, 11, 31, 23, 59, 0)].map((date) => page.moment(date, now));
  assert.deepEqual(said, ['03:00:09', '7 May 03:00:09', '31 Dec 2029 23:59:00']);
});

test('changes of the grade and recoveries have marks on the axis of time', () => {
  const { marksOf } = load(['marksOf'], 'freshness');
  const fresh = { t: [1, 2, 3, 4, 5], grade: ['healthy', 'healthy', 'degraded', null, 'healthy'], recoveries: [0, 0, 0, 1, 0] };
  assert.deepEqual(JSON.parse(JSON.stringify(marksOf(fresh))), [[3, 'degraded', '--warning'], [4, 'recovery', '--holding']]);
});

test('ages have a gap where nobody measured, and none where nothing is live', () => {
  const { ticksOf, freshData } = load(['ticksOf', 'freshData'], 'freshness');
  const fresh = { t: [1, 2, 3, 4, 5, 6, 7, 8, 9], grade: ['h', 'h', 'h', null, null, null, null, 'h', 'h'], p50: [1, null, 1, null, null, null, null, 2, 2], p95: [2, null, 2, null, null, null, null, 3, 3] };
  const { t, sent } = ticksOf(fresh);
  assert.deepEqual(JSON.parse(JSON.stringify(page.holesOf(sent).map((hole) => hole.map((i) => t[i])))), [[4, 7]]);
  const [, p50] = freshData(fresh, { aim_live_s: 10, degraded_s: 60 });
  assert.deepEqual([...p50].slice(0, 5), [1, undefined, 1, null, null]);
});

test('a second or three without a sample are drawn over, more is a gap', () => {
  const short = seriesOf(30, { sent: { 5: null, 6: null } });
  assert.deepEqual([...page.dataOf(short)[1].slice(4, 8)], [10, undefined, undefined, 10]);
  const long = seriesOf(30, { sent: { 5: null, 6: null, 7: null, 8: null }, limit: { 5: null } });
  assert.deepEqual([...page.dataOf(long)[1].slice(4, 10)], [10, null, null, null, null, 10]);
  assert.equal(page.dataOf(long)[2][5], undefined, 'each line by itself');
  assert.deepEqual(JSON.parse(JSON.stringify(page.holesOf(long.sent))), [[5, 8]]);
  assert.deepEqual([...page.holesOf([null, null, 1, 2, null])], [], 'neither before the first nor after the last');
});

test('no label of time stands at the edge, where that of the other axis is', () => {
  const u = { scales: { x: { min: 0, max: 600 } }, width: 668 };
  const labels = page.timesOf(u, [0, 20, 60, 300, 590]);
  assert.deepEqual(labels.map((text) => text !== ''), [false, false, true, true, false]);
});
