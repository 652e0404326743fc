/* table.js - the table of providers and pools: one row each, kept from second to second. */

/* A column: its title, a hint, a class, what a phone calls it, and how its cell is made. */
const text = (of) => (cell) => ({ update: (k) => setText(cell, of(k)) });

const nameCell = (cell) => {
  const link = el('a');
  cell.append(link);
  return { link, update: (k) => { setText(link, nameOf(k)); setAttr(link, 'href', linkOf(k)); setAttr(link, 'title', nameOf(k)); } };
};

const stateCell = (cell) => {
  const shape = el('span', { class: 'shape', 'aria-hidden': 'true' });
  const word = el('span');
  cell.append(shape, word);
  return { update: (k) => {
    setText(shape, shapeOf(k.state));
    setText(word, ` ${k.state}`);
    setClass(cell, `state state-${k.state}`);
    setAttr(cell, 'title', (STATES[k.state] || STATES.idle).means);
  } };
};

const sparkCell = (cell) => {
  const spark = makeSpark();
  cell.append(spark.node);
  return { update: (k) => spark.update(model.sparks.get(idOf(k)) || [], k.limit_per_s) };
};

const rateCell = (cell) => {
  const figures = el('span');
  const sure = el('span', { class: 'quiet sure', title: 'how sure a learned limit is, or what else binds' });
  cell.append(figures, sure);
  return { update: (k) => {
    setText(figures, rateOf(k));
    setText(sure, sureOf(k));
    setClass(sure, k.limit_by === 'learned' && !k.limit_told ? 'quiet sure is-guess' : 'quiet sure');
    setAttr(cell, 'title', `${rateOf(k)} ${sureOf(k)}`.trim());
  } };
};

const leftCell = (cell) => {
  const bar = makeQuotaBar();
  const figures = el('span', { class: 'left-figures' });
  const reset = el('span', { class: 'quiet reset' });
  cell.append(el('div', {}, bar.node, figures, reset));
  return { update: (k) => {
    const of = boundOf(k);
    bar.update(of, levelOf(k, of));
    setText(figures, leftOf(k));
    setAttr(figures, 'title', leftOf(k));
    setClass(cell, of ? 'left' : leftOf(k) ? 'left is-words' : 'left is-none');
    const at = of && of.reset_in_s != null ? Math.max(0, fromNow(of.reset_in_s)) : null;
    setText(reset, at == null ? '' : `${of === k.window ? 'one more' : 'resets'} in ${span(at, 1)}`);
    setAttr(reset, 'title', of && of.reset ? `${reset.textContent}, at ${moment(new Date(of.reset))}` : reset.textContent);
  } };
};

const numberCell = (of) => (cell) => ({ update: (k) => {
  setText(cell, count(of(k)));
  setAttr(cell, 'title', of(k) < 100000 ? '' : count(of(k))); /* it may be cut off */
  setClass(cell, of(k) ? 'number' : 'number zero');
} });

const whyCell = (cell) => ({ update: (k) => {
  setText(cell, causeOf(k));
  setAttr(cell, 'title', reasonOf(k));
} });

const nextCell = (cell) => ({ update: (k) => {
  const next = nextOf(k);
  setText(cell, next);
  setAttr(cell, 'title', next.startsWith('in ') ? `at ${moment(new Date(k.next_start))}` : '');
  setClass(cell, next === '-' ? 'next is-none' : 'next');
} });

const LIVE_COLUMNS = [
  { title: 'provider/pool', hint: 'who is asked, and which of its budgets that takes', css: 'name', make: nameCell },
  { title: 'state', hint: 'those that need attention come first', css: 'state', make: stateCell },
  { title: 'last minute', hint: 'sent a second, against the limit', css: 'trend', make: sparkCell },
  { title: 'rate / limit', hint: 'sent a second now; the tightest of what is stated, learned (~, and how sure that is), or left of a window or quota', css: 'rate', label: 'rate', make: rateCell },
  { title: 'left', hint: 'of the quota that the server tells, or of the window that is full', css: 'left', make: leftCell },
  { title: 'next start', hint: 'when the next request may leave', css: 'next', make: nextCell, isTicking: true },
  { title: 'queued', hint: 'what waits for its turn', css: 'number', label: 'queued', make: numberCell((k) => k.queued) },
  { title: '429s', hint: 'refused for rate since the start', css: 'number', label: '429s', make: numberCell((k) => k.throttled || 0) },
  { title: 'why', hint: 'what the next start waits for', css: 'why', make: whyCell },
];

