// SPDX-License-Identifier: MIT
// flyball.js - libflyball from Node, through koffi: no compiler needed.
//
//     const limiter = new Limiter();             // nobody knows the limit: it is found
//     const grant = await limiter.take();        // the event loop goes on meanwhile
//     try {
//       const answer = await fetch(url);
//       grant.status = answer.status;
//       grant.retryAfter = answer.headers.get('retry-after');
//     } finally {
//       grant.report();                          // once for every grant, whatever came of it
//     }
//
//     new Limiter('rate=10/s', { ledger: '/run/me/ledger', key: ['api.example.com'] });
//                                // one budget with every process that says the same
//
// The library is $FLYBALL_LIBRARY, else libflyball.so.0 where the system looks. A whole service is
// better served by the proxy, once that is there; this is for programs of their own.
import koffi from 'koffi';

export const NEVER = 2n ** 63n - 1n; // only a report can unblock
export const ABSENT = -(2n ** 63n); // not told by the response
export const SECOND = 1_000_000_000n;
const THROTTLED = 1;

const lib = koffi.load(process.env.FLYBALL_LIBRARY ?? 'libflyball.so.0');
koffi.opaque('fly_limiter');
koffi.opaque('fly_ledger');
koffi.struct('fly_key', {
  provider: 'const char *', pool: 'const char *', credential: 'const char *',
});
koffi.struct('fly_error', { text: koffi.array('char', 256) });
koffi.struct('fly_outcome', {
  sent_ns: 'int64', latency_ns: 'int64', limit: 'int64', remaining: 'int64', reset_ns: 'int64',
  retry_after_ns: 'int64', ticket: 'uint64', status: 'int32', flags: 'uint32',
});
koffi.struct('fly_why', {
  size: 'uint64', until_ns: 'int64', cause: koffi.array('char', 24),
  text: koffi.array('char', 256),
});

const fly = Object.fromEntries([
  'const char *fly_version(void)',
  'int64_t fly_now(void)',
  'fly_limiter *fly_limiter_new(const char *spec, int64_t now_ns, uint64_t seed, ' +
    '_Out_ fly_error *err)',
  'void fly_limiter_free(fly_limiter *l)',
  'int64_t fly_limiter_take(fly_limiter *l, int64_t now_ns, uint32_t cost, _Out_ uint64_t *ticket)',
  'void fly_limiter_cancel(fly_limiter *l, int64_t now_ns, uint64_t ticket)',
  'void fly_limiter_report(fly_limiter *l, int64_t now_ns, const fly_outcome *o)',
  'int fly_limiter_why(fly_limiter *l, int64_t now_ns, uint32_t cost, _Inout_ fly_why *why)',
  'double fly_limiter_rate(fly_limiter *l)',
  'int fly_ledger_open(const char *path, const void *options, _Out_ fly_ledger **ledger, ' +
    '_Out_ fly_error *err)',
  'void fly_ledger_close(fly_ledger *ledger)',
  'int fly_ledger_limiter(fly_ledger *ledger, const fly_key *key, const char *spec, ' +
    '_Out_ fly_limiter **limiter, _Out_ fly_error *err)',
].map((line) => [/(fly_\w+)\(/.exec(line)[1], lib.func(line)]));

const span = (seconds) => BigInt(Math.round(Number(seconds) * 1e9));

export const version = () => fly.fly_version();
export const now = () => BigInt(fly.fly_now());

// A request that may start now.
export class Grant {
  constructor(limiter, ticket, sentNs) {
    Object.assign(this, { limiter, ticket, sentNs });
    this.status = 0; // HTTP status; 0: no answer came
    this.retryAfter = null; // seconds, as told; so is what follows, the reset from now on
    this.limit = this.remaining = this.reset = null;
    this.throttled = false; // a refusal for rate, whatever the status
  }

  report() {
    const at = this.limiter.clock();
    const told = (value) => (value === null ? ABSENT : BigInt(value));
    this.limiter.report(at, {
      sent_ns: this.sentNs, latency_ns: at - this.sentNs,
      limit: told(this.limit), remaining: told(this.remaining),
      reset_ns: this.reset === null ? ABSENT : at + span(this.reset),
      retry_after_ns: this.retryAfter === null ? ABSENT : span(this.retryAfter),
      ticket: this.ticket, status: this.status, flags: this.throttled ? THROTTLED : 0,
    });
  }

  // It was never sent: the permit goes back.
  cancel() {
    this.limiter.cancel(this.ticket);
  }
}

const check = (result, error) => {
  if (result < 0) throw result === -22 ? new RangeError(error.text) : new Error(error.text);
};

// The limiter of a key in the ledger at `path`: the same one in every process that has it open.
function shared(spec, path, [provider = '', pool = '', credential = '']) {
  const error = {};
  const [ledger, handle] = [[null], [null]];
  check(fly.fly_ledger_open(path, null, ledger, error), error);
  const result = fly.fly_ledger_limiter(ledger[0], { provider, pool, credential }, spec, handle,
    error);
  if (result < 0) fly.fly_ledger_close(ledger[0]);
  check(result, error);
  return [handle[0], ledger[0]];
}

// With `ledger`, the path of one, it is what every process has under `key`: provider, pool and
// credential, of which the last ones may be missing. Its clock is now() and no other.
export class Limiter {
  #handle;
  #ledger = null;
  #turn = Promise.resolve(); // those who wait start in order
  #wake = () => {};

  constructor(spec = '', {
    clock = now, seed = BigInt(Math.floor(Math.random() * 2 ** 48)), ledger = null, key = [],
  } = {}) {
    const error = {};
    this.clock = clock;
    if (ledger !== null) {
      [this.#handle, this.#ledger] = shared(spec, ledger, key);
      return;
    }
    this.#handle = fly.fly_limiter_new(spec, clock(), seed, error);
    if (!this.#handle) throw new RangeError(error.text);
  }

  close() {
    fly.fly_limiter_free(this.#handle);
    fly.fly_ledger_close(this.#ledger);
    this.#handle = this.#ledger = null;
  }

  // A grant, or when to ask again.
  tryTake(cost = 1) {
    const at = this.clock();
    const ticket = [0n];
    const until = BigInt(fly.fly_limiter_take(this.#handle, at, cost, ticket));
    return until <= at ? { grant: new Grant(this, ticket[0], at) } : { until };
  }

  take(cost = 1) {
    const mine = this.#turn.then(() => this.#wait(cost));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async #wait(cost) {
    for (;;) {
      const { grant, until } = this.tryTake(cost);
      if (grant) return grant;
      await new Promise((resolve) => {
        const ms = until === NEVER ? 2 ** 31 - 1 : Number((until - this.clock()) / 1_000_000n) + 1;
        const timer = setTimeout(resolve, Math.min(Math.max(ms, 0), 2 ** 31 - 1));
        this.#wake = () => { clearTimeout(timer); resolve(); };
      });
    }
  }

  report(at, outcome) {
    fly.fly_limiter_report(this.#handle, at, outcome);
    this.#wake();
  }

  cancel(ticket) {
    fly.fly_limiter_cancel(this.#handle, this.clock(), ticket);
    this.#wake();
  }

  why(cost = 1) {
    const why = { size: koffi.sizeof('fly_why'), until_ns: 0, cause: '', text: '' };
    fly.fly_limiter_why(this.#handle, this.clock(), cost, why);
    return why;
  }

  get rate() {
    return fly.fly_limiter_rate(this.#handle);
  }
}
