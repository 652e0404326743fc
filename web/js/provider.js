/* provider.js - one provider: why it waits, what is left, how it went, what was learned. */

const fact = (name, text, title) => [el('dt', {}, name), el('dd', title ? { title } : {}, text)];

const quotaBar = (k) => {
  const q = k.quota || k.window;
  if (!q) return el('p', { class: 'quiet' }, k.learned ? 'The server does not tell what is left; the limit was learned.' : 'The server has not told what is left.');
  const share = Math.max(0, Math.min(1, q.remaining / q.limit));
  const fill = el('i');
  fill.style.width = `${share * 100}%`;
  const bar = el('div', { class: 'bar', role: 'img', 'aria-label': `${count(q.remaining)} of ${count(q.limit)} left` }, fill);
  if (q.reserve) {
    const notch = el('b', { title: `kept back: ${count(q.reserve)}` });
    notch.style.left = `${Math.min(100, (q.reserve / q.limit) * 100)}%`;
    bar.append(notch);
  }
  const reset = q.reset_in_s == null ? '' : `, resets in ${span(Math.max(0, fromNow(q.reset_in_s)))}`;
  return el('div', {}, el('p', {}, `${count(q.remaining)} of ${count(q.limit)} left${reset}`), bar);
};

const CAUSES = ['--rate', '--holding', '--limit', '--warning', '--ok', '--critical'];

const waitBar = (waits) => {
  const total = waits.reduce((sum, w) => sum + w.seconds, 0);
  if (!total) return el('p', { class: 'quiet' }, 'Nothing has waited.');
  const shares = waits.filter((w) => w.seconds / total >= 0.005);
  const bar = el('div', { class: 'stack', 'aria-hidden': 'true' }, ...shares.map((w, i) => {
    const part = el('i');
    part.style.width = `${(w.seconds / total) * 100}%`;
    part.style.background = `var(${CAUSES[i % CAUSES.length]})`;
    return part;
  }));
  return el('div', {}, bar, el('p', {}, shares.map((w) => `${w.cause} ${Math.round((w.seconds / total) * 100)} %`).join(', ')));
};

const LATENCY_MAX_BARS = 24;

const latencyBars = (latency) => {
  if (!latency || !latency.count) return el('p', { class: 'quiet' }, 'No answer yet.');
  const buckets = latency.buckets.slice(0, LATENCY_MAX_BARS);
  const most = Math.max(...buckets.map((b) => b.count), 1);
  const bars = el('div', { class: 'bars', role: 'img', 'aria-label': `Latency of ${count(latency.count)} answers by size` },
    ...buckets.map((b) => {
      const bar = el('i', { title: `up to ${b.le == null ? 'any' : span(b.le)}: ${count(b.count)}` });
      bar.style.height = `${Math.max(b.count ? 4 : 0, (Math.log1p(b.count) / Math.log1p(most)) * 100)}%`;
      return bar;
    }));
  const ends = el('p', { class: 'bars-axis', 'aria-hidden': 'true' }, el('span', {}, span(buckets[0].le)), el('span', {}, span(buckets.findLast((b) => b.le != null).le)));
  return el('div', {}, bars, ends, el('p', {}, `p50 ${span(latency.p50_s)}, p95 ${span(latency.p95_s)}, p99 ${span(latency.p99_s)} of ${count(latency.count)} answers`));
};

const learnedText = (k) => {
  if (k.learning) return 'nothing has refused yet: the pace still rises';
  if (!k.learned) return k.spec ? `${k.spec}, stated by the ${k.said_by || 'configuration'}` : 'nothing';
  return `${rate(k.limit_per_s)}/s, confidence ${(k.confidence || 0).toFixed(2)}`;
};

const factsOf = (k) => el('dl', { class: 'facts' },
  ...fact('rate', `${rateOf(k)}`),
  ...fact('queue', `${count(k.queued)} queued, ${count(k.in_flight)} in flight`),
  ...fact('refused', `${count(k.throttled || 0)} of ${count(k.requests || 0)} requests since the start`),
  ...fact('breaker', k.breaker_open ? 'open' : 'closed'),
  ...(k.credential ? fact('credential', `…${k.credential.slice(-4)} (hash)`, k.credential) : []),
  ...(k.told_by ? fact('told by', k.told_by) : []),
  ...fact('learned', learnedText(k)));

const makeProvider = (provider, pool) => {
  const node = el('div');
  const title = el('h2');
  const pools = el('p', { class: 'summary' });
  const why = el('p', { class: 'panel why-box' });
  const left = el('div', { class: 'panel' });
  const facts = el('div', { class: 'panel' });
  const waits = el('div', { class: 'panel' });
  const latency = el('div', { class: 'panel' });
  const plot = el('div', { class: 'panel' });
  const more = el('p', { class: 'quiet' });
  const events = makeEvents(provider);
  const view = { node };
  let chart = null;

  const grid = (...kids) => el('div', { class: 'grid' }, ...kids);
  node.append(el('p', {}, el('a', { href: '#/' }, '‹ all providers')), title, pools, why, grid(plot, events.node), grid(left, facts), grid(waits, latency), more);

  const showChart = (k) => {
    if (chart && idOf(chart.key) === idOf(k) && chart.range === model.range) return;
    if (chart) chart.close();
    chart = makeChart(k, model.range);
    plot.replaceChildren(el('header', {}, el('h3', {}, 'Sent against the limit'), el('span', { class: 'quiet' }, `last ${RANGES[model.range].label}`)), chart.figure);
    chart.start(null);
  };
  const showPools = (keys, k) => pools.replaceChildren(...(keys.length < 2 ? [] : keys.map((other) =>
    el('a', { href: linkOf(other), 'aria-current': idOf(other) === idOf(k) ? 'true' : null }, `${shapeOf(other.state)} ${other.pool}`))));
  const showMissing = () => {
    node.replaceChildren(el('p', {}, el('a', { href: '#/' }, '‹ all providers')),
      el('p', { class: 'empty' }, `There is no provider ${provider} now.`));
  };

  view.update = () => {
    const keys = keysOf(provider);
    const k = keys.find((one) => one.pool === pool) || keys[0];
    if (!k) { showMissing(); return; }
    const set = (model.status.failures || []).find((f) => f.provider === k.provider && f.pool === k.pool) || {};
    title.replaceChildren(nameOf(k), ' ', el('span', { class: `state state-${k.state}` }, el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(k.state)), k.state));
    showPools(keys, k);
    setText(why, k.why || (k.queued + k.in_flight ? 'Nothing waits.' : 'Nothing to do.'));
    setClass(why, `panel why-box state-${k.state}`);
    left.replaceChildren(el('h3', {}, 'What is left'), quotaBar(k));
    facts.replaceChildren(el('h3', {}, 'Now'), factsOf(k));
    waits.replaceChildren(el('h3', {}, 'Waits by cause, since the start'), waitBar(set.waits || []));
    latency.replaceChildren(el('h3', {}, 'Latency, since the start'), latencyBars(set.latency));
    if (!more.firstChild) more.append('The same figures: ', el('a', { href: 'status' }, 'JSON'), ', ', el('code', {}, `curl ${location.origin}/status`));
    showChart(k);
    chart.update();
    events.update();
  };
  view.step = () => {};
  view.redraw = () => chart && chart.redraw();
  view.refresh = () => chart && chart.forget();
  view.close = () => chart && chart.close();
  view.links = () => [...pools.querySelectorAll('a')];
  return view;
};
