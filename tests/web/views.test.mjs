// SPDX-License-Identifier: MIT
// Deferred work, alerts and settings; what must never be in the page; and strings that break pages.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, isLive, launch, naughtyStrings, open, shut, sleep, until } from './daemon.mjs';

const CANARY = 'canary5ecret';
const OWN = ['</script><script>alert(1)</script>', '<!--<script>', ']]>', '"><svg onload=alert(1)>', "' onmouseover='alert(1)",
  'javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', '\u2028', '\u2029', '\u0000', '__proto__', 'constructor', 'toString', 'hasOwnProperty',
  '#/p/x?pool=y', '%E0%A4%A', '%', '%%', '?a=b&c=d', '../../etc/passwd', '{{7*7}}', '${7*7}', '<%= 7*7 %>', '\\u003cimg\\u003e', '&lt;img&gt;',
  '\ud800', 'a'.repeat(5000), ' ', '.', '..', '/'];
const NAUGHTY = [...naughtyStrings(), ...OWN];
/* JSON has no half pairs, and no list may have a zero in it. */
const ITEMS = NAUGHTY.map((text, i) => ({ path: encodeURIComponent(text.toWellFormed()), id: `${i} ${text.replaceAll('\0', '').slice(0, 100).toWellFormed()}` }));
let place;
let browser;
let shutName;

