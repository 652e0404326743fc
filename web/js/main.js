/* main.js - routes, keys on the keyboard, the theme, and the beat of the page. */

const boot = JSON.parse(document.getElementById('boot').textContent || '{}');
const main = document.getElementById('main');
const live = document.getElementById('live');
const lost = document.getElementById('lost');
const views = document.getElementById('views');
const who = document.getElementById('who');
const said = document.getElementById('said');
const SAID = 3; /* changes in one sentence */
const LATE_MS = 1500; /* without a status for that long the page goes on by itself */
const SEEDED_MS = 4000; /* and after that what was drawn of seconds is asked for anew */
let view = null;
let announced = { at: 0, states: new Map() };

/* ------------------------------------------------------------------------------------- routes */

const VIEWS = [
  { hash: '#/', title: 'Overview', make: () => makeOverview(boot) },
  { hash: '#/freshness', title: 'Freshness', make: () => makeFreshness(), isThere: (status) => Boolean(status && status.watch) },
  { hash: '#/batches', title: 'Batches', make: () => makeBatches() },
  { hash: '#/deferred', title: 'Deferred', make: () => makeDeferred() },
  { hash: '#/alerts', title: 'Alerts', make: () => makeAlerts() },
  { hash: '#/audit', title: 'Audit', make: () => makeAudit() },
  { hash: '#/settings', title: 'Settings', make: () => makeSettings() },
];

const makeView = (hash, query) => {
  const one = hash.match(/^#\/p\/([^?]+)/);
  const provider = one && decodeURIComponent(one[1]);
  const pool = query.get('pool') || 'default';
  if (model.isFrozen) return makeReport(boot, provider, pool);
  if (one) return makeProvider(provider, pool, query.get('key') || undefined);
  const item = hash.match(/^#\/i\/([^?]+)/);
  if (item) return makeItem(decodeURIComponent(item[1]));
  const found = VIEWS.find((v) => hash.split('?')[0] === v.hash);
  return found ? found.make() : makeOverview(boot);
};

/* The view under which a path is found in the menu. */
const homeOf = (path) => (path.startsWith('#/i/') ? '#/freshness' : VIEWS.some((v) => v.hash === path) ? path : '#/');

const safely = (text) => {
  try { return decodeURIComponent(text) && text; } catch { return '#/'; }
};

/* Links say the range that is shown, whoever copies them. */
const keepRange = (within) => within.querySelectorAll('a[href^="#/"]').forEach((a) => setAttr(a, 'href', withRange(a.getAttribute('href'))));

const route = () => {
  const hash = safely(location.hash || '#/');
  const query = new URLSearchParams(hash.split('?')[1] || '');
  if (RANGES[query.get('range')]) model.range = query.get('range');
  rangeBox.value = model.range;
  if (view) view.close();
  view = makeView(hash, query);
  main.replaceChildren(siftNote, view.node);
  openMenu(false);
  keepRange(views);
  const here = homeOf(hash.split('?')[0]);
  views.querySelectorAll('a').forEach((a) => {
    if (a.hash.split('?')[0] === here) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
  });
  if (model.status) view.update();
  sayTitle();
};

/* What a tab is called: the worst of what there is, and what it shows. A report has a name of its own. */
const sayTitle = () => {
  if (model.isFrozen) return;
  const worst = model.status ? Object.keys(STATES).find((s) => model.status.keys.some((k) => k.state === s)) : 'ok';
  const shape = worst && STATES[worst].rank < STATES.ok.rank ? `${STATES[worst].shape} ` : '';
  const title = `${shape}${view.title ? `${view.title} · ` : ''}flyball`;
  if (document.title !== title) document.title = title;
};

/* -------------------------------------------------------------------------------------- tools */

const setTheme = (theme) => {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem('flyball-theme', theme); } catch { /* a browser that keeps nothing */ }
  recolor();
};

const recolor = () => {
  inks.clear();
  if (view) view.redraw();
};

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
};

const filterBox = el('input', { type: 'search', placeholder: '/ filter', 'aria-label': 'Show only what has this in it', oninput: () => filterBy(filterBox.value) });
const filterBy = (text) => {
  model.filter = text;
  setText(siftNote.firstElementChild, `Only what has “${text}” in it is shown.`);
  setHidden(siftNote, !text);
  if (view && model.status) view.update();
};
/* On a phone the box is out of sight, and rows that are missing would not be missed. */
const siftNote = el('p', { class: 'quiet sift', hidden: true }, el('span'), el('button', { type: 'button', onclick: () => {
  filterBox.value = '';
  filterBy('');
  main.focus({ preventScroll: true });
} }, 'show all'));
const rangeBox = el('select', { 'aria-label': 'How far back charts go', onchange: () => {
  model.range = rangeBox.value;
  history.replaceState(null, '', withRange(location.hash || '#/'));
  keepRange(document);
  if (view && model.status) view.update();
} }, ...Object.entries(RANGES).map(([value, r]) => el('option', { value }, r.label)));
const themeButton = el('button', { type: 'button', title: 'light or dark (t)', 'aria-label': 'Light or dark', onclick: () => setTheme(isDark() ? 'light' : 'dark') }, '◐');
const helpButton = el('button', { type: 'button', title: 'keys and states (?)', 'aria-label': 'Keys and states', onclick: () => help.showModal() }, '?');
const KEYS = [['/', 'filter'], ['j k', 'next and previous provider'], ['Enter', 'open it'], ['Esc', 'back'], ['t', 'light or dark'], ['?', 'this']];
const help = el('dialog', { 'aria-labelledby': 'help-title' }, el('h2', { id: 'help-title' }, 'Keys'),
  el('dl', { class: 'facts' }, ...KEYS.flatMap(([key, what]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, what)])),
  el('h2', {}, 'States'), el('dl', { class: 'facts' }, ...Object.entries(STATES).flatMap(([state, { means }]) => [el('dt', {}, stateOf(state)), el('dd', {}, means)])),
  el('form', { method: 'dialog' }, el('button', {}, 'close')));

