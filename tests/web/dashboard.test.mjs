// SPDX-License-Identifier: MIT
// The checks of a dashboard that people can rely on, by their numbers, in a real browser.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { Place, fits, hearsNothing, hide, isLive, launch, open, shut, sleep, tell, threeProviders, until } from './daemon.mjs';

const HOSTILE = '<img src=x onerror=alert(1)>';
let place;
let browser;
let names; /* of the providers: their addresses */

before(async () => {
  place = new Place();
  names = await threeProviders(place);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

const get = (url, headers) => new Promise((resolve, reject) => {
  request(url, { headers }, (answer) => {
    answer.resume();
    answer.on('end', () => resolve(answer));
  }).on('error', reject).end();
});

test('1: a cold load is small, and all of it from here', async () => {
  const page = await open(browser, 'about:blank');
  const session = await page.context().newCDPSession(page);
  const asked = [];
  let bytes = 0;
  await session.send('Network.enable');
  page.on('request', (r) => asked.push(r.url()));
  const streams = new Set(); /* what follows the load, for as long as it is looked at */
  session.on('Network.requestWillBeSent', (e) => { if (/\/events\b/.test(e.request.url)) streams.add(e.requestId); });
  session.on('Network.loadingFinished', (e) => { if (!streams.has(e.requestId)) bytes += e.encodedDataLength; });
  await page.goto(place.url);
  await page.waitForSelector('figure figcaption');
  const cold = asked.filter((u) => !u.startsWith('data:') && !u.includes('/history'));
  assert.ok(cold.length <= 4, `requests: ${cold}`);
  assert.ok(asked.every((u) => u.startsWith(place.url) || u.startsWith('data:')), `off-host: ${asked}`);
  assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
  await shut(page);
});

test('2 and 24: the page has its table before any script, and without scripts', async () => {
  const page = await open(browser, place.url, { javaScriptEnabled: false });
  const rows = await page.locator('table.keys tbody tr').allTextContents();
  assert.ok(rows.length >= 3, `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.told) && /of 600/.test(row)), `${rows}`);
  assert.ok(rows.some((row) => row.includes(names.shut) && row.includes('holding') && row.includes('Next start in')), `${rows}`);
  const heights = await page.locator('table.keys tbody tr').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
  assert.ok(heights.every((height) => height <= 75), `a sentence has room: ${heights}`);
  await page.setViewportSize({ width: 360, height: 800 });
  await fits(page, 'without scripts');
  const labels = await page.locator('table.keys tbody tr').first().locator('td').evaluateAll((all) => all.map((cell) => getComputedStyle(cell, '::before').content.replaceAll('"', '')));
  ['rate / limit ', 'left ', 'queued ', '429s ', 'why '].forEach((label) => assert.ok(labels.includes(label), `${labels}`));
  await shut(page);
});

const STRICT = Boolean(process.env.STRICT);
const totals = (page) => page.locator('.totals').textContent();

/* Counts what changes in the page. */
const countChanges = () => {
  window.changes = 0;
  new MutationObserver((all) => { window.changes += all.length; })
    .observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
};

test('4: a hidden tab closes its stream, draws nothing, and catches up when it is seen', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await hide(page, true);
  await until('the stream is closed', async () => (await fetch(`${place.insideUrl}metrics`)).text().then((t) => /flyball_event_clients 0/.test(t)));
  await sleep(500); /* what was asked for before has come */
  const before = await totals(page);
  await page.evaluate(countChanges);
  await sleep(3000);
  assert.equal(await page.evaluate(() => window.changes), 0, 'nothing is drawn');
  const seen = Date.now();
  await hide(page, false);
  await until('it catches up', async () => (await totals(page)) !== before);
  assert.ok(Date.now() - seen <= (STRICT ? 1000 : 10000), `${Date.now() - seen} ms`);
  await shut(page);
});

test('5: one stream for all tabs, and a seventh still loads', async () => {
  const context = await browser.newContext();
  const pages = [];
  for (let i = 0; i < 7; i++) pages.push(await open(browser, place.url, { context }));
  const complaints = () => pages.flatMap((page) => page.complaints);
  await Promise.all(pages.map(isLive));
  const clients = async () => Number((await (await fetch(`${place.insideUrl}metrics`)).text()).match(/flyball_event_clients (\d+)/)[1]);
  await until('one of them streams', async () => (await clients()) === 1);
  await sleep(1500); /* and it stays at that */
  assert.equal(await clients(), 1);
  const before = await pages[6].locator('.summary').first().textContent();
  await until('the last one is told too', async () => (await pages[6].locator('.summary').first().textContent()) !== before);
  await pages[0].close();
  const then = await pages[6].locator('.summary').first().textContent();
  await until('another one takes over', async () => (await pages[6].locator('.summary').first().textContent()) !== then);
  assert.deepEqual(complaints(), []);
  await shut(pages[6]);
});

/* Two windows are seen at once, and one of them leads. */
test('5 and 10: a second window has what happened before it, each once and in order', async () => {
  const context = await browser.newContext();
  const first = await open(browser, place.url, { context });
  await isLive(first);
  const linesOf = (page) => page.locator('.events li').evaluateAll((all) => all.filter((n) => n.querySelector('time')).map((n) => n.textContent));
  await until('something happened', async () => (await linesOf(first)).length > 3);
  const second = await open(browser, place.url, { context });
  const isSame = async () => { /* but for the oldest of those that it has asked for */
    const [its, own] = [await linesOf(first), await linesOf(second)];
    const most = Math.min(its.length, own.length) - 1;
    return most > 2 && JSON.stringify(its.slice(0, most)) === JSON.stringify(own.slice(0, most));
  };
  await until('the second one has it as well', isSame);
  await hide(second, true);
  const submit = async (n) => {
    const asked = place.run('fetch', '--submit', `http://127.0.0.1:${place.port}/healthz?n=${n}`);
    assert.equal(await new Promise((resolve) => { asked.once('exit', resolve); }), 0);
  };
  for (let n = 0; n < 3; n++) await submit(n);
  const submitted = async (page) => (await linesOf(page)).filter((line) => line.includes('submitted')).length;
  await until('the first one has heard', async () => (await submitted(first)) >= 3);
  assert.ok((await submitted(second)) < 3, 'the hidden one has not');
  await hide(second, false);
  await until('and when it is seen again', async () => (await submitted(second)) === 3 && isSame());
  await second.close();
  await shut(first);
});

test('4: the line of the last minute is that of the last minute, also after a time out of sight', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await hide(page, true);
  await sleep(8000);
  const asked = page.waitForRequest(/history\?step=1&samples=60&figure=sent/);
  await hide(page, false);
  await asked;
  await shut(page);
});

test('what the stream brings of watched items is nothing: the view of them asks', async () => {
  const page = await open(browser, 'about:blank');
  const asked = page.waitForRequest(/\/events\?/);
  await page.goto(place.url);
  assert.match((await asked).url(), /items=none/);
  await shut(page);
});

/* A minute of which this clock knows and the page does not. */
test('4: after a long time out of sight nothing is lost, and nothing says so', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await hide(page, true);
  await page.route(/\/(status|events)/, async (route) => { await sleep(2500); await route.continue(); });
  await page.evaluate(() => {
    const { now } = Date;
    Date.now = () => now() + 60000;
    window.alarms = 0;
    new MutationObserver(() => { window.alarms += 1; }).observe(document.getElementById('lost'), { attributes: true });
  });
  const before = await totals(page);
  await hide(page, false);
  await until('it catches up', async () => (await totals(page)) !== before);
  assert.equal(await page.evaluate(() => window.alarms), 0);
  await shut(page);
});