before(async () => {
  place = new Place();
  process.env.CANARY_TOKEN = CANARY;
  const busy = await place.mock('127.0.0.2', '--limit', 'rate=50/s', '--dialect', 'retry-after');
  shutName = await place.mock('127.0.0.4', '--limit', 'window=3/1h', '--dialect', 'github');
  const list = join(place.folder, 'naughty.jsonl');
  const rows = ITEMS.map(({ path, id }) => JSON.stringify({ url: `http://${shutName}/${path}?token=${CANARY}`, id }));
  writeFileSync(list, `${rows.join('\n')}\n`);
  await place.configure(`timeouts: {hold: 2s}\nalerts: {warning: 50%, wait: 1s}\n`
    + `providers:\n  secret:\n    hosts: [127.0.0.2]\n    limit: window=20/2s\n    credentials: {main: {env: CANARY_TOKEN}}\n`
    + `batches:\n  busy: {list: ${place.list('busy', busy, 5000)}}\n  naughty: {list: ${list}}\n`);
  await place.serve();
  await until('something is deferred', async () => (await place.status()).batches.some((b) => b.items.deferred > 5));
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

test('deferred work: what, until when, why', async () => {
  const page = await open(browser, `${place.insideUrl}#/deferred`);
  await page.locator('tbody tr').first().waitFor();
  assert.ok(await page.locator('tbody tr').count() > 5);
  const row = await page.locator('tbody tr').first().textContent();
  assert.ok(row.includes(shutName), row);
  assert.match(row, /\d\d:\d\d:\d\d/);
  await shut(page);
});

test('alerts: what is past a threshold, what was told, by which rules', async () => {
  const page = await open(browser, `${place.insideUrl}#/alerts`);
  await page.getByText('warning at 50 %').waitFor();
  await until('something is past its threshold, or was', async () => (await page.locator('.events li').count()) + (await page.locator('tbody tr').count()) > 0);
  await shut(page);
});

test('settings: every value, and where it came from', async () => {
  const page = await open(browser, `${place.insideUrl}#/settings`);
  const said = page.locator('tr', { hasText: 'timeouts.hold' }).first();
  await said.waitFor();
  assert.match(await said.textContent(), /2s\s*file\s*flyball\.yaml:\d+:\d+/);
  await page.locator('summary').click();
  const kept = page.locator('tr', { hasText: 'breaker.failures' }).first();
  assert.match(await kept.textContent(), /default/);
  const config = await (await fetch(`${place.insideUrl}view/config`)).json();
  assert.equal(await page.locator('.settings tbody tr').count(), Object.keys(config.origins).length);
  await shut(page);
});

test('a daemon that refuses to answer is told of; what was shown before stays', async () => {
  const page = await open(browser, 'about:blank');
  await page.route('**/view/alerts', (route) => route.fulfill({ status: 503, body: '{}' }));
  await page.goto(`${place.insideUrl}#/alerts`);
  await page.getByText('The daemon answers 503').waitFor();
  await page.unroute('**/view/alerts');
  await page.getByText('warning at 50 %').waitFor();
  let asked = 0;
  await page.route('**/view/alerts', (route) => { asked += 1; return asked % 2 ? route.fulfill({ status: 503, body: '{}' }) : route.abort(); });
  await until('it was asked twice more', () => asked >= 2);
  await page.getByText('warning at 50 %').waitFor();
  assert.equal(await page.getByText('The daemon').count(), 0);
  await shut(page, /status of 503|net::ERR_/);
});

test('at the public door these say that they are told inside only, and ask for nothing', async () => {
  for (const view of ['deferred', 'alerts', 'audit', 'settings']) {
    const page = await open(browser, `${place.url}#/${view}`);
    await page.getByText('Not told here').waitFor();
    await shut(page);
    const path = { audit: 'audit?json=1', settings: 'config' }[view] || view;
    assert.equal((await fetch(`${place.url}view/${path}`)).status, 404);
  }
});

test('a secret is nowhere in the page, nor in what the page asks for', async () => {
  for (const door of [place.url, place.insideUrl]) {
    const page = await open(browser, door);
    const answers = [];
    page.on('response', (r) => !r.url().includes('/events') && answers.push(r.text().catch(() => '')));
    await page.reload();
    await isLive(page);
    for (const view of ['#/', `#/p/${encodeURIComponent(shutName)}`, '#/batches', '#/deferred', '#/alerts', '#/audit', '#/settings']) {
      await page.evaluate((hash) => { location.hash = hash; }, view);
      await sleep(400);
      assert.ok(!(await page.content()).includes(CANARY), view);
    }
    assert.ok(!(await Promise.all(answers)).some((text) => text.includes(CANARY)));
    await shut(page);
    const stream = (await fetch(`${door}events?with=status&recent=100`)).body.getReader();
    let told = '';
    while (told.split('event: status').length < 3) told += Buffer.from((await stream.read()).value).toString('latin1');
    await stream.cancel();
    assert.ok(told.includes('"keys"') && !told.includes(CANARY));
  }
});

/* As another tab would tell it: the daemon refuses most of these names. */
const tell = (page, names) => page.evaluate(([status, strings]) => {
  const other = new BroadcastChannel('flyball');
  const key = status.keys[0];
  const batch = status.batches[0];
  strings.forEach((text) => other.postMessage({ kind: 'news', data: { kind: 'breaker', provider: text, pool: text, cause: text, time: status.now } }));
  other.postMessage({ kind: 'status', data: { ...status,
    keys: strings.map((text, i) => ({ ...key, provider: text, pool: i % 2 ? text : 'default', why: text, cause: text, told_by: text, credential: text, spec: text, state: 'holding', may_start: false })),
    batches: strings.map((text) => ({ ...batch, name: text, bound_by: text, list: text })),
    note: strings[0] } });
}, [names.status, names.strings]);

/* Elements that only a string could have made. */
const foreign = (page) => page.evaluate(() => document.querySelectorAll('main :is(img, script, iframe, object, embed, form, style, link, meta, base, audio, video, marquee, [onerror], [onload], [onmouseover])').length);

test(`14: ${NAUGHTY.length} strings that break pages are text, wherever they stand`, async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  assert.ok(NAUGHTY.length >= 515);
  const status = await place.status();
  for (let i = 0; i < NAUGHTY.length; i += 50) {
    const strings = NAUGHTY.slice(i, i + 50);
    for (const view of ['#/', '#/batches']) {
      await page.evaluate((hash) => { location.hash = hash; }, view);
      await until('they are shown', async () => { /* the daemon tells its own, once a second */
        await tell(page, { status, strings });
        return page.evaluate(() => document.querySelectorAll('tbody tr').length > 5);
      });
      assert.equal(await foreign(page), 0, `${view} ${i}`);
    }
  }
  for (const text of NAUGHTY) {
    await page.evaluate((name) => { try { location.hash = `#/p/${encodeURIComponent(name)}?pool=default`; } catch { /* half a pair */ } }, text);
    await tell(page, { status, strings: [text] });
    assert.equal(await foreign(page), 0, text);
  }
  await page.evaluate(() => { location.hash = '#/'; });
  await shut(page, /status of 400/); /* no provider has such a name, and its history is refused */
});

test('14: such strings as items and URLs, through the daemon', async () => {
  const page = await open(browser, `${place.insideUrl}#/deferred`);
  await until('they are deferred', async () => (await page.locator('tbody tr').count()) > 400);
  assert.equal(await foreign(page), 0);
  const told = await page.evaluate(async () => (await (await fetch('view/deferred')).json()).deferred);
  const ids = new Set(await page.locator('tbody tr td:nth-child(2)').evaluateAll((cells) => cells.map((c) => c.textContent)));
  const wanted = new Set(ITEMS.map(({ id }) => id));
  told.forEach(({ id }) => {
    assert.ok(ids.has(id), `shown as it is told: ${JSON.stringify(id)}`);
    assert.ok(wanted.has(id), `told as it was said: ${JSON.stringify(id)}`);
  });
  await shut(page);
});

test('18: axe finds nothing wrong here either', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, place.insideUrl, { colorScheme, bypassCSP: true });
    await isLive(page);
    for (const view of ['#/deferred', '#/alerts', '#/settings', '#/audit', '#/batches']) {
      await page.evaluate((hash) => { location.hash = hash; }, view);
      await page.locator('.is-page .panel').first().waitFor();
      await axeIsHappy(page, `${view} ${colorScheme}`);
    }
    await shut(page);
  }
});
