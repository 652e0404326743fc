/*
 * freshness.js - what is watched: how old it is against what is wanted, who tells it, what of it
 * was told by whom.
 */

const ITEMS_ASKED = 500;
const ITEMS_SHOWN = 100;
const GRADE_STATES = { healthy: 'ok', degraded: 'warning', failing: 'critical', overloaded: 'warning', recovering: 'holding' };

const gradeState = (grade) => GRADE_STATES[grade] || 'warning';

/* The rings that the daemon keeps of it, as columns with their times; null: there is nothing yet. */
const freshOf = (history) => {
  const { p50_s: p50, p95_s: p95, grade, recoveries } = history.watch;
  if (!p95) return null;
  const t = p95.map((_, i) => history.end_s - (p95.length - 1 - i) * history.step_s);
  return { t, p50, p95, grade: grade.map((g) => (g == null ? null : history.grades[g])), recoveries };
};

/* Where the grade changed or something was recovered: when, what it is called, in which ink. */
const marksOf = (fresh) => fresh.t.flatMap((t, i) => {
  const isGrade = i > 0 && fresh.grade[i] && fresh.grade[i - 1] && fresh.grade[i] !== fresh.grade[i - 1];
  if (!isGrade && !fresh.recoveries[i]) return [];
  return [[t, isGrade ? fresh.grade[i] : 'recovery', `--${isGrade ? gradeState(fresh.grade[i]) : 'holding'}`]];
});

/* A line for each, and its name where there is room for it. */
const drawMarks = (u, fresh) => {
  let free = u.bbox.left;
  u.ctx.save();
  u.ctx.font = `${11 * devicePixelRatio}px ${LABEL_FONT}`;
  u.ctx.textAlign = 'left';
  u.ctx.textBaseline = 'alphabetic';
  marksOf(fresh).forEach(([t, name, ink]) => {
    const x = u.valToPos(t, 'x', true);
    const width = u.ctx.measureText(name).width + 8 * devicePixelRatio;
    const isRight = x + width > u.bbox.left + u.bbox.width; /* then it stands before its line */
    const from = isRight ? x - width : x;
    u.ctx.strokeStyle = u.ctx.fillStyle = token(ink);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    if (from < free) return;
    free = from + width;
    u.ctx.fillText(name, from + 4 * devicePixelRatio, u.bbox.top + 11 * devicePixelRatio);
  });
  u.ctx.restore();
};

/* Every sample has a grade, also while nothing is live: where there is none, nobody has measured. */
const ticksOf = (fresh) => ({ t: fresh.t, sent: fresh.grade });

const freshData = (fresh, c) => [fresh.t, bridge(fresh.t, fresh.p50), bridge(fresh.t, fresh.p95), fresh.t.map(() => c.aim_live_s), fresh.t.map(() => c.degraded_s)];
const agesOf = (fresh) => (fresh ? fresh.p95.map((v) => v || 0) : []);
const lastOfColumn = (column) => (column ? column.findLast((v) => v != null) : null);

const freshOptions = (width, config, chart) => {
  const axis = { font: `12px ${LABEL_FONT}`, stroke: token('--quiet'), grid: { stroke: token('--line'), width: 0.5 }, ticks: { show: false } };
  const bare = { points: { show: false } };
  return {
    width, height: PLOT_HEIGHT, legend: { show: false }, cursor: pointer,
    scales: {
      x: { range: (u, low, high) => windowOf(chart, low, high || Date.now() / 1000) },
      y: { range: () => [0, Math.max(...agesOf(chart.series), config.aim_live_s) * 1.25] },
    },
    axes: [{ ...axis, size: 26, space: 80, values: timesOf },
      { ...axis, size: 54, values: (u, ticks) => ticks.map((v) => (v < 60 ? `${v} s` : span(v))) }],
    series: [{}, { ...bare, stroke: token('--rate'), width: 1.5 }, { ...bare, stroke: token('--holding'), width: 1.5 },
      { ...bare, stroke: token('--ok'), width: 1, dash: [5, 4] }, { ...bare, stroke: token('--warning'), width: 1, dash: [5, 4] }],
    hooks: { setCursor: [(u) => chart.point(u.cursor.idx)], drawAxes: [(u) => chart.series && drawGaps(u, ticksOf(chart.series))],
      draw: [(u) => chart.series && drawMarks(u, chart.series)] },
  };
};

