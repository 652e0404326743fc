// SPDX-License-Identifier: MIT
// embed.js - what examples/embed.c does, in Node: the same calls, the same answers.
//
//     npm ci && node embed.js [LIMIT]
import { Limiter, NEVER, SECOND } from './flyball.js';

// The fake API: 20 requests a second, 30 at once after a pause. The clock is virtual.
const api = {
  clock: 0n,
  spentUntil: 0n,
  call() {
    const from = this.spentUntil > this.clock ? this.spentUntil : this.clock;
    const accepted = from - this.clock < 30n * (SECOND / 20n);
    if (accepted) this.spentUntil = from + SECOND / 20n;
    this.clock += SECOND / 40n;
    return accepted ? [200, null] : [429, 1];
  },
};

// One request: wait for the permit, send, and tell what came of it. Returns the status.
function sendOne(limiter) {
  let { grant, until } = limiter.tryTake();
  while (!grant) {
    if (until === NEVER) return 0; // only a report could unblock it, and nothing is out
    api.clock = until;
    ({ grant, until } = limiter.tryTake());
  }
  [grant.status, grant.retryAfter] = api.call();
  grant.report();
  return grant.status;
}

function main(spec = '') {
  const limiter = new Limiter(spec, { clock: () => api.clock, seed: 1n });
  const counts = { 200: 0, 429: 0 };
  while (api.clock < 600n * SECOND) {
    const status = sendOne(limiter);
    if (status === 0) return 1;
    counts[status] += 1;
  }
  console.log(`${counts[200]} accepted, ${counts[429]} refused in ${api.clock / SECOND} s`);
  console.log(`pace now ${limiter.rate.toFixed(2)}/s`);
  const { cause, text } = limiter.why();
  console.log(`${cause}: ${text}`);
  limiter.close();
  return 0;
}

try {
  process.exitCode = main(...process.argv.slice(2));
} catch (mistake) {
  if (!(mistake instanceof RangeError)) throw mistake;
  console.error(`embed: ${mistake.message}`);
  process.exitCode = 2;
}
