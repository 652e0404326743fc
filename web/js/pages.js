/* pages.js - batches, deferred work, alerts, audit and settings: plain tables of what there is. */

const ASK_AGAIN_MS = 5000;
const INSIDE_ONLY = 'This is told at the internal listener only, to those who run the daemon. The same in a terminal:';

const makePage = (title, ...kids) => ({ title, node: el('div', { class: 'is-page' }, el('h2', { class: 'title' }, title), ...kids),
  update: () => {}, step: () => {}, redraw: () => {}, refresh: () => {}, close: () => {}, links: () => [] });

/* A title: its word, a class, and a hint for those who ask what it means. */
const tableOf = (titles, rows) => el('div', { class: 'panel is-table' }, el('table', { class: 'cards' },
  el('thead', {}, el('tr', {}, ...titles.map(([t, css, hint]) => el('th', { scope: 'col', class: css || null, title: hint || null }, t)))), el('tbody', {}, ...rows)));

/* Only the rows with this in them; what is folded away is opened for it. */
const sift = (holder) => {
  const wanted = model.filter.toLowerCase();
  holder.querySelectorAll('tbody tr').forEach((row) => setHidden(row, !row.textContent.toLowerCase().includes(wanted)));
  if (wanted) holder.querySelectorAll('details').forEach((d) => { d.open = true; });
};

/* Sifted when it is filled and when the filter changes, not with every status. */
const makeSifted = (holder) => {
  let by = '';
  return (isNew) => {
    if (model.filter === by && !(isNew && by)) return;
    by = model.filter;
    sift(holder);
  };
};

/* A page that asks for its own figures, again and again while it is shown. */
const makeAsked = (title, path, inTerminal, show) => {
  const holder = el('div', {}, el('p', { class: 'empty quiet' }, 'Asking …'));
  const view = makePage(title, holder);
  const sifted = makeSifted(holder);
  let timer = 0;
  let isOpen = true;
  let isShown = false; /* that is kept, whatever comes after it */
  let last = '';
  const put = (text, make) => {
    if (text === last) return;
    last = text;
    fill(holder, make());
    sifted(true);
  };
  const fail = (title) => isShown || put(title, () => emptyState(title, 'It is asked again every few seconds.'));
  const take = (answer, text) => {
    if (answer.status === 202) return; /* it is being read */
    if (answer.status !== 200) {
      fail(`The daemon answers ${answer.status}`);
      return;
    }
    put(text, () => show(JSON.parse(text)));
    isShown = true;
  };
  const ask = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch(path);
        take(answer, await answer.text());
      } catch { fail('The daemon does not answer'); }
    }
    if (isOpen) timer = setTimeout(ask, last ? ASK_AGAIN_MS : 300);
  };
  view.update = () => sifted(false);
  view.close = () => { clearTimeout(timer); isOpen = false; };
  if (model.status.host) ask();
  else fill(holder, emptyState('Not told here', INSIDE_ONLY, inTerminal));
  return view;
};

/* ------------------------------------------------------------------------------------ batches */

const batchEnd = (b) => {
  if (b.running) return b.eta_in_s > 0 ? `in ${span(b.eta_in_s)}` : 'not known';
  return b.exit == null ? '-' : `exit ${b.exit}`;
};

const batchItems = (b) => {
  const total = b.items.total ?? b.items.total_at_least;
  if (total == null) return count(b.items.ended);
  return `${count(b.items.ended)} of ${b.items.total == null ? 'at least ' : ''}${count(total)}`;
};

const batchBar = (b) => {
  const total = b.items.total || 0;
  const fill = el('i');
  const share = total ? b.items.ended / total : 0;
  fill.style.width = `${(share * 100).toFixed(1)}%`;
  return total ? el('span', { class: 'bar', role: 'img', 'aria-label': `${Math.floor(share * 100)} % done` }, fill) : null;
};

const batchRow = (b) => el('tr', { 'data-key': b.name },
  el('td', {}, el('strong', {}, b.name)),
  el('td', {}, stateOf(b.state, b.running ? b.state : b.exit == null ? 'not running' : 'ended')),
  el('td', { class: 'items' }, batchBar(b), el('span', {}, batchItems(b))),
  el('td', { 'data-label': 'failed', class: b.items.failed ? 'number' : 'number zero' }, count(b.items.failed)),
  el('td', { 'data-label': 'deferred', class: b.items.deferred ? 'number' : 'number zero' }, b.items.deferred ? el('a', { href: withRange('#/deferred') }, count(b.items.deferred)) : '0'),
  el('td', { 'data-label': 'rate', class: 'number' }, `${rate(b.rate_per_s)}/s`),
  el('td', { 'data-label': 'until', class: 'until', title: b.exit === 0 ? 'all of it is done' : null }, batchEnd(b)),
  el('td', { class: 'why' }, b.held_by || (b.bound_by ? `bound by ${b.bound_by}` : '')));

