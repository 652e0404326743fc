/* model.js - what is known: the last status, what happened lately, and what the reader chose. */

const EVENTS_KEPT = 200;
const SPARK_KEPT = 60;

/* What needs attention comes first. State is a colour, a word and a shape. */
const STATES = {
  critical: { rank: 0, shape: '■', means: 'it fails and is left alone, or little is left of a quota that goes too fast' },
  holding: { rank: 1, shape: '‖', means: 'nothing may start for a second or longer' },
  warning: { rank: 2, shape: '▲', means: 'half of a quota went too fast, or every answer is a 4xx' },
  ok: { rank: 3, shape: '●', means: 'at work, and nothing holds it up' },
  idle: { rank: 4, shape: '○', means: 'nothing to do' },
};

const RANGES = {
  '15m': { label: '15 min', step: 1, samples: 900 },
  '1h': { label: '1 h', step: 10, samples: 360 },
  '1d': { label: '1 day', step: 60, samples: 1440 },
};

const model = {
  status: null, /* as /status says it */
  at: 0, /* when it came, by this clock */
  isFrozen: false, /* a report: nothing will change any more */
  events: [], /* newest first */
  sparks: new Map(), /* id of a key: its rates of the last minute */
  filter: '',
  range: '15m',
  chosen: '', /* id of the key whose chart the overview shows; '': the first */
};

const shapeOf = (state) => (STATES[state] || STATES.idle).shape;
const pairOf = (k) => `${k.provider}/${k.pool}`;
const idOf = (k) => (k.apart ? `${pairOf(k)}/${k.apart}` : pairOf(k));
const nameOf = (k) => `${k.pool && k.pool !== 'default' ? pairOf(k) : k.provider}${k.apart ? ` ${k.apart}` : ''}`;

/*
 * Of one provider and pool there may be several, one to each credential: they are told apart by the
 * end of its hash, or by a number where hashes are not told. What was sent is counted for all of
 * them together, so that of one is what it has sent more than a status ago.
 */
const tellApart = (status, before) => {
  const pairs = new Map();
  status.keys.forEach((k) => pairs.set(pairOf(k), [...(pairs.get(pairOf(k)) || []), k]));
  const old = new Map(before ? before.keys.map((k) => [idOf(k), k]) : []);
  const passed = before ? before.began_in_s - status.began_in_s : 0; /* by the daemon's clock, with parts of a second */
  pairs.forEach((all) => all.length > 1 && all.sort((a, b) => (b.requests || 0) - (a.requests || 0)).forEach((k, i) => {
    k.apart = k.credential ? `…${k.credential.slice(-4)}` : `(${i + 1} of ${all.length})`;
    if (model.isFrozen) return; /* a report has a rate for each */
    const was = old.get(idOf(k));
    k.rate_per_s = was && passed > 0 ? Math.max(0, k.requests - was.requests) / passed : was ? was.rate_per_s : 0;
  }));
};

/* A link within the page: the range that was chosen goes along. */
const RANGE_FIRST = '15m';
const withRange = (hash) => {
  const [path, query] = hash.split('?');
  const values = new URLSearchParams(query || '');
  if (model.range === RANGE_FIRST) values.delete('range'); else values.set('range', model.range);
  return String(values) ? `${path}?${values}` : path;
};
const linkOf = (k) => `#/p/${encode(k.provider)}?pool=${encode(k.pool)}${k.apart ? `&key=${encode(k.apart)}` : ''}${model.range === RANGE_FIRST ? '' : `&range=${model.range}`}`;

/* The tightest of what is stated, learned or left; `limit_by` says which. */
const limitOf = (k) => {
  if (k.limit_per_s > 0) return `${k.limit_by === 'learned' && !k.limit_told ? '~' : ''}${rate(k.limit_per_s)} /s`;
  return k.learning ? '?' : '-';
};

const rateOf = (k) => `${k.state === 'idle' && !model.isFrozen ? '-' : rate(k.rate_per_s)} / ${limitOf(k)}`;

/* What binds; of a learned limit, how sure it is, or that the server tells it. */
const sureOf = (k) => {
  if (k.limit_by === 'window' || k.limit_by === 'quota') return k.limit_by;
  if (k.limit_by === 'learned' && k.limit_told) return 'told';
  return k.limit_by === 'learned' && k.confidence ? `${Math.round(k.confidence * 100)} %` : '';
};

const windowName = (s) => ({ 1: 's', 60: 'min', 3600: 'h', 86400: 'day' }[s] || (s < 1 ? took(s) : span(s)));