/* What each line is, and where it ends; the line of what is degraded may be above the picture. */
const ageAt = (column, at) => (at == null ? lastOfColumn(column) : column[at]);
const FRESH_LINES = [['', 'half are younger (p50)', (fresh, c, at) => ageAt(fresh && fresh.p50, at)], ['is-p95', '19 of 20 are younger (p95)', (fresh, c, at) => ageAt(fresh && fresh.p95, at)],
  ['is-aim', 'wanted', (fresh, c) => c.aim_live_s], ['is-degraded', 'degraded from', (fresh, c) => c.degraded_s]];

const makeFreshLegend = () => {
  const values = FRESH_LINES.map(() => el('b'));
  const when = el('span', { class: 'when' });
  const node = el('p', { class: 'legend', 'aria-hidden': 'true' }, ...FRESH_LINES.map(([css, name], i) => el('span', { class: css }, el('i'), `${name} `, values[i])), when);
  return { node, update: (fresh, c, at) => {
    FRESH_LINES.forEach(([, , of], i) => setText(values[i], of(fresh, c, at) == null ? '' : span(of(fresh, c, at))));
    setText(when, at == null ? '' : atText(fresh.t[at]));
  } };
};

const makeFreshChart = () => {
  const nothing = el('p', { class: 'nothing' }, 'no live item in this window');
  const holder = el('div', { class: 'plot', hidden: !HAS_PLOTS }, nothing);
  const caption = el('figcaption');
  const rows = el('tbody');
  const legend = makeFreshLegend();
  const figure = el('figure', { 'aria-label': 'Age of live items over time, against what is wanted' }, legend.node, holder, caption,
    behindChart(el('table', {}, el('caption', {}, 'Age of live items'), el('thead', {}, el('tr', {}, ...['time', 'p50', 'p95', 'grade', 'recoveries'].map((t) => el('th', { scope: 'col' }, t)))), rows)));
  const chart = { figure, plot: null, tabled: 0, range: '', series: null, busy: false, at: null, config: null };
  chart.point = (at) => {
    chart.at = chart.series && at != null && at < chart.series.t.length ? at : null;
    if (chart.config) legend.update(chart.series, chart.config, chart.at);
  };
  const fillRows = (fresh) => {
    if (Date.now() - chart.tabled < TABLED_MS) return;
    chart.tabled = Date.now();
    const every = Math.max(1, Math.ceil(fresh.t.length / TABLE_ROWS));
    fill(rows, ...fresh.t.map((t, i) => i).filter((i) => i % every === 0).slice(0, TABLE_ROWS).map((i) => el('tr', {},
      el('th', { scope: 'row' }, clock(new Date(fresh.t[i] * 1000))), el('td', {}, fresh.p50[i] == null ? '' : span(fresh.p50[i])), el('td', {}, fresh.p95[i] == null ? '' : span(fresh.p95[i])), el('td', {}, fresh.grade[i] || ''),
      el('td', {}, count(fresh.recoveries.slice(i, i + every).reduce((a, b) => a + (b || 0), 0))))));
  };
  const draw = (c) => {
    const fresh = chart.series;
    const known = fresh ? fresh.p95.filter((v) => v != null) : [];
    setText(caption, known.length ? `${labelOf(chart.range)}: p95 between ${span(Math.min(...known))} and ${span(Math.max(...known))}; wanted: ${span(c.aim_live_s)}.` : 'No live item yet.');
    chart.config = c;
    chart.point(chart.at);
    setHidden(nothing, known.length > 0);
    if (fresh) fillRows(fresh);
    if (!HAS_PLOTS || !holder.isConnected) return;
    const data = fresh ? freshData(fresh, c) : nothingOf(chart.range);
    if (!chart.plot) chart.plot = new uPlot(freshOptions(holder.clientWidth, c, chart), data, holder);
    else chart.plot.setData(data);
  };
  /* The whole ring at first, then what is new in it. */
  chart.update = async (w) => {
    if (chart.range !== model.range) {
      Object.assign(chart, { range: model.range, series: null, tabled: 0 });
      chart.redraw();
    }
    const { step, samples } = RANGES[chart.range];
    const last = chart.series ? chart.series.t[chart.series.t.length - 1] : 0;
    const behind = Date.now() / 1000 - last;
    if (chart.busy || behind < step) return;
    chart.busy = true;
    try {
      const answer = await fetch(`history?watch=1&step=${step}&samples=${last ? Math.min(samples, 2 + Math.ceil(behind / step)) : samples}`);
      const more = answer.ok ? freshOf(await answer.json()) : null;
      if (RANGES[model.range].step === step) chart.series = appendSeries(chart.series, more, samples);
    } catch { /* the stream says that the connection is lost */ }
    chart.busy = false;
    if (chart.range === model.range) draw(w.config);
  };
  const sizes = new ResizeObserver(() => { if (chart.plot && holder.clientWidth) chart.plot.setSize({ width: holder.clientWidth, height: PLOT_HEIGHT }); });
  sizes.observe(holder);
  chart.redraw = () => { if (chart.plot) chart.plot.destroy(); chart.plot = null; };
  chart.close = () => { sizes.disconnect(); chart.redraw(); };
  return chart;
};