const BATCH_TITLES = [['batch'], ['state', '', 'the worst of what it asks'], ['items', '', 'that have ended, of all'], ['failed', 'number'], ['deferred', 'number', 'put off to a later run'],
  ['rate', 'number', 'items a second'], ['until', '', 'when it will have ended'], ['why', '', 'what holds it, or what it cannot go faster than']];

/* What needs attention comes first here, too; else they are in the order in which they are told. */
const byState = (a, b) => (STATES[a.state] || STATES.idle).rank - (STATES[b.state] || STATES.idle).rank;

const makeBatches = () => {
  const holder = el('div');
  const view = makePage('Batches', holder);
  const sifted = makeSifted(holder);
  let last = '';
  view.update = () => {
    const now = JSON.stringify(model.status.batches);
    sifted(now !== last && show(now));
  };
  const show = (now) => {
    last = now;
    fill(holder, model.status.batches.length ? tableOf(BATCH_TITLES, [...model.status.batches].sort(byState).map(batchRow))
      : emptyState('No batch yet', 'A batch is a list of URLs that the daemon works through. Try:', EMPTY_COMMAND));
    return true;
  };
  return view;
};

/* ----------------------------------------------------------------------------------- deferred */

const deferredRow = (r) => el('tr', { 'data-key': `${r.list} ${r.id}` },
  el('td', {}, el('strong', {}, r.place || r.id)),
  el('td', { 'data-label': 'item' }, r.id),
  el('td', { 'data-label': 'not before' }, r.not_before ? timeAt(r.not_before) : 'not known',
    r.not_before ? el('span', { class: 'quiet reset' }, r.not_before_in_s > 0 ? `in ${span(r.not_before_in_s)}` : 'that is past') : null),
  el('td', { 'data-label': 'of' }, r.list),
  el('td', { class: 'why' }, r.reason));

const DEFERRED_TITLES = [['where to'], ['item', '', 'its name in the list'], ['not before', '', 'when its provider may take it'], ['of', '', 'the list that it is in'], ['why']];

const DEFERRED_MOST = 500; /* that a daemon tells */

const makeDeferred = () => makeAsked('Deferred work', 'view/deferred', 'flyball deferred', (answer) => (answer.deferred.length
  ? el('div', {}, tableOf(DEFERRED_TITLES, answer.deferred.map(deferredRow)),
    answer.deferred.length < DEFERRED_MOST ? null : el('p', { class: 'quiet more' }, `These ${DEFERRED_MOST} come first; all of them: `, command('flyball deferred')),
    el('p', { class: 'quiet more' }, 'It is run by the same ', el('code', {}, 'flyball fetch'), ' command with ', el('code', {}, '--deferred'), '.'))
  : emptyState('Nothing was put off', 'An item is deferred where its provider cannot take it before a bound that you set; here you see until when.')));

/* ------------------------------------------------------------------------------------- alerts */

const percent = (share) => `${Number((share * 100).toFixed(1))} %`;

const alertValue = (a) => (a.kind === 'wait' ? [`waits ${span(a.value)}`, span(a.threshold)] : [`${percent(a.value)} used`, percent(a.threshold)]);

const alertRow = (a) => el('tr', { 'data-key': `${a.kind} ${idOf(a)}` },
  el('td', {}, stateOf(a.level)),
  el('td', {}, el('a', { href: linkOf(a) }, nameOf(a))),
  el('td', { 'data-label': 'what' }, alertValue(a)[0]),
  el('td', { 'data-label': 'rule' }, `above ${alertValue(a)[1]}`),
  el('td', { 'data-label': 'told' }, a.told ? timeAt(a.told) : 'not yet'));

const rulesOf = (r) => el('dl', { class: 'facts' },
  ...fact('limit in use', `warning at ${percent(r.warning_ratio)}, critical at ${percent(r.critical_ratio)}`),
  ...fact('wait', r.wait_s > 0 ? `warning above ${span(r.wait_s)}` : 'not told'),
  ...fact('overall grade', r.grade ? 'told when it gets worse' : 'not told'),
  ...fact('again', `after ${span(r.every_s)} at the soonest`),
  ...fact('sent to', [r.webhook && 'a webhook', r.command && 'a command'].filter(Boolean).join(' and ') || 'the audit and the log only'));

