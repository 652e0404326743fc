/* provider.js - one provider: why it waits, what is left, how it went, what was learned. */

/* Steps of one neutral hue: colours are for states. */
const STEPS = 5;
const stepOf = (i) => `var(--step-${Math.min(i, STEPS - 1) + 1})`;

const waitFigures = (w) => (w && w.count ? el('p', { class: 'figures' }, el('span', {}, el('b', {}, span(w.p50_s)), ' p50'), el('span', {}, el('b', {}, span(w.p95_s)), ' p95'),
  el('span', { class: 'quiet' }, `of ${count(w.count)} that waited`)) : null);

const waitBar = (waits, waited) => {
  const total = waits.reduce((sum, w) => sum + w.seconds, 0);
  if (!total) return el('p', { class: 'quiet' }, 'Nothing that was sent has waited.');
  const shares = waits.filter((w) => w.seconds / total >= 0.005).sort((a, b) => b.seconds - a.seconds);
  const list = el('ul', { class: 'waits' }, ...shares.map((w) => {
    const part = el('i');
    part.style.width = `${(w.seconds / total) * 100}%`;
    return el('li', { title: CAUSES[w.cause] ? `waited for ${CAUSES[w.cause]}` : null }, el('span', {}, w.cause), el('span', { class: 'track', 'aria-hidden': 'true' }, part),
      el('b', {}, `${Math.round((w.seconds / total) * 100)} %`), el('span', { class: 'quiet' }, span(w.seconds)));
  }));
  return el('div', {}, waitFigures(waited), list);
};

const LATENCY_MAX_BARS = 24;

/* Empty ones at both ends say nothing. */
const trim = (buckets) => {
  const from = buckets.findIndex((b) => b.count);
  return buckets.slice(Math.max(0, from - 1), buckets.findLastIndex((b) => b.count) + 2);
};

/* The same for those who do not see bars. */
const latencyTable = (buckets) => el('div', { class: 'unseen' }, el('table', {}, el('caption', {}, 'Answers by how long they took'),
  el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'took at most'), el('th', { scope: 'col' }, 'answers'))),
  el('tbody', {}, ...buckets.map((b) => el('tr', {}, el('th', { scope: 'row' }, b.le == null ? 'any time' : took(b.le)), el('td', {}, count(b.count)))))));

const latencyBars = (latency) => {
  if (!latency || !latency.count) return el('p', { class: 'quiet' }, 'No answer yet.');
  const buckets = trim(latency.buckets).slice(0, LATENCY_MAX_BARS);
  const most = Math.max(...buckets.map((b) => b.count), 1);
  const bars = el('div', { class: 'bars', 'aria-hidden': 'true' },
    ...buckets.map((b) => {
      const bar = el('i', { title: `up to ${b.le == null ? 'any' : took(b.le)}: ${count(b.count)}` });
      bar.style.height = `${Math.max(b.count ? 4 : 1, (Math.log1p(b.count) / Math.log1p(most)) * 100)}%`;
      return bar;
    }));
  const ends = el('p', { class: 'bars-axis', 'aria-hidden': 'true' }, el('span', {}, `≤ ${took(buckets[0].le)}`),
    el('span', {}, `≤ ${took((buckets.findLast((b) => b.le != null) || buckets[0]).le)}`));
  const figures = [['p50', latency.p50_s], ['p95', latency.p95_s], ['p99', latency.p99_s]];
  return el('figure', { class: 'latency', 'aria-label': `How long ${count(latency.count)} answers took, on a logarithmic scale` },
    el('figcaption', { class: 'figures' }, ...figures.map(([name, s]) => el('span', {}, el('b', {}, took(s)), ` ${name}`)),
      el('span', { class: 'quiet' }, `of ${count(latency.count)} answers`)), bars, ends, latencyTable(buckets));
};

const learnedText = (k) => {
  if (k.learning) return 'nothing has refused yet: the pace still rises';
  if (!k.learned) return k.spec ? `${k.spec} (${k.said_by || 'configuration'})` : 'nothing';
  const changed = k.changed_in_s != null ? `, changed ${ago(-fromNow(k.changed_in_s))}` : '';
  return `${rate(k.learned_per_s || 0)}/s, confidence ${(k.confidence || 0).toFixed(2)}${changed}`;
};

const breakerText = (k) => {
  if (!k.breaker_open) return 'closed';
  return k.breaker_until ? `open, one trial at ${moment(new Date(k.breaker_until))}` : 'open, a trial is on its way';
};

