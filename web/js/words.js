/* words.js - figures in words, and elements made of text alone: nothing is ever parsed as HTML. */

const el = (tag, attributes = {}, ...kids) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class') node.className = value || '';
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...kids.filter((kid) => kid != null));
  return node;
};

/* Touch the page only where something changed: that is what keeps an hour of seconds cheap. */
const setText = (node, text) => {
  const only = node.firstChild;
  if (only && !only.nextSibling && only.nodeType === Node.TEXT_NODE) {
    if (only.data !== text) only.data = text; /* a new node would be given its style anew */
  } else if (node.textContent !== text) node.textContent = text;
};
const setClass = (node, name) => {
  if (node.className !== name) node.className = name;
};
const setAttr = (node, name, value) => {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
};

const setHidden = (node, is) => {
  if (node.hidden !== is) node.hidden = is;
};

const setStyle = (node, name, value) => {
  if (node.style[name] !== value) node.style[name] = value;
};

/* Kept: to make one takes a hundred times as long as to use it. */
const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const count = (n) => counts.format(Math.round(n));

/* About three digits, as the commands print rates. */
const rate = (r) => {
  if (!(r > 0)) return '0';
  if (r < 0.01) return String(Number(r.toPrecision(2)));
  return r.toFixed(r < 10 ? 2 : r < 100 ? 1 : 0);
};

const UNITS = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];

/* How long, in at most two units, as sentences say it; who waits has no use for parts of a second. */
const span = (seconds, units = 2) => {
  const s = Math.round(Math.abs(seconds));
  if (s < 1) return '< 1 s';
  if (s < 60) return `${s} s`;
  const at = UNITS.findIndex(([, size]) => s >= size);
  const [unit, size] = UNITS[at];
  const [lower, lowerSize] = UNITS[at + 1];
  const rest = Math.floor((s % size) / lowerSize);
  return `${Math.floor(s / size)} ${unit}${rest && units > 1 ? ` ${rest} ${lower}` : ''}`;
};

const ago = (seconds) => `${span(seconds, 1)} ago`;

/* What an answer took: there a millisecond counts. */
const took = (seconds) => (seconds < 0.9995 ? `${Number((seconds * 1000).toPrecision(3))} ms`
  : seconds < 10 ? `${seconds.toFixed(1)} s` : span(seconds));

/* Half a pair of surrogates is no text to a URL. */
const encode = (text) => encodeURIComponent(text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd'));

const two = (n) => String(n).padStart(2, '0');
const clock = (date) => `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
const absolute = (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock(date)}`;

/* By the clock; of another day with its date, or three in the morning would be that of any night. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const moment = (date, now = new Date()) => (date.toDateString() === now.toDateString() ? clock(date)
  : `${date.getDate()} ${MONTHS[date.getMonth()]}${date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`} ${clock(date)}`);

/* An instant by the clock, with its date and zone for those who ask. */
const timeAt = (when) => {
  const date = new Date(when);
  return el('time', { datetime: date.toISOString(), title: `${absolute(date)} (${date.toISOString()})` },
    moment(date));
};
