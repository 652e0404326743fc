/* pages.js - batches, audit and settings: plain tables of what the daemon says. */

const page = (...kids) => ({ node: el('div', {}, ...kids), update: () => {}, step: () => {}, redraw: () => {}, refresh: () => {}, close: () => {}, links: () => [] });

const batchEnd = (b) => {
  if (b.running) return b.eta_in_s > 0 ? `in ${span(b.eta_in_s)}` : 'running';
  return b.exit_code == null ? 'ended' : `ended, exit ${b.exit_code}`;
};

const batchRow = (b) => el('tr', {},
  el('td', {}, el('strong', {}, b.name)),
  el('td', { class: `state state-${b.state}` }, el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(b.state)), b.running ? b.state : 'not running'),
  el('td', { 'data-label': 'items' }, `${count(b.items.ended)}${b.items.total >= 0 ? ` of ${count(b.items.total)}` : ''}`),
  el('td', { 'data-label': 'failed', class: b.items.failed ? 'number' : 'number zero' }, count(b.items.failed)),
  el('td', { 'data-label': 'deferred', class: b.items.deferred ? 'number' : 'number zero' }, count(b.items.deferred)),
  el('td', { 'data-label': 'rate', class: 'number' }, `${rate(b.rate_per_s)}/s`),
  el('td', { 'data-label': 'until' }, batchEnd(b)),
  el('td', { class: 'why' }, b.bound_by ? `bound by ${b.bound_by}` : ''));

const makeBatches = () => {
  const body = el('tbody');
  const empty = el('div', { class: 'empty', hidden: true }, el('p', {}, 'No batch yet. Try:'), el('code', {}, EMPTY_COMMAND));
  const table = el('table', { class: 'cards' }, el('thead', {}, el('tr', {}, ...['batch', 'state', 'items', 'failed', 'deferred', 'rate', 'until', 'why'].map((t) => el('th', { scope: 'col', class: ['failed', 'deferred', 'rate'].includes(t) ? 'number' : null }, t)))), body);
  const view = page(el('h2', {}, 'Batches'), table, empty);
  view.update = () => {
    body.replaceChildren(...model.status.batches.map(batchRow));
    empty.hidden = model.status.batches.length > 0;
    table.hidden = !empty.hidden;
  };
  return view;
};

const INSIDE_ONLY = 'This is told at the internal listener only, to those who run the daemon; the same in a terminal: ';

const makeAudit = () => {
  const holder = el('div');
  const view = page(el('h2', {}, 'Audit'), holder);
  const show = (events) => holder.replaceChildren(events.length ? el('ol', { class: 'events' }, ...events.map((e) =>
    el('li', {}, timeAt(e.at), el('span'), el('span', {}, [e.kind, e.cause, e.text].filter(Boolean).join(': ')))))
    : el('p', { class: 'empty quiet' }, 'Nothing was recycled, reloaded, switched or raised yet.'));
  fetch('view/audit?json=1').then(async (answer) => {
    if (answer.ok) show((await answer.json()).events);
    else holder.replaceChildren(el('p', { class: 'empty' }, INSIDE_ONLY, el('code', {}, 'flyball audit')));
  }).catch(() => holder.replaceChildren(el('p', { class: 'empty' }, 'The daemon does not answer.')));
  return view;
};

const makeSettings = () => {
  const list = el('dl', { class: 'facts panel' });
  const view = page(el('h2', {}, 'Settings in force'), list,
    el('p', { class: 'quiet' }, 'Where each value came from: ', el('code', {}, 'flyball config show --origin')));
  view.update = () => list.replaceChildren(...Object.entries(model.status.config || {}).flatMap(([name, value]) => fact(name.replaceAll('_', ' '), String(value))));
  return view;
};
