/*
 * chart.js - sent rate against the limit, refusals as crosses on the same axis.
 *
 * The figures come from /history, and are brought up to date with its latest samples. Behind every
 * chart is a sentence and a table for those who cannot see it.
 */

const HAS_PLOTS = typeof uPlot !== 'undefined'; /* not where it was built without npm */
const TABLE_ROWS = 60;
const TABLED_MS = HAS_PLOTS ? 10000 : 2000; /* the table behind a plot may be older */
const SHOWN_MIN_S = 30;
const BRIDGED_S = 3;
const CLIP = 1.5; /* times what is usually sent or may be sent */
const USUAL = 0.98; /* of the seconds in which something was sent, */
const USUAL_MIN = 30; /* if there are that many */
const EDGE = 34; /* pixels beside which a label has no room */
const GAP_NAMED = 54; /* pixels that "no data" needs */
const PLOT_HEIGHT = 250;
const LABEL_FONT = 'sans-serif'; /* system-ui is searched for anew with every label */

/* A colour by its name, as it is seen: where the system has colours of its own, one of these. */
const inkWell = el('i', { class: 'ink', hidden: true });
const inks = new Map(); /* emptied when the theme changes */
const token = (name) => {
  if (!inks.has(name)) {
    if (!inkWell.isConnected) document.body.append(inkWell);
    inkWell.style.color = `var(${name})`;
    inks.set(name, getComputedStyle(inkWell).color);
  }
  return inks.get(name);
};
const thin = (color) => color.replace(/^rgb\((.*)\)$/, 'rgba($1, .13)');

/* A run ends whenever it ends: a last sample of a moment says nothing of a pace, and is of the one before. */
const MOMENT = 0.2; /* of a sample */
const endWhole = (found, { ends_s: ends, spans_s: spans }) => {
  const n = ends.length;
  if (n < 2 || spans[n - 1] >= spans[n - 2] * MOMENT) return [found, ends, spans];
  const both = (column) => [...column.slice(0, n - 2), (column[n - 2] || 0) + (column[n - 1] || 0)];
  const last = (column) => column && [...column.slice(0, n - 2), column[n - 1] ?? column[n - 2]];
  return [{ ...found, sent: both(found.sent), throttled: both(found.throttled), limit: last(found.limit), confidence: last(found.confidence) }, last(ends), both(spans)];
};

/* The columns of one key out of an answer of /history, with their times. */
const seriesOf = (history, key) => {
  const told = history.series.find((s) => s.provider === key.provider && s.pool === key.pool);
  if (!told) return null;
  const [found, ends, spans] = history.ends_s ? endWhole(told, history) : [told];
  const n = found.sent.length;
  const t = ends || found.sent.map((_, i) => history.end_s - (n - 1 - i) * history.step_s);
  const perSecond = found.sent.map((v, i) => (v == null ? null : v / (spans ? spans[i] : history.step_s)));
  return { t, sent: perSecond, limit: found.limit, confidence: found.confidence || found.sent.map(() => null), throttled: found.throttled };
};

/* `more` behind `kept`, without doubles and without what is too old. */
const appendSeries = (kept, more, most) => {
  if (!kept || !more) return more || kept;
  const last = kept.t[kept.t.length - 1];
  const from = more.t.findIndex((t) => t > last);
  if (from < 0) return kept;
  for (const column of Object.keys(kept)) {
    kept[column].push(...more[column].slice(from));
    if (kept[column].length > most) kept[column].splice(0, kept[column].length - most);
  }
  return kept;
};

const drawRefusals = (u, throttled) => {
  const size = 4 * devicePixelRatio;
  u.ctx.save();
  u.ctx.strokeStyle = token('--critical');
  u.ctx.lineWidth = 2 * devicePixelRatio;
  u.ctx.beginPath();
  throttled.forEach((n, i) => {
    if (!n) return;
    const x = u.valToPos(u.data[0][i], 'x', true);
    const y = Math.max(u.bbox.top + size, u.valToPos(u.data[1][i] || 0, 'y', true));
    u.ctx.moveTo(x - size, y - size); u.ctx.lineTo(x + size, y + size);
    u.ctx.moveTo(x - size, y + size); u.ctx.lineTo(x + size, y - size);
  });
  u.ctx.stroke();
  u.ctx.restore();
};

/* The less sure, the wider. */
const bandOf = (limit, series, sign) => limit.map((l, i) =>
  (l == null ? l : l * (1 + sign * (1 - (series.confidence[i] ?? 1)) / 4)));

/* Where nothing is known between two samples, as [first, last] of what is missing. */
const holesOf = (column) => {
  const holes = [];
  let from = column.findIndex((v) => v != null);
  for (let i = from + 1; from >= 0 && i < column.length; i++) {
    if (column[i] == null) continue;
    if (i > from + 1) holes.push([from + 1, i - 1]);
    from = i;
  }
  return holes;
};