/* ------------------------------------------------------------------------------------- tables */

const SOURCE_STATES = { ok: 'ok', demoted: 'warning', down: 'critical', disabled: 'idle', off: 'idle' };

const sourceRow = (s) => el('tr', { 'data-key': s.source },
  el('td', {}, el('strong', {}, s.source)), el('td', {}, stateOf(SOURCE_STATES[s.state] || 'warning', s.state)),
  el('td', { class: 'number', 'data-label': 'reliability' }, `${Math.round(s.reliability * 100)} %`),
  el('td', { class: 'number', 'data-label': 'precedence', title: `weight ${s.weight} × reliability` }, s.precedence.toFixed(1)),
  el('td', { class: 'number', 'data-label': 'latency' }, took(s.latency_s)),
  el('td', { class: s.failed ? 'number' : 'number zero', 'data-label': 'failed' }, `${count(s.failed)} of ${count(s.looks)}`),
  el('td', { class: 'number', 'data-label': 'active' }, `${count(s.active)} of ${count(s.concurrency)}`),
  el('td', { class: 'number', 'data-label': 'items' }, count(s.items)),
  el('td', { class: s.warnings ? 'number' : 'number zero', 'data-label': 'warnings' }, count(s.warnings)));

const SOURCE_TITLES = [['source', '', 'who is asked'], ['state'], ['reliability', 'number', 'how often it was right of late'], ['precedence', 'number', 'weight × reliability: the highest is believed'],
  ['latency', 'number', 'how long an answer takes'], ['failed', 'number', 'of all that was asked'], ['active', 'number', 'under way, of as many as may be'],
  ['items', 'number', 'that it knows'], ['warnings', 'number', 'where others contradict it']];

const itemLink = (id) => withRange(`#/i/${encode(id)}`);
const itemState = (i, c) => (i.paused_until ? 'holding' : i.age_s == null ? 'idle' : i.state !== 'live' ? (i.stale ? 'warning' : 'ok') : i.age_s > c.failing_s ? 'critical' : i.age_s > c.degraded_s || i.stale ? 'warning' : 'ok');
const itemWord = (i, state) => (i.paused_until ? 'paused' : i.age_s == null ? 'not yet' : { ok: 'fresh', warning: 'stale', critical: 'very stale' }[state] || state);

/* The age on a bar that ends where it is degraded, with a notch at what is wanted. */
const ageBar = (i, c) => {
  const wanted = c[`aim_${i.state}_s`] || c.aim_live_s;
  const most = i.state === 'live' ? c.degraded_s : wanted * 2;
  const fill = el('i');
  fill.style.width = `${(Math.min(1, (i.age_s || 0) / most) * 100).toFixed(1)}%`;
  const notch = el('b', { title: `wanted: ${span(wanted)}` });
  notch.style.left = `${((wanted / most) * 100).toFixed(1)}%`;
  const css = i.age_s > most ? 'bar is-out' : i.age_s > wanted ? 'bar is-low' : 'bar';
  return el('span', { class: css, role: 'img', 'aria-label': `${span(i.age_s || 0)} old, wanted: ${span(wanted)}` }, fill, notch);
};

const itemRow = (i, c) => {
  const state = itemState(i, c);
  return el('tr', { 'data-key': i.id }, el('td', {}, el('a', { href: itemLink(i.id) }, i.id)), el('td', {}, stateOf(state, itemWord(i, state))), el('td', {}, i.state),
    el('td', { class: 'items' }, ageBar(i, c), el('span', {}, i.age_s == null ? '-' : span(i.age_s))),
    el('td', { 'data-label': 'next' }, i.next_in_s == null ? '-' : i.next_in_s > 0 ? `in ${span(i.next_in_s)}` : 'now'), el('td', { class: 'why' }, i.why || ''),
    el('td', { class: i.failures ? 'number' : 'number zero', 'data-label': 'failures' }, count(i.failures || 0)));
};

