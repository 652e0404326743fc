/*
 * stream.js - one stream of events for all tabs of this page.
 *
 * A browser opens six connections to a host and no more: with a stream in each tab the seventh
 * would hang. So one tab that is seen holds the lock and the stream, and tells the others. A hidden
 * tab gives both up. Whoever takes over goes on after the last event that was heard.
 *
 * Browsers know locks on this machine and over https alone. Elsewhere every tab asks for itself,
 * what happened and how it stands, and hangs up until it asks again.
 */

const SILENCE_MS = 30000;
const POLL_MS = 2000;
const BACKOFF_MAX_MS = 30000;

const stream = {
  source: null,
  release: null, /* gives the lock away */
  asking: null, /* AbortController: waits for the lock */
  lastId: '',
  heard: 0, /* when something last came, by this clock */
  isLost: false,
  failures: 0,
  timer: 0,
  listeners: {}, /* on('status', f), on('news', f), on('lost', f), on('live', f), on('gap', f) */
  channel: 'BroadcastChannel' in window ? new BroadcastChannel('flyball') : null,
};

const isPolling = !navigator.locks;

const on = (kind, handler) => { (stream.listeners[kind] ||= []).push(handler); };
const tell = (kind, data) => (stream.listeners[kind] || []).forEach((handler) => handler(data));

const hear = (message) => {
  stream.heard = Date.now();
  stream.failures = 0;
  if (message.id) stream.lastId = message.id;
  if (stream.isLost) {
    stream.isLost = false;
    tell('live');
  }
  tell(message.kind, typeof message.data === 'string' ? JSON.parse(message.data) : message.data);
};

const lose = () => {
  if (!stream.isLost) {
    stream.isLost = true;
    tell('lost');
  }
};

/* From the daemon: hear it, and tell the other tabs, of a status the text: that is copied cheaply. */
const bring = (kind, data, id) => {
  const message = { kind, data, id };
  hear(message);
  if (stream.channel && !isPolling) stream.channel.postMessage(message);
};

const NEWS = ['wait', 'answer', 'failover', 'rate', 'deferral', 'outcome', 'breaker', 'pause',
  'health', 'recycle', 'stuck', 'audit', 'alert', 'reload'];

const closeSource = () => {
  clearTimeout(stream.timer);
  if (stream.source) stream.source.close();
  stream.source = null;
};

/* 1, 2, 4 ... 30 s, and up to half as much more by chance. */
const reconnectLater = () => {
  const wait = Math.min(1000 * 2 ** stream.failures, BACKOFF_MAX_MS) * (1 + Math.random() / 2);
  stream.failures += 1;
  closeSource();
  stream.timer = setTimeout(openSource, wait);
};

const openSource = () => {
  closeSource();
  const after = stream.lastId ? `&last_event_id=${encodeURIComponent(stream.lastId)}` : '&recent=100';
  const source = new EventSource(`events?with=status${after}`);
  stream.source = source;
  source.onerror = () => {
    if (stream.channel) stream.channel.postMessage({ kind: 'down' });
    lose();
    reconnectLater();
  };
  source.addEventListener('status', (e) => {
    bring('status', e.data);
    if (isPolling) {
      closeSource();
      stream.timer = setTimeout(openSource, POLL_MS);
    }
  });
  source.addEventListener('gap', () => bring('gap', {}));
  source.addEventListener('end', () => source.onerror());
  NEWS.forEach((kind) => source.addEventListener(kind, (e) => {
    const data = JSON.parse(e.data);
    bring('news', { ...data, kind, of: data.kind }, e.lastEventId);
  }));
};

/* Wait for the lock, then stream until it is given away. */
const lead = () => {
  if (isPolling) {
    openSource();
    return;
  }
  stream.asking = new AbortController();
  navigator.locks.request('flyball-stream', { signal: stream.asking.signal }, () => {
    openSource();
    return new Promise((resolve) => { stream.release = resolve; });
  }).catch(() => {}); /* it was hidden before it had the lock */
};

const rest = () => {
  closeSource();
  if (stream.asking) stream.asking.abort();
  if (stream.release) stream.release();
  stream.asking = stream.release = null;
};

const watchSilence = () => {
  if (!document.hidden && stream.heard && Date.now() - stream.heard > SILENCE_MS) {
    lose();
    if (stream.source) reconnectLater();
    stream.heard = Date.now();
  }
};

/* Who comes back wants to see how it stands, not to wait for the next second. */
const catchUp = async () => {
  try {
    const answer = await fetch('status');
    if (answer.ok && !document.hidden) hear({ kind: 'status', data: await answer.text() });
  } catch { /* the stream says that the connection is lost */ }
};

const startStream = () => {
  if (stream.channel) {
    stream.channel.onmessage = ({ data }) => {
      if (document.hidden) return;
      if (data.kind === 'down') lose();
      else hear(data);
    };
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      rest();
      return;
    }
    stream.heard = Date.now(); /* nobody listened: that was no silence */
    lead();
    catchUp();
  });
  window.addEventListener('pagehide', rest);
  setInterval(watchSilence, 1000);
  if (!document.hidden) lead();
};