const isShort = (t, [from, to]) => t[to + 1] - t[from - 1] <= BRIDGED_S + 1;

/* A second or three that were missed are drawn over (undefined is that to uPlot); more is a gap. */
const bridge = (t, column) => {
  const drawn = [...column];
  holesOf(column).filter((hole) => isShort(t, hole)).forEach(([from, to]) => drawn.fill(undefined, from, to + 1));
  return drawn;
};

const dataOf = (s) => {
  const limit = bridge(s.t, s.limit);
  return [s.t, bridge(s.t, s.sent), limit, bandOf(limit, s, 1), bandOf(limit, s, -1)];
};

/* A gap is shown as one: shaded, and with its name where there is room for it. */
const drawGaps = (u, s) => {
  u.ctx.save();
  u.ctx.font = `${11 * devicePixelRatio}px ${LABEL_FONT}`;
  u.ctx.textAlign = 'center';
  holesOf(s.sent).filter((hole) => !isShort(s.t, hole)).forEach(([from, to]) => {
    const x = u.valToPos(s.t[from - 1], 'x', true);
    const width = u.valToPos(s.t[to + 1], 'x', true) - x;
    u.ctx.fillStyle = token('--row');
    u.ctx.fillRect(x, u.bbox.top, width, u.bbox.height);
    u.ctx.fillStyle = token('--quiet');
    if (width > GAP_NAMED * devicePixelRatio) u.ctx.fillText('no data', x + width / 2, u.bbox.top + u.bbox.height / 2);
  });
  u.ctx.restore();
};

/* Nothing happened: axes all the same. */
const nothingOf = (range) => {
  const now = Date.now() / 1000;
  const t = range === 'run' ? [now - 60, now] : [now - RANGES[range].step * RANGES[range].samples, now];
  return [t, ...[0, 1, 2, 3].map(() => [null, null])];
};

/*
 * Live charts end now. They are as long as their range, but where there is less to show they begin
 * with it, down to half a minute; that of a run is as long as the run.
 */
const windowOf = (chart, low, high) => {
  if (chart.range === 'run') return [low, Math.max(high, low + 1)];
  const full = RANGES[chart.range].step * RANGES[chart.range].samples;
  const { t = [], sent = t } = chart.series || {};
  const first = t[sent.findIndex((v) => v != null)] ?? low ?? high;
  return [Math.max(high - full, Math.min(first, high - SHOWN_MIN_S)), high];
};

/* What nearly all is below: a burst of a second must not flatten the quarter of an hour after it. */
const usualOf = (sent) => {
  const some = sent.filter((v) => v > 0).sort((a, b) => a - b);
  return some.length < USUAL_MIN ? some[some.length - 1] || 0 : some[Math.floor(some.length * USUAL)];
};

/* As high as what is usually sent and the limit of now: a burst, or the search at the start, may leave it at the top. */
const heightOf = (chart, high) => {
  const s = chart.series;
  const most = s ? Math.max(usualOf(s.sent), s.limit[s.limit.length - 1] || 0) : 0;
  return Math.max(most > 0 ? Math.min(high * 1.15, most * CLIP) : high * 1.15, 1);
};

/* Where it left the picture, how high it went: the highest of what is near. */
const peaksOf = (s, top) => {
  const peaks = [];
  s.sent.forEach((v, i) => {
    if (!(v > top)) return;
    const last = peaks[peaks.length - 1];
    if (!last || i - last.end > 1) peaks.push({ at: i, end: i });
    else Object.assign(last, { at: v > s.sent[last.at] ? i : last.at, end: i });
  });
  return peaks.map(({ at }) => [s.t[at], s.sent[at]]);
};

const drawPeaks = (u, s) => {
  u.ctx.save();
  u.ctx.font = `${11 * devicePixelRatio}px ${LABEL_FONT}`;
  u.ctx.fillStyle = token('--rate');
  u.ctx.textAlign = 'left';
  u.ctx.textBaseline = 'alphabetic';
  let free = u.bbox.left;
  peaksOf(s, u.scales.y.max).forEach(([t, v]) => {
    const text = `↑ ${rate(v)}`;
    const width = u.ctx.measureText(text).width;
    const x = Math.min(u.valToPos(t, 'x', true) + 4 * devicePixelRatio, u.bbox.left + u.bbox.width - width);
    if (x < free) return;
    free = x + width;
    u.ctx.fillText(text, x, u.bbox.top + 11 * devicePixelRatio);
  });
  u.ctx.restore();
};

/* Labels at the very edges would run into those of the other axis, or out of the picture. */
const timesOf = (u, ticks) => {
  const { min, max } = u.scales.x;
  const edge = ((max - min) * EDGE) / Math.max(u.width - 2 * EDGE, 1);
  return ticks.map((t) => (t < min + edge || t > max - edge / 2 ? '' : clock(new Date(t * 1000)).slice(0, ticks[1] - ticks[0] < 60 ? 8 : 5)));
};