const ITEM_TITLES = [['item'], ['state', '', 'its age against what is wanted'], ['urgency', '', 'live, imminent, or over'], ['age', '', 'since it was heard of last; the notch is what is wanted'],
  ['next', '', 'when somebody is asked again'], ['why', '', 'what made it be asked then'], ['failures', 'number', 'in a row']];

const warningRow = (w) => el('li', { 'data-key': w.text }, timeAt(w.last), el('span', { class: 'shape state-warning', 'aria-hidden': 'true' }, shapeOf('warning')),
  el('span', {}, w.text, w.count > 1 ? el('span', { class: 'quiet' }, ` ${count(w.count)} times`) : null));

/* --------------------------------------------------------------------------------------- view */

const freshFigures = (w) => Object.entries(w.freshness).map(([state, f]) => el('span', { class: f.items ? '' : 'zero' }, el('b', {}, count(f.items)), ` ${state}`,
  f.counted ? el('span', { class: 'quiet' }, ` p50 ${span(f.p50_s)}, p95 ${span(f.p95_s)}`) : null));

const makeFreshness = () => {
  const verdict = el('p', { class: 'verdict' });
  const totals = el('p', { class: 'figures' });
  const more = el('p', { class: 'figures' });
  const sources = el('div');
  const items = el('div');
  const warnings = el('div');
  const warned = panel('Warnings', warnings);
  const chart = makeFreshChart();
  const above = grid(panel('Age of live items', chart.figure), warned);
  const view = makePage('Freshness', verdict, el('div', { class: 'totals' }, totals, more),
    above, el('h3', {}, 'Sources'), sources, el('h3', {}, 'Items, the oldest first'), items);
  let isOpen = true;
  let timer = 0;
  let told = null; /* the last answer, and by what it was sifted */
  let by = '';

  const showItems = (answer, c) => {
    const wanted = model.filter.toLowerCase();
    told = answer;
    by = model.filter;
    const all = answer.items.filter((i) => i.id.toLowerCase().includes(wanted)).sort((a, b) => (a.state === 'live' ? 0 : 1) - (b.state === 'live' ? 0 : 1) || (b.age_s || 0) - (a.age_s || 0));
    const left = (wanted ? all.length : answer.total) - Math.min(all.length, ITEMS_SHOWN);
    fill(items, all.length ? tableOf(ITEM_TITLES, all.slice(0, ITEMS_SHOWN).map((i) => itemRow(i, c))) : el('p', { class: 'empty quiet' }, wanted ? 'No item has this in its name.' : 'Nothing is listed yet.'),
      left > 0 ? el('p', { class: 'quiet more' }, `${count(left)} more; all of them as `, el('a', { href: 'items' }, 'JSON')) : '');
  };
  const ask = async () => {
    if (!document.hidden && model.status.watch) {
      try {
        const answer = await fetch(`items?most=${ITEMS_ASKED}&fields=none`);
        if (answer.ok && isOpen) showItems(await answer.json(), model.status.watch.config);
      } catch { /* the stream says that the connection is lost */ }
    }
    if (isOpen) timer = setTimeout(ask, 2000);
  };
  view.update = () => {
    const w = model.status.watch;
    setClass(view.node, w ? 'is-page' : 'is-page is-empty');
    if (!w) { view.node.replaceChildren(emptyState('Nothing is watched', 'A "watch" section in the configuration says what is to be kept fresh, and who knows it.')); return; }
    showVerdict(verdict, gradeState(w.grade), `${w.grade}: ${w.grade_text || ''}`);
    fill(totals, ...freshFigures(w));
    fill(more, ...[[w.queue.length, 'queued'], [w.queue.active, 'active'], [w.paused, 'paused'], [w.recoveries, 'recoveries']].map(([n, what]) => el('span', { class: n ? '' : 'zero' }, el('b', {}, count(n)), ` ${what}`)),
      el('span', { class: w.cache.hit_ratio ? '' : 'zero' }, el('b', {}, percent(w.cache.hit_ratio || 0)), ' from the cache'));
    fill(sources, tableOf(SOURCE_TITLES, w.sources.map(sourceRow)));
    setHidden(warned, !(w.warnings && w.warnings.length)); /* where nobody contradicts anybody the chart has the room */
    setClass(above, warned.hidden ? 'grid is-one' : 'grid');
    fill(warnings, el('ol', { class: 'events', tabindex: '0', 'aria-label': 'Warnings' }, ...(w.warnings || []).map(warningRow)));
    chart.update(w);
    if (told && by !== model.filter) showItems(told, w.config);
  };
  view.redraw = () => { chart.redraw(); if (model.status.watch) chart.update(model.status.watch); };
  view.close = () => { isOpen = false; clearTimeout(timer); chart.close(); };
  view.links = () => [...items.querySelectorAll('a')];
  ask();
  return view;
};