const moveFocus = (by) => {
  const links = view.links();
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + by))].focus();
};

const KEY_ACTIONS = {
  '/': () => {
    if (!filterBox.offsetParent) openMenu(true);
    filterBox.focus();
  },
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
  t: () => themeButton.click(),
  '?': () => help.showModal(),
  Escape: () => {
    if (views.parentNode.classList.contains('is-open')) openMenu(false, menuButton);
    else if (!/^#?\/?(\?|$)/.test(location.hash)) location.hash = withRange('#/');
  },
};

document.addEventListener('keydown', (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
  if (e.target.matches('input, select')) {
    if (e.key === 'Escape' && !openMenu(false, menuButton)) e.target.blur();
    return;
  }
  const action = KEY_ACTIONS[e.key];
  if (!action) return;
  e.preventDefault();
  action();
});

/* --------------------------------------------------------------------------------------- beat */

/* For those who listen: states that changed, once in five seconds at most, never the figures. */
const announce = (status) => {
  const changed = status.keys.filter((k) => announced.states.has(idOf(k)) && announced.states.get(idOf(k)) !== k.state);
  if (changed.length && Date.now() - announced.at < 5000) return;
  announced.states = new Map(status.keys.map((k) => [idOf(k), k.state]));
  if (!changed.length) return;
  announced.at = Date.now();
  const more = changed.length > SAID ? `, and ${changed.length - SAID} more have changed` : '';
  setText(said, `${changed.slice(0, SAID).map((k) => `${nameOf(k)} is now ${k.state}`).join(', ')}${more}`);
};

const take = (status) => {
  tellApart(status, model.status);
  const isLate = Date.now() - model.at > SEEDED_MS;
  model.status = status;
  model.at = Date.now();
  keepSparks(status.keys);
  if (isLate) seedSparks(); /* the last minute is not that of its last sixty statuses */
  announce(status);
  if (view) {
    view.update();
    sayTitle();
  }
  beat();
};

const beat = () => {
  if (model.isFrozen) return;
  const age = (Date.now() - model.at) / 1000;
  const text = `${stream.isLost ? 'lost' : 'live'}, ${span(age)} ago`;
  setClass(live, stream.isLost ? 'live state-critical' : 'live is-live state-ok');
  setText(live.firstElementChild, stream.isLost ? '■' : '●');
  setText(live.lastElementChild, text);
  if (model.status.host) {
    const up = age - model.status.began_in_s;
    setText(who, `${model.status.host}, up ${span(up, 1)}`);
    setAttr(who, 'title', `${model.status.host}, up ${span(up)}`);
  }
  if (stream.isLost) setText(lost.lastElementChild, `(${span(age)} ago). Trying again.`);
};

on('status', take);
on('news', (e) => { keepEvent(e); });
on('gap', () => {
  keepEvent({ kind: 'gap', time: Date.now() });
  if (view) view.refresh();
});
on('lost', () => {
  lost.hidden = false;
  /* Said once: what counts up beside it is for the eyes. */
  setText(lost.firstElementChild, `Connection lost, showing ${moment(new Date(model.at))}`);
  document.body.classList.add('is-stale');
  if (view && view.dim) view.dim();
  beat();
});
on('live', () => {
  lost.hidden = true;
  setText(lost.firstElementChild, '');
  document.body.classList.remove('is-stale');
});

const readTheme = () => {
  try {
    const theme = localStorage.getItem('flyball-theme');
    if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
  } catch { /* a browser that keeps nothing */ }
};

const menuButton = el('button', { type: 'button', id: 'menu', 'aria-label': 'Menu', 'aria-expanded': 'false', 'aria-controls': 'views tools',
  onclick: () => openMenu(!views.parentNode.classList.contains('is-open')) }, '☰');

/* On a phone; whether that changed anything. The focus goes where it is told, if there is a place. */
const openMenu = (isOpen, focus) => {
  const isNew = views.parentNode.classList.contains('is-open') !== isOpen;
  views.parentNode.classList.toggle('is-open', isOpen);
  menuButton.setAttribute('aria-expanded', String(isOpen));
  if (isNew && focus) focus.focus();
  return isNew;
};

const showTools = () => {
  const tools = document.getElementById('tools');
  tools.append(filterBox, rangeBox, themeButton, helpButton);
  tools.hidden = false;
  rangeBox.hidden = model.isFrozen;
  document.body.append(help);
  if (model.isFrozen) return;
  views.before(menuButton);
  views.append(...VIEWS.filter((v) => !v.isThere || v.isThere(boot.status)).map((v) => el('a', { href: withRange(v.hash) }, v.title)));
  views.hidden = false;
};

const start = () => {
  readTheme();
  model.isFrozen = Boolean(boot.frozen);
  showTools();
  window.addEventListener('hashchange', () => { route(); main.focus({ preventScroll: true }); });
  ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)']
    .forEach((query) => matchMedia(query).addEventListener('change', recolor));
  model.status = boot.status || null;
  if (model.status) tellApart(model.status, null);
  model.at = Date.now();
  route();
  if (model.isFrozen) return;
  setInterval(() => {
    if (document.hidden || Date.now() - model.at < LATE_MS) return;
    beat();
    if (view && model.status && !stream.isLost) view.step();
  }, 1000);
  startStream();
  seedSparks();
};

start();