const labelOf = (range) => (range === 'run' ? 'The run' : `Last ${RANGES[range].label}`);

const plotOptions = (width, chart) => {
  const axis = { font: `12px ${LABEL_FONT}`, stroke: token('--quiet'), grid: { stroke: token('--line'), width: 0.5 }, ticks: { show: false } };
  const hidden = { stroke: 'transparent', points: { show: false } };
  return {
    width,
    height: PLOT_HEIGHT,
    legend: { show: false },
    cursor: pointer,
    scales: {
      x: { range: (u, low, high) => windowOf(chart, low, high || Date.now() / 1000) },
      y: { range: (u, low, high) => [0, heightOf(chart, high)] },
    },
    axes: [{ ...axis, size: 26, space: 70, values: timesOf }, { ...axis, size: 44 }],
    series: [
      {},
      { stroke: token('--rate'), width: 1.5, points: { show: false } },
      { stroke: token('--limit'), width: 1.5, dash: [5, 4], points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) },
      hidden,
      hidden,
    ],
    bands: [{ series: [3, 4], fill: thin(token('--limit')) }],
    hooks: { setCursor: [(u) => chart.point(u.cursor.idx)], drawAxes: [(u) => chart.series && drawGaps(u, chart.series)], draw: [(u) => {
      if (!chart.series) return;
      drawPeaks(u, chart.series);
      drawRefusals(u, chart.series.throttled);
    }] },
  };
};

const mean = (values) => {
  const known = values.filter((v) => v != null);
  return known.length ? known.reduce((a, b) => a + b, 0) / known.length : 0;
};

/* A run has a mean of its own, in the table as well; its last sample is shorter than the others. */
const sentenceOf = (s, range, key) => {
  if (!s || !s.t.length) return range === 'run' ? 'No requests were sent.' : `No requests in the last ${RANGES[range].label}.`;
  const refused = s.throttled.reduce((a, b) => a + (b || 0), 0);
  const limit = s.limit[s.limit.length - 1];
  const average = range === 'run' ? key.rate_per_s || 0 : mean(s.sent);
  return `${labelOf(range)}: ${rate(average)}/s on average, ${rate(s.sent[s.sent.length - 1] || 0)}/s at the end`
    + `${limit ? `, limit ${rate(limit)}/s` : ''}, refused ${count(refused)} ${refused === 1 ? 'time' : 'times'}.`;
};

/* Every n-th sample, at most TABLE_ROWS of them, and the same ones next time: few rows change. */
const fillTable = (body, s) => {
  const step = s.t.length > 1 ? s.t[1] - s.t[0] : 1;
  const every = Math.max(1, Math.ceil(s.t.length / TABLE_ROWS));
  const rows = [];
  for (let i = s.t.length - 1; i >= 0 && rows.length < TABLE_ROWS; i--) {
    if (Math.floor(s.t[i] / step) % every) continue;
    rows.push(el('tr', { 'data-key': s.t[i] }, el('th', { scope: 'row' }, clock(new Date(s.t[i] * 1000))),
      el('td', {}, rate(s.sent[i] || 0)), el('td', {}, s.limit[i] == null ? '' : rate(s.limit[i])),
      el('td', {}, String(s.throttled[i] || 0))));
  }
  fill(body, ...rows);
};

/* A table is behind every chart; it is seen where there is nothing to draw charts with. */
const behindChart = (table) => (HAS_PLOTS ? el('div', { class: 'unseen' }, table)
  : el('div', { class: 'instead', tabindex: '0', role: 'region', 'aria-label': table.caption.textContent }, table));

/* What is pointed at is said in the legend; nothing else moves, and a finger still scrolls the page. */
const pointer = { show: true, y: false, points: { show: false }, drag: { setScale: false, x: false, y: false } };
const atText = (t) => `at ${moment(new Date(t * 1000))}`;

/* What each line is, and where it ends, or how it was at `at`. */
const makeLegend = () => {
  const values = [el('b'), el('b'), el('b')];
  const when = el('span', { class: 'when' });
  const limitName = el('span');
  const node = el('p', { class: 'legend', 'aria-hidden': 'true' },
    el('span', {}, el('i'), 'sent/s ', values[0]),
    el('span', { class: 'is-limit' }, el('i'), limitName, ' ', values[1]),
    el('span', { class: 'is-refusal' }, el('i', {}, '×'), ' refused (429) ', values[2]), when);
  const update = (s, at) => {
    const i = s ? at ?? s.sent.length - 1 : 0;
    const limit = s && s.limit[i];
    const sure = at == null || s.confidence[i] == null ? '' : `, ${Math.round(s.confidence[i] * 100)} %`;
    setText(values[0], s && s.sent.length ? (at != null && s.sent[i] == null ? 'no data' : rate(s.sent[i] || 0)) : '');
    setText(limitName, limit ? 'limit, and how sure it is' : 'limit not known');
    setText(values[1], limit ? `${rate(limit)}${sure}` : '');
    setText(values[2], s ? count(at == null ? s.throttled.reduce((a, b) => a + (b || 0), 0) : s.throttled[i] || 0) : '');
    setText(when, at == null ? '' : atText(s.t[i]));
  };
  return { node, update };
};