const historyRow = (e) => {
  const state = e.kind === 'grade' ? gradeState(e.outcome) : 'warning';
  return el('li', {}, timeAt(e.at), el('span', { class: `shape state-${state}`, 'aria-hidden': 'true' }, shapeOf(state)), el('span', {}, inWords(e)));
};

const makeAlerts = () => makeAsked('Alerts', 'view/alerts', 'flyball audit', (answer) => el('div', {},
  answer.now.length ? tableOf([['level'], ['provider/pool'], ['what', '', 'how it stands now'], ['rule', '', 'the threshold that it is past'], ['told', '', 'when somebody was told of it']], answer.now.map(alertRow))
    : showVerdict(el('p'), 'ok', 'Nothing is past a threshold now.'),
  grid(panel('Told so far, newest first', answer.events.length ? el('ol', { class: 'events' }, ...answer.events.map(historyRow))
    : el('p', { class: 'quiet' }, 'No alert since the start.')), panel('Rules', rulesOf(answer.rules)))));

/* -------------------------------------------------------------------------------------- audit */

const makeAudit = () => makeAsked('Audit', 'view/audit?json=1', 'flyball audit', (answer) => (answer.events.length
  ? tableOf([['time'], ['what'], ['cause'], ['provider/pool'], ['in words']], answer.events.map((e) => el('tr', { 'data-key': `${e.at} ${e.kind} ${e.text}` },
    el('td', {}, timeAt(e.at)), el('td', {}, el('strong', {}, e.kind)), el('td', {}, (e.text || '').startsWith(e.cause) ? '' : e.cause || ''),
    el('td', {}, e.provider ? nameOf(e) : ''), el('td', { class: 'why' }, inWords(e)))))
  : emptyState('Nothing yet', 'What was recycled, reloaded, switched or raised is kept here.')));

/* ----------------------------------------------------------------------------------- settings */

/* Leaves of the settings as [path, value], in the order in which they stand. */
const leavesOf = (value, path = []) => (value && typeof value === 'object' && !Array.isArray(value)
  ? Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name])) : [[path, value]]);

/* "default" is quiet; what somebody said is not. */
const originKind = (origin) => (origin === 'default' ? 'default' : origin.startsWith('preset ') ? 'preset'
  : origin.startsWith('environment ') ? 'environment' : origin.startsWith('flag ') ? 'flag' : 'file');

const originCell = (origin) => {
  const kind = originKind(origin);
  const where = kind === 'default' ? '' : kind === 'file' ? origin.slice(origin.lastIndexOf('/') + 1) : origin.replace(/^(preset|environment|flag) /, '');
  return el('td', { class: `origin origin-${kind}`, 'data-label': 'from', title: origin }, el('span', { class: 'chip' }, kind), el('span', { class: 'quiet' }, where));
};

const settingRow = ([path, value, origin]) => el('tr', {}, el('td', { class: 'key' }, el('code', {}, path)),
  el('td', { class: 'value' }, Array.isArray(value) ? value.join(', ') : String(value)), originCell(origin));

const SETTING_TITLES = [['setting'], ['value'], ['from', '', 'who has said so: a file and its line, a flag, the environment, a preset']];

/* What somebody said comes first; defaults are there for those who look for them. */
const showSettings = (answer) => {
  const all = leavesOf(answer.config).map(([path, value]) => [path.join('.'), value, answer.origins[path.join('.')]]).filter(([, , origin]) => origin != null);
  const said = all.filter(([, , origin]) => origin !== 'default');
  return el('div', { class: 'settings' },
    el('p', { class: 'quiet' }, answer.file ? `From ${answer.file}, flags, the environment and presets.` : 'There is no file: flags, the environment and presets.'),
    said.length ? tableOf(SETTING_TITLES, said.map(settingRow)) : el('p', { class: 'empty quiet' }, 'Nobody has said anything: all of it is as it comes.'),
    el('details', {}, el('summary', {}, `Defaults (${all.length - said.length})`), tableOf(SETTING_TITLES, all.filter(([, , origin]) => origin === 'default').map(settingRow))));
};

const makeSettings = () => makeAsked('Settings in force', 'view/config', 'flyball config show --origin', showSettings);
