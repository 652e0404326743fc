/* overview.js - is anything wrong, where, why, until when; then how it went. */

const summaryOf = (status) => {
  const counts = {};
  status.keys.forEach((k) => { counts[k.state] = (counts[k.state] || 0) + 1; });
  const sent = status.keys.reduce((sum, k) => sum + k.rate_per_s, 0);
  const refused = status.keys.reduce((sum, k) => sum + (k.throttled || 0), 0);
  const parts = Object.keys(STATES).filter((s) => counts[s]).map((s) => [s, `${counts[s]} ${s}`]);
  const figures = [[status.queue.active_tasks, 'in flight'], [status.queue.length, 'queued']];
  return [...parts, ['', `${rate(sent)}/s sent`],
    ...figures.map(([n, what]) => [n ? '' : 'zero', `${count(n)} ${what}`]), [refused ? '' : 'zero', `429s ${count(refused)}`],
    ...(status.grade && status.grade !== 'healthy' ? [['warning', `overall ${status.grade}`]] : []),
    ...(status.paused ? [['holding', 'everything is paused']] : []),
    ...(status.note ? [['critical', status.note]] : [])];
};

const showSummary = (node, status) => {
  const parts = summaryOf(status);
  const text = parts.map(([, t]) => t).join('|');
  if (node.dataset.text === text) return;
  node.dataset.text = text;
  node.replaceChildren(...parts.map(([state, t]) => (STATES[state]
    ? el('span', { class: `state state-${state}` }, el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(state)), t)
    : el('span', { class: state }, t))));
};

const CELLS = [
  ['', nameOf], ['', null], ['rate', rateOf], ['left', leftOf], ['next', nextOf],
  ['queued', (k) => count(k.queued)], ['429s', (k) => count(k.throttled || 0)], ['', causeOf],
];

const makeRow = (k, choose) => {
  const cells = CELLS.map(([label]) => el('td', label ? { 'data-label': label } : {}));
  const link = el('a', { href: linkOf(k) });
  const row = el('tr', { onclick: (e) => e.target.closest('a') || choose(k) }, ...cells);
  const shape = el('span', { class: 'shape', 'aria-hidden': 'true' });
  const word = el('span');
  cells[0].append(link);
  cells[1].append(shape, word);
  cells[5].className = cells[6].className = 'number';
  cells[7].className = 'why';
  return { row, cells, link, shape, word };
};

const updateRow = (r, k) => {
  setText(r.link, nameOf(k));
  setAttr(r.link, 'href', linkOf(k));
  setText(r.shape, shapeOf(k.state));
  setText(r.word, ` ${k.state}`);
  setClass(r.cells[1], `state state-${k.state}`);
  CELLS.forEach(([, text], i) => text && i > 0 && setText(r.cells[i], text(k)));
  setClass(r.cells[6], k.throttled ? 'number' : 'number zero');
  setClass(r.cells[5], k.queued ? 'number' : 'number zero');
  setAttr(r.cells[7], 'title', k.why || '');
  setClass(r.row, idOf(k) === model.chosen ? 'is-chosen' : '');
};

const EMPTY_COMMAND = 'flyball fetch --submit urls.txt';

const makeOverview = (boot) => {
  const summary = el('p', { class: 'summary' });
  const body = el('tbody');
  const titles = [['provider/pool'], ['state'], ['rate / limit', 'sent a second now; the limit stated or, with ~, learned, and how sure that is'],
    ['left', 'of the quota that the server tells'], ['next start'], ['queued', '', 'number'], ['429s', 'refused for rate since the start', 'number'], ['why', 'what the next start waits for']];
  const table = el('table', { class: 'keys cards' }, el('caption', { class: 'unseen' }, 'Providers and pools, those that need attention first'),
    el('thead', {}, el('tr', {}, ...titles.map(([t, title, c]) => el('th', { scope: 'col', title: title || null, class: c || null }, t)))), body);
  const empty = el('div', { class: 'empty', hidden: true }, el('p', {}, 'No request yet. Try:'), el('code', {}, EMPTY_COMMAND));
  const none = el('p', { class: 'empty quiet', hidden: true }, 'No provider has this in its name.');
  const panel = el('section', { class: 'panel' });
  const events = makeEvents();
  const rows = new Map();
  const view = { node: el('div', {}, summary, table, empty, none, el('div', { class: 'grid' }, panel, events.node)) };
  let chart = null;

  const showChart = (k, history) => {
    if (chart && idOf(chart.key) === idOf(k) && chart.range === model.range) return;
    if (chart) chart.close();
    chart = makeChart(k, model.range);
    panel.replaceChildren(el('header', {}, el('h2', {}, el('a', { href: linkOf(k) }, nameOf(k))), el('span', { class: 'quiet' }, `last ${RANGES[model.range].label}`)), chart.figure);
    chart.start(history);
  };
  const choose = (k) => {
    model.chosen = idOf(k);
    view.update();
  };

  view.update = () => {
    const keys = keysShown();
    showSummary(summary, model.status);
    const wanted = new Set(keys.map(idOf));
    for (const [id, r] of rows) if (!wanted.has(id)) { r.row.remove(); rows.delete(id); }
    keys.forEach((k, i) => {
      if (!rows.has(idOf(k))) rows.set(idOf(k), makeRow(k, choose));
      const r = rows.get(idOf(k));
      updateRow(r, k);
      if (body.children[i] !== r.row) body.insertBefore(r.row, body.children[i] || null);
    });
    table.hidden = keys.length === 0;
    empty.hidden = model.status.keys.length > 0;
    none.hidden = keys.length > 0 || model.status.keys.length === 0;
    view.node.lastChild.hidden = model.status.keys.length === 0;
    const shown = keys.find((k) => idOf(k) === model.chosen) || (chart && keys.find((k) => idOf(k) === idOf(chart.key))) || keys[0];
    const isFirst = !chart;
    if (shown) showChart(shown, isFirst ? boot.history : null);
    if (chart && !(isFirst && boot.history)) chart.update();
    events.update();
  };
  view.step = () => keysShown().forEach((k) => rows.has(idOf(k)) && setText(rows.get(idOf(k)).cells[4], nextOf(k)));
  view.redraw = () => chart && chart.redraw();
  view.refresh = () => chart && chart.forget();
  view.close = () => chart && chart.close();
  view.links = () => [...body.querySelectorAll('a')];
  return view;
};