const RUN_COLUMNS = [
  { title: 'provider/pool', hint: 'who was asked, and which of its budgets that took', css: 'name', make: nameCell },
  { title: 'sent', hint: 'requests, with those that were sent again', css: 'number', label: 'sent', make: numberCell((k) => k.requests || 0) },
  { title: '429s', hint: 'refused for rate', css: 'number', label: '429s', make: numberCell((k) => k.throttled || 0) },
  { title: 'mean rate / limit', hint: 'over the whole run; the limit at its end', css: 'rate', label: 'rate', make: rateCell },
  { title: 'left at the end', hint: 'of the quota that the server told, or of a window', css: 'left', make: leftCell },
  { title: 'waited for at the end', hint: 'what was not done waited for this', css: 'why', make: text((k) => (k.may_start || !(k.queued + k.in_flight) ? '' : whyOf(k) || k.cause || '')) },
];

/*
 * Many rows at once make a long frame, in which the page does not answer. So a dozen are shown at
 * once and the others in the frames after it: first those that matter most, then those that have
 * waited longest; then what else is on the page.
 */
const ROWS_A_FRAME = 12;
const MOVED = 4; /* rows cost as much as one that goes elsewhere */

const inTurns = (show, isElsewhere, arrangeShown) => {
  let due = new Set();
  let isRestDue = false;
  let frame = 0;
  const turn = () => {
    let room = ROWS_A_FRAME;
    for (const r of due) {
      room -= isElsewhere(r) ? MOVED : 1;
      if (room < 0) break;
      due.delete(r);
      show(r);
    }
    arrangeShown(due.size > 0);
  };
  const wait = (what) => { frame = requestAnimationFrame(what); };
  const goOn = (rest) => {
    isRestDue = due.size > 0;
    if (!isRestDue) {
      rest();
      return;
    }
    turn();
    wait(() => goOn(rest));
  };
  const stop = () => cancelAnimationFrame(frame);
  const begin = (first, all, rest) => {
    stop();
    if (isRestDue) rest(); /* its turn has not come yet */
    const there = new Set(all);
    due = new Set([...first, ...[...due].filter((r) => there.has(r)), ...all]);
    turn();
    isRestDue = due.size > 0;
    if (isRestDue) wait(() => wait(() => goOn(rest))); /* the next frame has its dozen */
    else rest();
  };
  return { begin, stop };
};

const makeKeysTable = (columns, choose) => {
  const body = el('tbody');
  const rows = new Map();
  const head = columns.map((c) => el('th', { scope: 'col', class: c.css, title: c.hint || null }, c.title));
  const node = el('table', { class: 'keys cards' }, el('caption', { class: 'unseen' }, 'Providers and pools, those that need attention first'),
    el('thead', {}, el('tr', {}, ...head)), body);

  const makeRow = (k) => {
    const cells = columns.map((c) => el('td', { class: c.css, 'data-label': c.label || null }));
    const parts = columns.map((c, i) => c.make(cells[i]));
    const row = el('tr', { onclick: (e) => e.target.closest('a') || choose(r.key) }, ...cells);
    const r = { row, parts, key: k, shown: null, link: parts[0].link };
    return r;
  };
  const isElsewhere = (r) => !r.shown || r.shown.state !== r.key.state;
  const classOf = (r) => (idOf(r.key) === model.chosen ? `row-${r.key.state} is-chosen` : `row-${r.key.state}`);
  let isMoved = false;
  const show = (r) => {
    isMoved ||= isElsewhere(r);
    r.shown = r.key;
    r.parts.forEach((p) => p.update(r.key));
    setClass(r.row, classOf(r));
  };
  /* In the order of what they say, which may be that of a moment ago. */
  const arrangeShown = (isBusy) => {
    setAttr(node, 'aria-busy', String(isBusy));
    if (!isMoved) return;
    isMoved = false;
    arrange(body, [...rows.values()].sort((a, b) => byNeed(a.shown, b.shown)).map((r) => r.row));
  };
  const turns = inTurns(show, isElsewhere, arrangeShown);
  const drop = (wanted) => {
    for (const id of rows.keys()) if (!wanted.has(id)) isMoved = rows.delete(id);
  };
  const update = (keys, rest = () => {}) => {
    drop(new Set(keys.map(idOf)));
    const wanted = keys.map((k) => {
      if (!rows.has(idOf(k))) rows.set(idOf(k), makeRow(k));
      return Object.assign(rows.get(idOf(k)), { key: k });
    });
    wanted.filter((r) => !r.shown).forEach(show); /* a table is there at once */
    turns.begin(wanted.filter((r) => r.row.className !== classOf(r)), wanted.filter((r) => r.shown !== r.key), rest);
  };
  /* Between two statuses only countdowns move. */
  const step = () => rows.forEach((r) => columns.forEach((c, i) => c.isTicking && r.parts[i].update(r.key)));
  return { node, update, step, close: turns.stop, links: () => [...rows.values()].sort((a, b) => byNeed(a.shown, b.shown)).map((r) => r.link) };
};
