/* overview.js - is anything wrong, where, why, until when; then how it went. */

/* The one sentence that is read first. */
const verdictOf = (status) => {
  const counts = {};
  status.keys.forEach((k) => { counts[k.state] = (counts[k.state] || 0) + 1; });
  const worst = [...status.keys].sort(byNeed)[0];
  if (status.note) return ['critical', status.note];
  if (status.paused) return ['holding', 'Everything is paused: nothing new is sent until it is resumed.'];
  if (!worst) return ['idle', 'No provider has been asked for anything yet.'];
  const wrong = status.keys.filter((k) => STATES[k.state].rank < STATES.ok.rank).length;
  if (!wrong) {
    const busy = counts.ok || 0;
    return busy ? ['ok', `All is well: ${busy} of ${status.keys.length} ${status.keys.length === 1 ? 'provider' : 'providers'} at work, nothing is held up.`] : ['idle', 'Nothing to do.'];
  }
  const more = wrong > 1 ? `, and ${wrong - 1} more` : '';
  return [worst.state, `: ${reasonOf(worst) || worst.state}`, `${nameOf(worst)}${more}`];
};

const figuresOf = (status) => {
  const sent = status.keys.reduce((sum, k) => sum + k.rate_per_s, 0); /* a rate of its own for each credential */
  const refused = status.keys.reduce((sum, k) => sum + (k.throttled || 0), 0);
  return [[`${rate(sent)}`, '/s sent', sent], [count(status.queue.active_tasks), ' in flight', status.queue.active_tasks],
    [count(status.queue.length), ' queued', status.queue.length], [count(refused), ' refused (429)', refused]];
};

/* Always there, and quiet while there is nothing to say. */
const gradeOf = (status) => (status.grade && status.grade !== 'healthy' ? stateOf('warning', `overall ${status.grade}`)
  : el('span', { class: 'quiet grade' }, `overall ${status.grade || 'healthy'}`));

const makeSummary = () => {
  const verdict = el('p', { class: 'verdict' });
  const states = el('span', { class: 'states' });
  const figures = el('span', { class: 'figures' });
  const node = el('div', { class: 'summary has-totals' }, verdict, el('p', { class: 'totals' }, states, figures));
  const update = (status) => {
    showVerdict(verdict, ...verdictOf(status));
    const parts = Object.keys(STATES).map((s) => [s, status.keys.filter((k) => k.state === s).length]).filter(([, n]) => n);
    fill(states, gradeOf(status), ...parts.map(([s, n]) => stateOf(s, `${n} ${s}`)));
    figuresOf(status).forEach(([n, what, value], i) => {
      if (!figures.children[i]) figures.append(el('span', {}, el('b'), el('span', {}, what)));
      setText(figures.children[i].firstChild, n);
      setClass(figures.children[i], value ? '' : 'zero');
    });
  };
  return { node, update };
};

const makeOverview = (boot) => {
  const summary = makeSummary();
  const table = makeKeysTable(LIVE_COLUMNS, (k) => { model.chosen = idOf(k); view.update(); });
  const holder = el('div', { class: 'panel is-table' }, table.node);
  const empty = emptyState('No request yet', 'Give it something to fetch, or point a program at it. Try:', EMPTY_COMMAND);
  const none = el('p', { class: 'empty quiet' }, 'No provider has this in its name.');
  const chartPanel = el('section', { class: 'panel' });
  const events = makeEvents();
  const below = grid(chartPanel, events.node);
  const raw = el('p', { class: 'quiet more' }, 'The same figures: ', el('a', { href: 'status' }, 'status as JSON'), command(`curl ${location.origin}/status`));
  const view = { node: el('div', {}, summary.node, holder, empty, none, below, raw) };
  let chart = null;

  const showChart = (k, history) => {
    if (chart && idOf(chart.key) === idOf(k) && chart.range === model.range) return;
    if (chart) chart.close();
    chart = makeChart(k, model.range);
    chartPanel.replaceChildren(el('header', {}, el('h2', {}, el('a', { href: linkOf(k) }, nameOf(k))), el('span', { class: 'quiet' }, `last ${RANGES[model.range].label}`)), chart.figure);
    chart.start(history);
  };

  const updateBelow = (keys) => {
    const shown = keys.find((k) => idOf(k) === model.chosen) || (chart && keys.find((k) => idOf(k) === idOf(chart.key))) || keys[0];
    const isFirst = !chart;
    if (shown) showChart(shown, isFirst ? boot.history : null);
    if (chart && !(isFirst && boot.history)) chart.update();
    events.update();
  };

  view.update = () => {
    const keys = keysShown();
    const known = model.status.keys.length;
    summary.update(model.status);
    setClass(view.node, known ? '' : 'is-empty');
    setHidden(summary.node, !known && !model.status.note && !model.status.paused);
    setHidden(holder, keys.length === 0);
    setHidden(empty, known > 0);
    setHidden(none, keys.length > 0 || known === 0);
    setHidden(raw, known === 0);
    setHidden(below, known === 0 && model.events.length === 0);
    setHidden(chartPanel, known === 0);
    table.update(keys, () => updateBelow(keysShown()));
  };
  view.step = () => table.step();
  view.dim = () => summary.update(model.status);
  view.redraw = () => chart && chart.redraw();
  view.refresh = () => chart && chart.forget();
  view.close = () => {
    table.close();
    if (chart) chart.close();
  };
  view.links = table.links;
  return view;
};
