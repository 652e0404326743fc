/* events.js - what happened, in sentences, newest first; a pause lets one read. */

const FOLD_MS = 10000; /* the same of the same key within that is one line */

const whom = (e) => (e.provider ? nameOf({ provider: e.provider, pool: e.pool }) : 'flyball');

const until = (e) => (e.until ? ` until ${moment(new Date(e.until))}` : '');

/* What the audit says, with names as they are elsewhere; of a grade it does not say what has one. */
const inWords = (e) => `${e.kind === 'grade' || e.cause === 'grade' ? 'the grade ' : ''}${(e.text || '').replace(`${e.provider}/default `, `${e.provider} `)}`;

/* Kind: the state it stands for, and the sentence. */
const SENTENCES = {
  answer: ['holding', (e) => `${whom(e)} refused ${e.times > 1 ? `${count(e.times)} requests` : 'a request'}${e.status ? ` (${e.status})` : ''}`],
  wait: ['holding', (e) => `${whom(e)} waits${e.cause ? ` for ${CAUSES[e.cause] || e.cause}` : ''}${until(e)}`],
  rate: ['ok', (e) => `${whom(e)} limit ${e.before ? `${rate(e.before)} → ` : 'found: '}${rate(e.rate)}/s`],
  breaker: ['critical', (e) => `${whom(e)} breaker ${e.outcome || e.cause || 'changed'}${until(e)}`],
  pause: ['warning', (e) => `${whom(e)} paused${e.cause ? `: ${e.cause}` : ''}${until(e)}`],
  outcome: ['critical', (e) => `${whom(e)} failed ${e.times > 1 ? `${count(e.times)} items` : 'an item'}${e.error ? `: ${e.error}` : ''}`],
  deferral: ['warning', (e) => `${whom(e)} deferred ${e.times > 1 ? `${count(e.times)} items` : 'an item'}${until(e)}`],
  failover: ['warning', (e) => `${whom(e)} goes to another address`],
  health: ['warning', (e) => `grade ${e.outcome || e.cause || 'changed'}`],
  recycle: ['warning', (e) => `recycled${e.cause ? `: ${e.cause}` : ''}`],
  stuck: ['critical', () => 'the loop was stuck'],
  audit: ['ok', (e) => `${e.of || ''} ${e.text || ''}`.trim()],
  'audit-grade': [(e) => gradeState(e.outcome), (e) => inWords({ ...e, kind: e.of })],
  'audit-submit': ['ok', (e) => `batch ${e.text || ''} was submitted`],
  'audit-alert': ['warning', (e) => `alert: ${inWords(e)}`],
  gap: ['warning', () => 'some events were missed here'],
};

/*
 * What repeats is told once, and how often: forty refusals at once are one thing that happened, and
 * so is a wait that begins again while it lasts, or goes on where it ended.
 */
const FOLDED = ['answer', 'outcome', 'deferral', 'wait'];
const lastOf = (e) => new Date((e.kind === 'wait' && e.until) || e.time);
const isNear = (e, old) => new Date(e.time) > new Date(old.time) - FOLD_MS && new Date(e.time) - lastOf(old) < FOLD_MS;
const foldInto = (e) => FOLDED.includes(e.kind) && model.events.slice(0, 20).find((old) => old.kind === e.kind && whom(old) === whom(e)
  && old.status === e.status && old.error === e.error && (e.kind !== 'wait' || old.cause === e.cause) && isNear(e, old));

const keepEvent = (e) => {
  const old = foldInto(e);
  if (old) {
    old.times = (old.times || 1) + 1;
    old.until = e.until;
    if (old.line) setText(old.line, sentenceOfEvent(old)[1]);
    return;
  }
  model.events.unshift(e);
  if (model.events.length > EVENTS_KEPT) model.events.pop();
};

const sentenceOfEvent = (e) => {
  const [state, sentence] = SENTENCES[`${e.kind}-${e.of}`] || SENTENCES[e.kind] || ['idle', () => e.kind];
  return [typeof state === 'function' ? state(e) : state, sentence(e)];
};

const eventRow = (e) => {
  const [state, sentence] = sentenceOfEvent(e);
  e.line = el('span', {}, sentence);
  return el('li', { class: e.kind === 'gap' ? 'gap' : '' }, timeAt(e.time || Date.now()),
    el('span', { class: `shape state-${state}`, 'aria-hidden': 'true' }, shapeOf(state)), e.line);
};

const EVENTS_SHOWN = 60;

/* A panel of events; those of one provider only, if it is named. */
const makeEvents = (provider) => {
  const list = el('ol', { class: 'events', tabindex: '0', 'aria-label': 'Events, newest first' });
  const nothing = el('li', { class: 'quiet' }, 'Nothing worth telling has happened yet.');
  const panel = { isPaused: false, shown: undefined };
  const button = el('button', { type: 'button', 'aria-pressed': 'false', onclick: () => {
    panel.isPaused = !panel.isPaused;
    button.setAttribute('aria-pressed', String(panel.isPaused));
    setText(button, panel.isPaused ? 'go on' : 'pause');
    panel.update();
  } }, 'pause');
  panel.node = el('section', { class: 'panel' }, el('header', {}, el('h2', {}, 'Events'), button), list);
  /* New ones go to the top and old ones out at the bottom; what stays is not touched. */
  panel.update = () => {
    if (panel.isPaused || model.events[0] === panel.shown) return;
    const known = model.events.indexOf(panel.shown);
    const fresh = (known < 0 ? model.events : model.events.slice(0, known))
      .filter((e) => !provider || !e.provider || e.provider === provider).slice(0, EVENTS_SHOWN);
    if (known < 0 || !panel.shown) list.replaceChildren();
    panel.shown = model.events[0];
    list.prepend(...fresh.map(eventRow));
    while (list.children.length > EVENTS_SHOWN) list.lastChild.remove();
    if (!list.children.length) list.append(nothing);
    else if (list.children.length > 1) nothing.remove();
  };
  list.append(nothing);
  return panel;
};
