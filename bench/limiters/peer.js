// SPDX-License-Identifier: MIT
// limiter from npm for `make bench-peers`: the same lines as ours.c. It has one thread.
import readline from 'node:readline';
import { RateLimiter } from 'limiter';

const KEYS = 1000000;
const make = () => new RateLimiter({ tokensPerInterval: 1e9, interval: 'second' });
const one = make();
const table = new Map();
let names = null;

function takeKey(name) {
  let found = table.get(name);
  if (!found) table.set(name, (found = make()));
  found.tryRemoveTokens(1);
}

function takeKeys(times) {
  let chance = 2463534242;
  for (let i = 0; i < times; i++) {
    chance ^= chance << 13;
    chance ^= chance >>> 17;
    chance ^= chance << 5;
    takeKey(names[(chance >>> 0) % KEYS]);
  }
}

function takeOne(times) {
  for (let i = 0; i < times; i++) one.tryRemoveTokens(1);
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [name, times] = line.split(' ');
  if (name === 'keys' && !names) {
    names = Array.from({ length: KEYS }, (_, i) => `token-${String(i).padStart(7, '0')}`);
    names.forEach(takeKey);
  }
  const begin = process.hrtime.bigint();
  (name === 'keys' ? takeKeys : takeOne)(Number(times));
  console.log((Number(process.hrtime.bigint() - begin) / Number(times)).toFixed(3));
}