test('a tab says what it shows, and the worst there is', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await until('it holds', async () => /^‖ flyball$/.test(await page.title()));
  await page.goto(`${place.url}#/p/${encodeURIComponent(names.told)}?pool=default`);
  await until('the provider', async () => (await page.title()) === `‖ ${names.told} · flyball`);
  await page.goto(`${place.url}#/batches`);
  await until('the view', async () => (await page.title()) === '‖ Batches · flyball');
  await shut(page);
});

/* Browsers know locks on this machine and over https; a host that is configured may be neither. */
test('5: where there are no locks a tab asks every 2 s and holds no connection between', async () => {
  const context = await browser.newContext();
  await context.addInitScript(() => Object.defineProperty(Navigator.prototype, 'locks', { value: undefined }));
  const pages = [];
  for (let i = 0; i < 7; i++) pages.push(await open(browser, place.url, { context }));
  const asked = [];
  pages[6].on('request', (r) => r.url().includes('/events') && asked.push(r.url()));
  const before = await totals(pages[6]);
  await until('the last one is told as well', async () => (await totals(pages[6])) !== before);
  const clients = [];
  const began = Date.now();
  asked.length = 0;
  for (let i = 0; i < 40; i++) {
    clients.push(Number((await (await fetch(`${place.insideUrl}metrics`)).text()).match(/flyball_event_clients (\d+)/)[1]));
    await sleep(150);
  }
  assert.ok(Math.min(...clients) < 6, `all connections are always in use: ${clients}`);
  assert.ok(clients.reduce((a, b) => a + b, 0) / clients.length < 5, `${clients}`);
  const seconds = (Date.now() - began) / 1000;
  assert.ok(asked.length >= 2 && asked.length <= seconds / 2 + 2, `asked ${asked.length} times in ${seconds} s`);
  await until('events come as well', () => pages[6].locator('.events li time').count());
  assert.deepEqual(pages.flatMap((page) => page.complaints), []);
  await shut(pages[6]);
});