const refusedText = (k) => `${k.throttled_1h == null || k.apart ? '' : `${count(k.throttled_1h)} in 1 h, `}${count(k.throttled || 0)} of ${count(k.requests || 0)} requests since the start`;

const refusalText = (r) => [timeAt(r.at), ` (${r.status}${r.retry_after_s ? `, Retry-After ${Math.ceil(r.retry_after_s)}` : ''})`];

const boundText = (k) => (k.limit_by === 'learned' ? (k.limit_told ? ', as the server tells' : `, ${sureOf(k)} sure`) : k.limit_by ? `, by what is ${{ stated: 'stated', window: 'left of the window', quota: 'left of the quota' }[k.limit_by]}` : '');

/* So far away that one looks at a clock. */
const isFar = (k) => Boolean(k.next_start && k.next_start_in_s > 2);

const factsOf = (k) => el('dl', { class: 'facts' },
  ...fact('rate / limit', `${rateOf(k)}${boundText(k)}`),
  ...fact('refused (429)', refusedText(k)),
  ...(isFar(k) ? fact('next start', timeAt(k.next_start)) : []),
  ...(k.last_refusal ? fact('last refusal', el('span', {}, ...refusalText(k.last_refusal))) : []),
  ...fact('breaker', breakerText(k)),
  ...(k.credential ? fact('credential', `…${k.credential.slice(-4)} (hash)`, k.credential) : []),
  ...(k.told_by ? fact('told by', k.told_by) : []),
  ...fact(k.learned || !k.spec ? 'learned' : 'limit', learnedText(k)));

const poolOf = (k) => (k.apart ? `${k.pool} ${k.apart}` : k.pool);

/* Bars of all pools, as the server told them. */
const leftRow = (k, of) => {
  const bar = makeQuotaBar();
  bar.update(of, levelOf(k, of));
  const reset = of.reset_in_s != null ? `${of === k.window ? 'one more' : 'resets'} in ${span(Math.max(0, fromNow(of.reset_in_s)))}` : '';
  const kept = of.reserve ? `${count(of.reserve)} kept in reserve` : '';
  return el('div', { class: 'left-row' }, el('p', {}, el('span', {}, k.quota && k.window ? `${poolOf(k)}, ${of === k.window ? 'window' : 'quota'}` : poolOf(k)), el('b', {}, amountOf(k, of))), bar.node,
    el('p', { class: 'quiet' }, [reset, kept].filter(Boolean).join(', ')));
};

const leftRows = (keys) => {
  const told = keys.filter((k) => k.quota || k.window);
  if (told.length) return el('div', {}, ...told.flatMap((k) => [k.quota, k.window].filter(Boolean).map((of) => leftRow(k, of))));
  return el('p', { class: 'quiet' }, keys.some((k) => k.learned && !k.learning) ? 'The server does not tell what is left; the limit was learned.' : 'The server has not told what is left.');
};

const LEVELS = ['high', 'live', 'imminent', 'normal', 'background'];

/* By priority, where the daemon tells that of the key; else as one sum. One level is no bar. */
const queueBar = (k, set) => {
  const { refused = 0, evicted = 0 } = model.status.queue || {};
  const by = k.queued_by || {};
  const levels = LEVELS.map((name, i) => ({ name, n: by[name] || 0, color: stepOf(i) })).filter((l) => l.n);
  const total = levels.reduce((sum, l) => sum + l.n, 0);
  const bar = levels.length < 2 ? null : el('div', { class: 'stack', 'aria-hidden': 'true' }, ...levels.map((l) => {
    const part = el('i');
    part.style.width = `${(l.n / total) * 100}%`;
    part.style.background = l.color;
    return part;
  }));
  const names = levels.map((l) => {
    const dot = el('i', { class: 'dot', 'aria-hidden': 'true' });
    dot.style.background = l.color;
    return el('li', {}, dot, el('span', {}, l.name), el('b', {}, count(l.n)));
  });
  return el('div', {}, el('p', { class: 'figures' }, el('span', { class: k.queued ? '' : 'zero' }, el('b', {}, count(k.queued)), ' queued'),
    el('span', { class: k.in_flight ? '' : 'zero' }, el('b', {}, count(k.in_flight)), ' in flight'),
    k.oldest_s > 0 ? el('span', {}, 'oldest ', el('b', {}, span(k.oldest_s))) : null,
    set.deferred == null ? null : el('span', { class: set.deferred ? '' : 'zero' }, el('b', {}, count(set.deferred)), ' deferred'),
    el('span', { class: refused + evicted ? '' : 'zero', title: 'for want of room in the queue, of all providers' }, el('b', {}, count(refused + evicted)), ' refused')),
  bar, total ? el('ul', { class: 'shares' }, ...names) : null);
};