/* What is left is that of a window or a quota; which of them matters is said by the daemon. */
const boundOf = (k) => (k.left_by ? k[k.left_by] : null);
const amountOf = (k, of) => `${count(of.remaining)} of ${count(of.limit)}${of === k.window ? `/${windowName(of.window_s)}` : ''}`;

const leftOf = (k) => {
  if (boundOf(k)) return amountOf(k, boundOf(k));
  if (!k.learned || k.learning) return '';
  return k.changed_in_s != null && k.state === 'idle' ? `learned ${ago(-fromNow(k.changed_in_s))}` : 'learned';
};

/* Seconds from now, of a figure that was so many seconds away when the status was written. */
const fromNow = (inSeconds) => (model.isFrozen ? inSeconds : inSeconds - (Date.now() - model.at) / 1000);

const nextOf = (k) => {
  if (!k.enabled) return 'switched off';
  if (k.may_start) return k.queued + k.in_flight > 0 ? 'now' : '-';
  if (k.next_start_in_s == null) return 'with an answer';
  const wait = fromNow(k.next_start_in_s);
  return wait > (k.state === 'ok' ? 1 : 0.05) ? `in ${span(wait)}` : 'now';
};

/* What is waited for, in words; columns have the short names that commands and metrics have as well. */
const CAUSES = {
  __proto__: null,
  bucket: 'its rate', window: 'a window that is full', quota: 'its quota', hold: 'the end of a hold', concurrency: 'one under way to end',
  breaker: 'a trial after failures', pause: 'the end of a pause after failures', asking: 'word of its quota', ramp: 'a gentle start', learned: 'what was learned',
};

/* It may start, and so little is left that it is a concern. */
const isScarce = (k) => Boolean(k.may_start && !k.because && k.quota && STATES[k.state].rank < STATES.ok.rank);

/* What holds it up; of one that is well nobody asks. */
const causeOf = (k) => (k.enabled && k.state !== 'ok' ? k.because || (!k.may_start && k.cause) || (isScarce(k) ? 'little left' : '') : '');

/* The sentence, with the instants that belong to it by the reader's clock. */
const whyOf = (k) => {
  const at = (when) => moment(new Date(when));
  if (!k.why) return '';
  if (k.because === 'Retry-After') {
    const wait = Math.max(0, fromNow(k.next_start_in_s));
    return `Next start in ${span(wait)}: Retry-After ${Math.ceil(k.last_refusal.retry_after_s)} (${k.last_refusal.status} at ${at(k.last_refusal.at)}).`;
  }
  if (!k.quota || !k.quota.told || !/quota|the server says/.test(k.why)) return k.why;
  return `${k.why} Told by ${k.told_by || 'the server'} at ${at(k.quota.told)}${k.quota.reset ? `, until ${at(k.quota.reset)}` : ''}.`;
};

/* Why it is as it is: what holds it up, or how little is left of one that may still start. */
const reasonOf = (k) => {
  if (!isScarce(k)) return whyOf(k) || k.cause || '';
  const reset = k.quota.reset_in_s == null ? '' : `, until the reset in ${span(Math.max(0, fromNow(k.quota.reset_in_s)))}`;
  return `Only ${leftOf(k)} are left${reset}.`;
};

const byNeed = (a, b) =>
  (STATES[a.state] || STATES.idle).rank - (STATES[b.state] || STATES.idle).rank
  || nameOf(a).localeCompare(nameOf(b));

/* The keys to show, those that need attention first. */
const keysShown = () => {
  const wanted = model.filter.toLowerCase();
  const keys = model.status ? model.status.keys : [];
  return keys.filter((k) => nameOf(k).toLowerCase().includes(wanted)).sort(byNeed);
};

const keysOf = (provider) => (model.status ? model.status.keys : []).filter((k) => k.provider === provider);

/* The minute before the page was opened, from the daemon's own rings, in one request. */
const seedSparks = async () => {
  try {
    const answer = await fetch(`history?step=1&samples=${SPARK_KEPT}&figure=sent`);
    if (!answer.ok) return;
    const { series } = await answer.json();
    model.sparks.clear(); /* what is not in it is of another time */
    series.forEach((s) => model.sparks.set(idOf(s), s.sent.map((v) => v || 0)));
  } catch { /* the stream says that the connection is lost */ }
};

/* Rates of the last minute, a ring for every key that is there. */
const keepSparks = (keys) => {
  const there = new Set(keys.map(idOf));
  for (const id of model.sparks.keys()) if (!there.has(id)) model.sparks.delete(id);
  keys.forEach((k) => {
    const ring = model.sparks.get(idOf(k)) || [];
    ring.push(k.rate_per_s || 0);
    if (ring.length > SPARK_KEPT) ring.shift();
    model.sparks.set(idOf(k), ring);
  });
};
