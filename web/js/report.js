/* report.js - a run that is over: the same page, its figures frozen in. */

const runSentence = (b) => {
  const s = (new Date(b.ended) - new Date(b.began)) / 1000;
  const total = b.items.total == null ? '' : ` of ${count(b.items.total)}`;
  return `${count(b.items.ended)}${total} items in ${span(s)}, ${rate(b.rate_per_s)}/s; `
    + `${count(b.throttled)} of ${count(b.requests)} requests ${b.throttled === 1 ? 'was' : 'were'} refused.`;
};

const runState = (b) => {
  if (b.exit === 0) return 'ok';
  return b.items.failed || b.exit === 1 ? 'critical' : 'warning';
};

/* What is refused is sent again, and is no retry: both are said, so that the sum is plain. */
const requestsText = (b) => {
  const parts = [[b.throttled, 'refused for rate and sent again'], [b.retries, 'tried again after a failure']].filter(([n]) => n).map(([n, what]) => `${count(n)} ${what}`);
  return [`${count(b.requests)} sent`, ...parts].join(', ');
};

const runFacts = (b) => el('dl', { class: 'facts' },
  ...fact('list', b.list), ...fact('output', b.output || 'standard output'),
  ...fact('began', timeAt(b.began)), ...fact('ended', timeAt(b.ended)),
  ...fact('items', ['ok', 'failed', 'deferred', 'skipped', 'unknown'].filter((s) => b.items[s] || s === 'ok').map((s) => `${count(b.items[s])} ${s}`).join(', ')),
  ...fact('requests', requestsText(b)),
  ...(b.bound_by ? fact('bound by', b.bound_by) : []),
  ...fact('exit status', String(b.exit)));

const makeReport = (boot, provider, pool) => {
  const b = boot.status.batches[0];
  const table = makeKeysTable(RUN_COLUMNS, (k) => choose(k));
  const chartPanel = el('section', { class: 'panel' });
  const state = runState(b);
  const more = b.key_count > boot.status.keys.length ? `${b.key_count - boot.status.keys.length} more keys are not shown.` : '';
  const waits = b.waits.map((w) => ({ cause: w.cause, seconds: w.span_s }));
  const node = el('div', {},
    el('div', { class: 'summary' }, el('p', { class: `verdict state-${state}` },
      el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(state)), el('span', {}, runSentence(b)))),
    el('div', { class: 'panel is-table' }, table.node), more ? el('p', { class: 'quiet' }, more) : null,
    grid(chartPanel, panel('The run', runFacts(b))),
    grid(panel('Waits by cause', waitBar(waits)), panel('Time to answer', latencyBars(boot.latency))));
  let chart = null;
  const choose = (k) => {
    model.chosen = idOf(k);
    table.update(keysShown());
    if (chart) chart.close();
    chart = makeChart(k, 'run');
    chartPanel.replaceChildren(el('header', {}, el('h2', {}, nameOf(k)), el('span', { class: 'quiet' }, 'the whole run')), chart.figure);
    chart.start(boot.history);
  };
  const view = { node };
  view.update = () => {
    const keys = keysShown();
    const wanted = keys.find((k) => k.provider === provider && k.pool === pool) || keys.find((k) => idOf(k) === model.chosen)
      || [...keys].sort((x, y) => (y.requests || 0) - (x.requests || 0))[0];
    table.update(keys);
    if (wanted && (!chart || idOf(chart.key) !== idOf(wanted))) choose(wanted);
  };
  view.step = () => {};
  view.redraw = () => chart && chart.redraw();
  view.refresh = () => {};
  view.close = () => chart && chart.close();
  view.links = table.links;
  return view;
};