const makeProvider = (provider, pool, apart) => {
  const back = el('p', { class: 'back' }, el('a', { href: withRange('#/') }, '‹ all providers'));
  const title = el('h2', { class: 'title' });
  const pools = el('nav', { class: 'pools', 'aria-label': 'Pools' });
  const why = el('p', { class: 'verdict' });
  const parts = { left: el('div'), facts: el('div'), waits: el('div'), latency: el('div'), queue: el('div') };
  const plot = el('section', { class: 'panel' });
  const more = el('p', { class: 'quiet more' });
  const events = makeEvents(provider);
  const body = el('div', {}, title, pools, why, grid(plot, events.node),
    columns([panel('What is left', parts.left), panel('Queue', parts.queue)],
      [panel('Waits by cause, since the start', parts.waits), panel('Latency, since the start', parts.latency)],
      [panel('Now', parts.facts)]), more);
  const missing = emptyState(`There is no provider ${provider} now`, 'It comes back with its first request.');
  missing.hidden = true;
  const view = { title: provider, node: el('div', {}, back, missing, body) };
  let chart = null;

  const shownKey = () => {
    const all = keysOf(provider).filter((one) => one.pool === pool);
    return all.find((one) => one.apart === apart) || all[0] || keysOf(provider)[0];
  };
  const showChart = (k) => {
    if (chart && idOf(chart.key) === idOf(k) && chart.range === model.range) return;
    if (chart) chart.close();
    chart = makeChart(k, model.range);
    plot.replaceChildren(el('header', {}, el('h2', {}, 'Sent against the limit'), el('span', { class: 'quiet' }, `last ${RANGES[model.range].label}${k.apart ? ', all credentials together' : ''}`)), chart.figure);
    chart.start(null);
  };
  const showPools = (keys, k) => {
    fill(pools, ...(keys.length < 2 ? [] : keys.map((other) =>
      el('a', { href: linkOf(other), 'aria-current': idOf(other) === idOf(k) ? 'true' : null }, el('span', { class: `shape state-${other.state}`, 'aria-hidden': 'true' }, shapeOf(other.state)), el('span', { class: 'unseen' }, `${other.state} `), poolOf(other)))));
    setHidden(pools, keys.length < 2);
  };
  const sayWhy = (k) => showVerdict(why, k.state, reasonOf(k) || (k.queued + k.in_flight ? 'Nothing waits.' : 'Nothing to do.'));
  /* What changes seldom is drawn seldom. */
  const show = (name, value, make) => {
    const now = JSON.stringify(value);
    if (parts[name].dataset.now === now) return;
    parts[name].dataset.now = now;
    fill(parts[name], make());
  };

  view.update = () => {
    const keys = keysOf(provider);
    const k = shownKey();
    setClass(view.node, k ? '' : 'is-empty');
    setHidden(missing, Boolean(k));
    view.title = k ? nameOf(k) : provider;
    setHidden(body, !k);
    if (!k) return;
    const set = (model.status.failures || []).find((f) => f.provider === k.provider && f.pool === k.pool) || {};
    const head = `${nameOf(k)} ${k.state}`;
    if (title.dataset.now !== head) title.replaceChildren(nameOf(k), stateOf(k.state));
    title.dataset.now = head;
    showPools(keys, k);
    sayWhy(k);
    show('left', [keys.map((one) => [one.quota, one.window].map((of) => of && [of.remaining, of.limit, Math.round(fromNow(of.reset_in_s || 0))]))], () => leftRows(keys));
    show('queue', [k.queued, k.in_flight, k.queued_by, k.oldest_s, set.deferred, model.status.queue], () => queueBar(k, set));
    show('facts', [rateOf(k), boundText(k), refusedText(k), breakerText(k), isFar(k) && k.next_start, k.last_refusal && k.last_refusal.at, k.told_by, learnedText(k)], () => factsOf(k));
    show('waits', [set.waits, set.waited], () => waitBar(set.waits || [], set.waited));
    show('latency', set.latency || {}, () => latencyBars(set.latency));
    if (!more.firstChild) more.append('The same figures: ', el('a', { href: 'status' }, 'JSON'), command(`curl ${location.origin}/status`));
    showChart(k);
    chart.update();
    events.update();
  };
  view.step = () => {};
  view.dim = () => shownKey() && sayWhy(shownKey());
  view.redraw = () => chart && chart.redraw();
  view.refresh = () => chart && chart.forget();
  view.close = () => chart && chart.close();
  view.links = () => [...pools.querySelectorAll('a')];
  return view;
};
