// SPDX-License-Identifier: MIT
// Who is to blame for a long task: the page, or the machine that stood still. Without a browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, pacedLike, usualOf } from './stalls.mjs';

const tasks = (...lengths) => lengths.map((ms) => ({ ms, clock_ms: ms }));
const many = (n, ms) => Array(n).fill(ms);
const page = (...long) => tasks(...many(500, 0.1), ...many(100, 10), ...long);
const control = (...long) => tasks(...many(100, 10), ...long);

test('the usual length is that of the tasks in which the time goes', () => {
  assert.equal(usualOf(page()), 10);
  assert.equal(usualOf(page(300)), 10);
  assert.equal(usualOf(page(3000)), 10);
  assert.equal(usualOf(tasks(...many(9, 70))), 70);
  assert.equal(usualOf([]), 0);
});

test('no task is long: nobody is to blame, whatever became of the control', () => {
  const found = judge(page(49), control(400));
  assert.deepEqual([found.page.overruns, found.control.overruns, found.isToBlame], [0, 1, false]);
  assert.equal(found.verdict, 'no task was long');
});

test('long tasks are the machine only where the control was held up as often', () => {
  assert.match(judge(page(170), control(60)).verdict, /machine/);
  assert.ok(judge(page(170), control()).isToBlame);
  assert.ok(judge(page(170), control(49)).isToBlame);
  assert.ok(judge(page(60, 60), control(200)).isToBlame);
  assert.ok(!judge(page(60, 60), control(51, 51)).isToBlame);
});

test('a control that works more has to be held up more', () => {
  assert.ok(judge(page(60), tasks(...many(300, 10), 60)).isToBlame);
  assert.ok(!judge(page(60), tasks(...many(300, 10), 60, 60, 60)).isToBlame);
});

test('a long task does not make up for others by the time that it took', () => {
  assert.ok(judge(page(3000, 60, 60), control(200)).isToBlame);
  assert.ok(!judge(page(3000, 60, 60), control(200, 200, 200)).isToBlame);
  assert.ok(!judge(page(60), control(3000)).isToBlame);
});

test('the control is paced like the page, and stays as it was where one of them did nothing', () => {
  assert.deepEqual(pacedLike(tasks(...many(10, 20)), tasks(...many(5, 10)), 2, [1000, 100]), [2000, 200]);
  assert.deepEqual(pacedLike([], tasks(10), 2, [1000, 100]), [1000, 100]);
  assert.deepEqual(pacedLike(tasks(20), [], 2, [1000, 100]), [1000, 2000]);
  assert.deepEqual(pacedLike(tasks(0, 0), tasks(10), 2, [1000, 100]), [1000, 100]);
});

test('a control of other pieces is held up when it is late by as much', () => {
  assert.equal(judge(page(60), tasks(...many(1000, 1), 40)).control.overruns, 0);
  assert.equal(judge(page(60), tasks(...many(1000, 1), 42)).control.overruns, 1);
});

test('a page whose tasks are all long cannot hide behind a control with pieces as long', () => {
  assert.ok(judge(tasks(...many(60, 70)), tasks(...many(60, 70))).isToBlame);
});

test('a few are spared where they are, and no more', () => {
  assert.ok(!judge(page(60, 60), control(), 2).isToBlame);
  assert.ok(judge(page(60, 60, 60), control(), 2).isToBlame);
});