/* ------------------------------------------------------------------------------------- an item */

const FIELD_TITLES = [['field'], ['value'], ['told by', '', 'the source that is believed'], ['asked', '', 'when it said so'], ['agree', '', 'who says the same'], ['disagree', '', 'who says what else']];

const fieldRow = (name, value, p = {}) => el('tr', {}, el('td', {}, el('code', {}, name)), el('td', {}, el('strong', {}, String(value))),
  el('td', { 'data-label': 'told by' }, p.source || ''), el('td', { 'data-label': 'asked' }, p.asked ? timeAt(p.asked) : ''),
  el('td', { class: 'quiet', 'data-label': 'agree' }, (p.agree || []).join(', ')),
  el('td', { class: Object.keys(p.disagree || {}).length ? 'state-warning' : '', 'data-label': 'disagree' }, Object.entries(p.disagree || {}).map(([who, what]) => `${who}: ${what}`).join(', ')));

/* What changed from one version to the next, the newest first. */
const deltasOf = (versions) => versions.map((v, n) => {
  const before = (versions[n + 1] || {}).fields;
  const names = Object.keys(v.fields).filter((name) => before && before[name] !== v.fields[name]);
  const text = before ? names.map((name) => `${name} ${before[name] ?? '-'} → ${v.fields[name]}`).join(', ') || 'nothing that is shown' : 'the oldest that is kept';
  return el('li', { 'data-key': v.seq }, timeAt(v.at), el('span', { class: 'quiet' }, `${v.seq}`), el('span', {}, text));
});

const lookRow = (s) => el('tr', { 'data-key': s.source }, el('td', {}, el('strong', {}, s.source)), el('td', { 'data-label': 'its id' }, s.source_id || '-'),
  el('td', {}, stateOf(s.stale ? 'warning' : s.failures ? 'critical' : 'ok', s.stale ? 'stale' : s.failures ? 'failing' : 'fresh')),
  el('td', { 'data-label': 'heard' }, s.fresh ? timeAt(s.fresh) : 'never'), el('td', { 'data-label': 'next' }, s.next_in_s > 0 ? `in ${span(s.next_in_s)}` : s.next ? 'now' : '-'),
  el('td', { class: 'why' }, [s.why, s.failure].filter(Boolean).join(', ')));

const makeItem = (id) => {
  const holder = el('div', {}, el('p', { class: 'quiet' }, 'Asking …'));
  const view = makePage(id, holder);
  let isOpen = true;
  let timer = 0;
  view.node.prepend(el('p', { class: 'back' }, el('a', { href: withRange('#/freshness') }, '‹ all items')));
  const show = (item, history) => {
    const c = (model.status.watch || {}).config || {};
    const state = itemState(item, c);
    fill(holder,
      showVerdict(el('p'), state, `${item.state}, ${item.age_s == null ? 'not heard of yet' : `${span(item.age_s)} old`}. `
        + `Next ${item.next_in_s == null ? 'never' : item.next_in_s > 0 ? `in ${span(item.next_in_s)}` : 'now'}${item.next_source ? ` from ${item.next_source}` : ''}: ${item.why_text || item.why || ''}.`),
      el('h3', {}, `What is known, version ${item.seq}`), tableOf(FIELD_TITLES, Object.entries(item.fields).map(([name, value]) => fieldRow(name, value, item.provenance[name]))),
      grid(panel('Sources', el('table', { class: 'cards' }, el('thead', {}, el('tr', {}, ...['source', 'its id', 'state', 'heard', 'next', 'why'].map((t) => el('th', { scope: 'col' }, t)))), el('tbody', {}, ...item.sources.map(lookRow)))),
        panel('Last changes', el('ol', { class: 'events', tabindex: '0', 'aria-label': 'Last changes' }, ...deltasOf(history.versions)))));
  };
  const ask = async () => {
    if (!document.hidden) {
      try {
        const answers = await Promise.all([fetch(`items/${encode(id)}`), fetch(`items/${encode(id)}/history`)]);
        if (answers.every((a) => a.ok) && isOpen) show(...await Promise.all(answers.map((a) => a.json())));
        else if (isOpen) fill(holder, emptyState('There is no such item now'));
      } catch { /* the stream says that the connection is lost */ }
    }
    if (isOpen) timer = setTimeout(ask, 2000);
  };
  view.close = () => { isOpen = false; clearTimeout(timer); };
  ask();
  return view;
};
