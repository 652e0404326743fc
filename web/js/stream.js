/*
 * stream.js - one stream of events for all tabs of this page.
 *
 * A browser opens six connections to a host and no more: with a stream in each tab the seventh
 * would hang. So one tab that is seen holds the lock and the stream, and tells the others. A hidden
 * tab gives both up. Whoever takes over goes on after the last event that was heard, and who comes
 * while another tab leads, as in a second window, asks once for what it has missed.
 *
 * Browsers know locks on this machine and over https alone. Elsewhere every tab asks for itself,
 * what happened and how it stands, and hangs up until it asks again.
 */

const SILENCE_MS = 30000;
const POLL_MS = 2000;
const BACKOFF_MAX_MS = 30000;
const LOCK = 'flyball-stream';

const stream = {
  source: null,
  missed: null, /* another one, for as long as it takes to hear what was missed */
  isBehind: false, /* that is not heard yet, and */
  waiting: [], /* this was told by other tabs meanwhile */
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

/* Numbers rise in a daemon's life: "start-number". */
const isHeard = (id) => {
  const [[start, number], [lastStart, lastNumber]] = [id, stream.lastId].map((text) => (text || '').split('-'));
  return Boolean(id) && start === lastStart && Number(number) <= Number(lastNumber);
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

/* Of watched items nothing: the view of them asks for what it shows. */
const sourceAfterLast = () => new EventSource(`events?with=status&items=none${stream.lastId ? `&last_event_id=${encodeURIComponent(stream.lastId)}` : '&recent=100'}`);

const onNews = (source, handle) => NEWS.forEach((kind) => source.addEventListener(kind, (e) => {
  const data = JSON.parse(e.data);
  handle({ ...data, kind, of: data.kind }, e.lastEventId);
}));

const openSource = () => {
  closeSource();
  leaveMissed(); /* it comes here */
  const source = sourceAfterLast();
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
  onNews(source, (data, id) => bring('news', data, id));
};

const leaveMissed = () => {
  if (stream.missed) stream.missed.close();
  stream.missed = null;
  stream.isBehind = false;
  stream.waiting = [];
};

/* What another tab told: after what was missed, and not what came with that. */
const follow = (message) => {
  if (stream.isBehind && message.kind === 'news') stream.waiting.push(message);
  else if (!isHeard(message.id)) hear(message);
};

/* What happened while another tab led and this one was not there: until the next status. */
const askMissed = () => {
  const source = sourceAfterLast();
  stream.missed = source;
  onNews(source, (data, id) => hear({ kind: 'news', data, id }));
  source.addEventListener('gap', () => hear({ kind: 'gap', data: {} }));
  const isOver = () => {
    const { waiting } = stream;
    leaveMissed();
    waiting.forEach(follow);
  };
  source.addEventListener('status', isOver);
  source.onerror = isOver;
};

const hold = () => {
  openSource();
  return new Promise((resolve) => { stream.release = resolve; });
};

/* Wait for the lock, then stream until it is given away. */
const lead = () => {
  if (isPolling) {
    openSource();
    return;
  }
  const asking = new AbortController();
  stream.asking = asking;
  stream.isBehind = true;
  navigator.locks.request(LOCK, { ifAvailable: true }, (lock) => {
    if (asking.signal.aborted) return null; /* it was hidden before it was told */
    if (lock) return hold();
    askMissed();
    navigator.locks.request(LOCK, { signal: asking.signal }, hold).catch(() => {}); /* likewise */
    return null;
  });
};

const rest = () => {
  closeSource();
  leaveMissed();
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
      else follow(data);
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
