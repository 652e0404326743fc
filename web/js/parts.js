/* parts.js - what several views are made of: states, bars, panels, what to do where nothing is. */

/* It works wherever it is pasted: an API of this machine, and something to fetch from it. */
const EMPTY_COMMAND = "flyball mock --listen 127.0.0.1:8070 --limit rate=5/s --for 2m & flyball fetch --submit 'http://127.0.0.1:8070/items/{1..60}'";

const stateOf = (state, word) => el('span', { class: `state state-${state}` },
  el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(state)), word || state);

/* The sentence that is read first; of a connection that is lost it says of when it is. */
const showVerdict = (node, state, words, whose) => {
  const shown = stream.isLost ? 'idle' : state;
  setClass(node, `verdict state-${shown}`);
  fill(node, el('span', { class: 'shape', 'aria-hidden': 'true' }, shapeOf(shown)),
    el('span', {}, stream.isLost ? `As of ${clock(new Date(model.at))}: ` : '', el('b', {}, whose || ''), words));
  return node;
};

const panel = (title, ...kids) => el('section', { class: 'panel' }, el('header', {}, el('h2', {}, title)), ...kids);

const fact = (name, text, title) => [el('dt', {}, name), el('dd', title ? { title } : {}, text)];

const grid = (...kids) => el('div', { class: 'grid' }, ...kids);

/* Three of the same width, each with panels below each other. */
const columns = (...all) => el('div', { class: 'grid is-three' }, ...all.map((kids) => el('div', { class: 'column' }, ...kids)));

/* A command with a button that copies it; where a page may not, it is selected, to be copied by hand. */
const command = (text) => {
  const code = el('code', {}, text);
  const button = el('button', { type: 'button', 'aria-label': `Copy: ${text}` }, 'copy');
  const say = (word) => {
    setText(button, word);
    setTimeout(() => setText(button, 'copy'), 2000);
  };
  const select = () => {
    getSelection().selectAllChildren(code);
    say('Ctrl+C');
  };
  button.addEventListener('click', () => (navigator.clipboard
    ? navigator.clipboard.writeText(text).then(() => say('copied'), select) : select()));
  return el('span', { class: 'command' }, code, button);
};

const emptyState = (title, hint, run) => el('div', { class: 'empty' },
  el('p', { class: 'empty-shape', 'aria-hidden': 'true' }, '○'), el('p', { class: 'empty-title' }, title),
  hint ? el('p', { class: 'quiet' }, hint) : null, run ? command(run) : null);

/* How much of a concern it is how little is left: that of the state, where it has one because of this. */
const levelOf = (k, of) => (of && of === k.quota && isScarce(k) ? k.state : '');

/* What is left of a quota: a bar, and a notch where the reserve begins. */
const makeQuotaBar = () => {
  const fill = el('i');
  const notch = el('b', { hidden: true });
  const node = el('span', { class: 'bar', role: 'img' }, fill, notch);
  const update = (q, level) => {
    setHidden(node, !q);
    if (!q) return;
    const share = Math.max(0, Math.min(1, q.remaining / q.limit));
    const kept = q.reserve ? Math.min(1, q.reserve / q.limit) : 0;
    setStyle(fill, 'width', `${(share * 100).toFixed(1)}%`);
    setClass(node, `bar${share <= kept || level === 'critical' ? ' is-out' : level === 'warning' ? ' is-low' : ''}`);
    setAttr(node, 'aria-label', `${count(q.remaining)} of ${count(q.limit)} left${kept ? `, ${count(q.reserve)} kept in reserve` : ''}`);
    setHidden(notch, !kept);
    if (kept) {
      setStyle(notch, 'left', `${(kept * 100).toFixed(1)}%`);
      setAttr(notch, 'title', `kept in reserve: ${count(q.reserve)}`);
    }
  };
  return { node, update };
};

/* Pictures cost more than words: those out of sight are drawn when they come into it. */
const NEAR = '200px';
const sights = new WeakMap();
const eyes = new IntersectionObserver((seen) => seen.forEach((e) => sights.get(e.target)(e.isIntersecting)), { rootMargin: NEAR });

const whereSeen = (node, draw) => {
  let isSeen = true; /* until it is known */
  let isDue = false;
  sights.set(node, (is) => {
    isSeen = is;
    if (is && isDue) draw();
    isDue = isDue && !is;
  });
  eyes.observe(node);
  return () => {
    isDue = !isSeen;
    if (isSeen) draw();
  };
};

/* A line of one minute, against the limit where there is one. */
const SPARK_W = 90;
const SPARK_H = 20;

const svgEl = (tag, attributes) => {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  return node;
};

const makeSpark = () => {
  /* Not paths: what a path draws is a style, and reckoned as one. */
  const limit = svgEl('polyline', { class: 'spark-limit' });
  const line = svgEl('polyline', { class: 'spark-line' });
  const node = svgEl('svg', { class: 'spark', viewBox: `0 0 ${SPARK_W} ${SPARK_H}`, 'aria-hidden': 'true', preserveAspectRatio: 'none' });
  node.append(limit, line);
  let ring = [];
  let most = null;
  const draw = whereSeen(node, () => {
    const high = Math.max(most || 0, ...ring, 0.001) * 1.1;
    const y = (v) => (SPARK_H - 1 - (v / high) * (SPARK_H - 2)).toFixed(1);
    const from = SPARK_KEPT - ring.length;
    setAttr(line, 'points', ring.map((v, i) => `${(((from + i) / (SPARK_KEPT - 1)) * SPARK_W).toFixed(1)} ${y(v)}`).join(' '));
    setAttr(limit, 'points', most ? `0 ${y(most)} ${SPARK_W} ${y(most)}` : '');
  });
  return { node, update: (sent, limitNow) => { ring = sent; most = limitNow; draw(); } };
};