test('6 and 8: headers that keep a browser safe, and no other name for us', async () => {
  for (const path of ['', 'app.js', 'app.css', 'status']) {
    const answer = await get(place.url + path, {});
    assert.equal(answer.statusCode, 200, path);
    assert.equal(answer.headers['content-security-policy'], "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['referrer-policy'], 'no-referrer');
    assert.ok(answer.headers['cache-control']);
  }
  assert.equal((await get(place.url, { Host: 'evil.example' })).statusCode, 403);
});

/* The configuration refuses such names; the page must not depend on that. */
const bewitch = async (page) => {
  const status = await place.status();
  const name = { provider: HOSTILE, why: HOSTILE, cause: HOSTILE, told_by: HOSTILE, credential: HOSTILE };
  status.keys.push({ ...status.keys[0], ...name, state: 'holding', may_start: false });
  status.batches.push({ ...status.batches[0], name: HOSTILE, bound_by: HOSTILE });
  const news = { kind: 'breaker', provider: HOSTILE, pool: HOSTILE, cause: HOSTILE, time: status.now };
  await page.evaluate(([data, event]) => {
    const other = new BroadcastChannel('flyball'); /* as another tab would tell it */
    other.postMessage({ kind: 'news', data: event });
    other.postMessage({ kind: 'status', data });
  }, [status, news]);
};

test('14: a hostile name is text everywhere', async () => {
  const page = await open(browser, place.url);
  let alerted = false;
  page.on('dialog', (d) => { alerted = true; d.dismiss(); });
  await isLive(page);
  const isShown = (what) => until('it is shown', async () => { /* the daemon tells its own, once a second */
    await bewitch(page);
    return what.isVisible();
  });
  await isShown(page.getByText(HOSTILE).first());
  await page.evaluate((name) => { location.hash = `#/p/${encodeURIComponent(name)}?pool=default`; }, HOSTILE);
  await isShown(page.locator('h2', { hasText: HOSTILE }).first());
  await page.evaluate(() => { location.hash = '#/batches'; });
  await isShown(page.getByText(HOSTILE).first());
  assert.equal(await page.locator('img').count(), 0);
  assert.equal(alerted, false);
  await shut(page);
});

test('a batch is as bad as what it waits for, and says so', async () => {
  const page = await open(browser, `${place.url}#/batches`);
  await isLive(page);
  const row = page.locator('tbody tr', { hasText: 'three' });
  await row.locator('.state', { hasText: 'holding' }).waitFor();
  assert.match(await row.locator('td.why').textContent(), new RegExp(`^${names.shut}: \\S+$`));
  await page.locator('tbody tr', { hasText: 'two' }).locator('.state', { hasText: /ok|warning/ }).waitFor();
  await shut(page);
});

test('batches that need attention come first', async () => {
  const page = await open(browser, `${place.url}#/batches`, { before: hearsNothing });
  await isLive(page);
  const status = await place.status();
  const batches = ['idle', 'ok', 'critical', 'ok', 'holding'].map((state, i) => ({ ...status.batches[0], name: `b${i}`, state, held_by: i === 2 ? 'x: breaker' : undefined, bound_by: '5.00/s' }));
  await tell(page, 'status', { ...status, batches });
  await page.locator('tbody tr', { hasText: 'b2' }).waitFor();
  assert.deepEqual(await page.locator('tbody td:first-child').allTextContents(), ['b2', 'b4', 'b1', 'b3', 'b0']);
  assert.deepEqual((await page.locator('td.why').allTextContents()).slice(0, 2), ['x: breaker', 'bound by 5.00/s']);
  await shut(page);
});

test('25: a deep link brings the view back, and the range goes along', async () => {
  const page = await open(browser, `${place.url}#/p/${encodeURIComponent(names.shut)}?pool=default&range=1h`);
  await isLive(page);
  await page.locator('h2', { hasText: names.shut }).waitFor();
  assert.equal(await page.locator('select').inputValue(), '1h');
  const key = (await place.status()).keys.find((k) => k.provider === names.shut);
  await page.getByText(`${key.throttled} of ${key.requests} requests`).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(/#\/\?range=1h$/);
  await page.locator('table.keys a', { hasText: names.told }).click();
  await page.waitForURL(/#\/p\/.*range=1h$/);
  await page.getByRole('link', { name: 'Batches' }).click();
  await page.waitForURL(/#\/batches\?range=1h$/);
  await page.locator('nav [aria-current]', { hasText: 'Batches' }).waitFor(); /* the address is first */
  await page.locator('select').selectOption('1d');
  await page.waitForURL(/#\/batches\?range=1d$/);
  const links = await page.evaluate(() => [...document.querySelectorAll('nav a')].map((a) => a.getAttribute('href')));
  assert.ok(links.every((href) => href.endsWith('?range=1d')), `${links}`);
  await page.locator('select').selectOption('15m');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.waitForURL(/#\/$/);
  await shut(page);
});

/* What the page says and the status that it says it of, taken in the same moment. */
const spy = () => {
  window.pairs = [];
  new BroadcastChannel('flyball').onmessage = ({ data: message }) => {
    if (message.kind !== 'status') return;
    const rows = [...document.querySelectorAll('table.keys tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
    window.pairs.push({ status: JSON.parse(message.data), rows, figures: [...document.querySelectorAll('.totals .figures b')].map((b) => b.textContent) });
  };
};

const grouped = (n) => Math.round(n).toLocaleString('en-US');
const isAbout = (text, value) => Math.abs(Number(text.replaceAll(',', '')) - value) <= Math.max(0.0051, value * 0.006);

const sameRow = (k, [name, state, , pace, left, next, queued, refused, why]) => {
  assert.equal(name, k.pool === 'default' ? k.provider : `${k.provider}/${k.pool}`);
  assert.match(state, new RegExp(`^\\S\\s*${k.state}$`));
  const [sent, limit] = pace.split(' / ');
  if (k.state === 'idle') assert.equal(sent, '-'); else assert.ok(isAbout(sent, k.rate_per_s), `${pace} ${k.rate_per_s}`);
  if (!k.learning && k.limit_per_s > 0) assert.ok(isAbout(limit.match(/[\d.,]+/)[0], k.limit_per_s), `${pace} ${k.limit_per_s}`);
  const told = k.quota || k.window;
  if (told) assert.ok(left.startsWith(`${grouped(told.remaining)} of ${grouped(told.limit)}`), left);
  if (k.may_start) assert.equal(next, k.queued + k.in_flight > 0 ? 'now' : '-');
  else if (k.next_start_in_s > 2) assert.match(next, /^in \d/);
  assert.equal(queued, grouped(k.queued));
  assert.equal(refused, grouped(k.throttled || 0));
  if (k.state === 'ok') assert.equal(why, '');
  else if (!k.may_start) assert.equal(why, k.because || k.cause);
};

const RANKS = ['critical', 'holding', 'warning', 'ok', 'idle'];

test('25: every figure of every row is that of the status with the same sequence', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.evaluate(spy);
  const asked = [];
  const pairs = await until('a few statuses came', async () => {
    asked.push(await place.status());
    const all = await page.evaluate(() => window.pairs);
    return all.length >= 5 && all;
  });
  for (const { status, rows, figures } of pairs) {
    const keys = [...status.keys].sort((a, b) => RANKS.indexOf(a.state) - RANKS.indexOf(b.state) || (a.provider < b.provider ? -1 : 1));
    assert.equal(rows.length, keys.length);
    keys.forEach((k, i) => sameRow(k, rows[i]));
    assert.deepEqual(figures.slice(1), [status.queue.active_tasks, status.queue.length, status.keys.reduce((sum, k) => sum + k.throttled, 0)].map(grouped));
  }
  const both = pairs.flatMap(({ status }) => asked.filter((other) => other.sequence === status.sequence).map((other) => [status, other]));
  assert.ok(both.length > 0, 'at least one of them was asked for as well');
  both.forEach(([one, other]) => { /* of the one that is held, whose figures stand still */
    const [mine, its] = [one, other].map((s) => s.keys.find((k) => k.provider === names.shut));
    ['state', 'rate_per_s', 'queued', 'in_flight', 'throttled', 'requests', 'cause'].forEach((name) => assert.equal(mine[name], its[name], name));
    assert.equal(mine.quota.remaining, its.quota.remaining);
    assert.ok(Math.abs(mine.limit_per_s - its.limit_per_s) <= 0.0002, 'what is left for the time that is left changes with it');
  });
  await shut(page);
});