/* A chart of one key; `update` brings it up to date, `close` frees it. */
const makeChart = (key, range) => {
  const chart = { key, range, series: null, plot: null, tabled: 0, busy: false, isAhead: false };
  const holder = el('div', { class: 'plot', hidden: !HAS_PLOTS });
  const legend = makeLegend();
  const nothing = el('p', { class: 'nothing' }, 'no requests in this window');
  const caption = el('figcaption');
  const rows = el('tbody');
  const table = el('table', {}, el('caption', {}, `${nameOf(key)}: sent and limit`),
    el('thead', {}, el('tr', {}, ...['time', 'sent/s', 'limit/s', 'refused'].map((t) => el('th', { scope: 'col' }, t)))), rows);
  const behind = behindChart(table);
  chart.figure = el('figure', { 'aria-label': `${nameOf(key)}: requests sent a second against the limit` },
    legend.node, holder, caption, behind);
  holder.append(nothing);

  /* Which sample is pointed at; what follows the mouse out of the picture is none. */
  chart.at = null;
  chart.point = (at) => {
    chart.at = chart.series && at != null && at < chart.series.t.length ? at : null;
    legend.update(chart.series, chart.at);
  };

  const plot = whereSeen(holder, () => {
    if (!holder.isConnected) return;
    const data = chart.series && chart.series.t.length ? dataOf(chart.series) : nothingOf(chart.range);
    if (!chart.plot) chart.plot = new uPlot(plotOptions(holder.clientWidth, chart), data, holder);
    else chart.plot.setData(data);
  });

  const draw = () => {
    const s = chart.series;
    chart.isAhead = false;
    const some = s && s.t.length > 0;
    setHidden(nothing, Boolean(some) && s.sent.some((v) => v > 0));
    setText(caption, sentenceOf(s, chart.range, chart.key));
    chart.point(chart.at);
    if (some && Date.now() - chart.tabled > TABLED_MS) {
      chart.tabled = Date.now();
      fillTable(rows, s);
    }
    if (HAS_PLOTS) plot();
  };

  /* How many samples to ask for: the whole ring at first, then what is new in it; none, if nothing can be. */
  const wantedOf = ({ step, samples }) => {
    if (chart.isCoarse || !chart.series || !chart.series.t.length) return samples;
    const missing = Math.floor((Date.now() / 1000 - chart.series.t[chart.series.t.length - 1]) / step);
    return missing < 1 ? 0 : Math.min(samples, 3 + missing);
  };

  const ask = async (wanted) => {
    const { step, samples } = RANGES[chart.range];
    const answer = await fetch(`history?step=${step}&samples=${wanted}&provider=${encode(key.provider)}&pool=${encode(key.pool)}`);
    if (!answer.ok) return;
    chart.series = appendSeries(chart.isCoarse ? null : chart.series, seriesOf(await answer.json(), key), samples);
    if (chart.isCoarse) chart.tabled = 0;
    chart.isCoarse = false;
  };

  /* A sample more is drawn together with the next status: twice a second all would be laid out twice. */
  chart.update = async () => {
    if (model.isFrozen) return;
    if (chart.isAhead) draw();
    const wanted = wantedOf(RANGES[chart.range]);
    if (chart.busy || !wanted) return;
    const isWhole = wanted === RANGES[chart.range].samples;
    chart.busy = true;
    try { await ask(wanted); } catch { /* the stream says that the connection is lost */ }
    chart.busy = false;
    if (isWhole) draw(); else chart.isAhead = true;
  };
  chart.forget = () => { chart.series = null; };
  /* What came with the page is shown until there is time to ask for more. */
  chart.start = (history) => {
    chart.series = history ? seriesOf(history, key) : null;
    chart.isCoarse = Boolean(chart.series);
    draw();
  };
  chart.redraw = () => {
    if (chart.plot) chart.plot.destroy();
    chart.plot = null;
    draw();
  };
  const sizes = new ResizeObserver(() => {
    if (chart.plot && holder.clientWidth) chart.plot.setSize({ width: holder.clientWidth, height: PLOT_HEIGHT });
  });
  sizes.observe(holder);
  chart.close = () => {
    sizes.disconnect();
    if (chart.plot) chart.plot.destroy();
  };
  return chart;
};
