/* model.js - what is known: the last status, what happened lately, and what the reader chose. */

const EVENTS_KEPT = 200;
const SPARK_KEPT = 60;

/* What needs attention comes first. State is a colour, a word and a shape. */
const STATES = {
  critical: { rank: 0, shape: '■' },
  holding: { rank: 1, shape: '‖' },
  warning: { rank: 2, shape: '▲' },
  ok: { rank: 3, shape: '●' },
  idle: { rank: 4, shape: '○' },
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
const idOf = (k) => `${k.provider}/${k.pool}`;
const nameOf = (k) => (k.pool && k.pool !== 'default' ? `${k.provider}/${k.pool}` : k.provider);

/* A link within the page: the range that was chosen goes along. */
const RANGE_FIRST = '15m';
const withRange = (hash) => {
  const [path, query] = hash.split('?');
  const values = new URLSearchParams(query || '');
  if (model.range === RANGE_FIRST) values.delete('range'); else values.set('range', model.range);
  return String(values) ? `${path}?${values}` : path;
};
const linkOf = (k) => `#/p/${encode(k.provider)}?pool=${encode(k.pool)}${model.range === RANGE_FIRST ? '' : `&range=${model.range}`}`;

const limitOf = (k) => {
  if (k.learning) return '?';
  return k.limit_per_s > 0 ? `${k.learned ? '~' : ''}${rate(k.limit_per_s)} /s` : '-';
};

const rateOf = (k) => `${k.state === 'idle' && !model.isFrozen ? '-' : rate(k.rate_per_s)} / ${limitOf(k)}`;

/* How sure a learned limit is. */
const sureOf = (k) => (k.learned && !k.learning && k.confidence ? `${Math.round(k.confidence * 100)} %` : '');

const windowName = (s) => ({ 1: 's', 60: 'min', 3600: 'h', 86400: 'day' }[s] || (s < 1 ? took(s) : span(s)));

const leftOf = (k) => {
  if (k.quota) return `${count(k.quota.remaining)} of ${count(k.quota.limit)}`;
  if (k.window) return `${count(k.window.remaining)} of ${count(k.window.limit)}/${windowName(k.window.window_s)}`;
  return k.learned && !k.learning ? 'learned' : '';
};

/* Seconds from now, of a figure that was so many seconds away when the status was written. */
const fromNow = (inSeconds) => (model.isFrozen ? inSeconds : inSeconds - (Date.now() - model.at) / 1000);

const nextOf = (k) => {
  if (!k.enabled) return 'disabled';
  if (k.may_start) return k.queued + k.in_flight > 0 ? 'now' : '-';
  if (k.next_start_in_s == null) return 'with an answer';
  const wait = fromNow(k.next_start_in_s);
  return wait > (k.state === 'ok' ? 1 : 0.05) ? `in ${span(wait)}` : 'now';
};

/* What holds it up; of one that is well nobody asks. */
const causeOf = (k) => (k.enabled && !k.may_start && k.state !== 'ok' ? k.cause || '' : '');

/* Why it is as it is: what holds it up, or how little is left of one that may still start. */
const reasonOf = (k) => {
  const isScarce = k.may_start && k.quota && STATES[k.state].rank < STATES.ok.rank;
  if (!isScarce) return k.why || k.cause || '';
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
