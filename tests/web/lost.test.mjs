// SPDX-License-Identifier: MIT
// The daemon goes, and comes back; and before there is anything to show.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

let place;
let browser;
let shell;

before(async () => {
  place = new Place();
  await place.configure('');
  await place.serve();
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
  try { if (shell) process.kill(-shell.pid); } catch { /* all of it has ended */ }
});

/* What a browser says of a server that is gone. */
const GONE = /net::ERR_|Failed to load resource/;

/* As a shell would have it, in a folder with nothing in it; what it leaves running ends with us. */
const paste = (command) => {
  const cwd = join(place.folder, 'bare');
  mkdirSync(cwd);
  const env = { ...process.env, PATH: `${dirname(process.env.FLYBALL)}:${process.env.PATH}`, XDG_RUNTIME_DIR: place.folder, XDG_STATE_HOME: place.folder, XDG_CONFIG_HOME: place.folder };
  shell = spawn('sh', ['-c', command], { cwd, env, stdio: 'ignore', detached: true });
  return new Promise((resolve) => { shell.once('exit', resolve); });
};

test('12: before the first request it says what to do, and that works when it is pasted', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.getByText('No request yet').waitFor();
  await fits(page, 'the empty state');
  assert.equal(await page.getByText('The same figures').isVisible(), false);
  const command = await page.locator('.empty code').first().textContent();
  const plain = await open(browser, place.url, { javaScriptEnabled: false });
  assert.equal(await plain.locator('.empty code').textContent(), command, 'without scripts it is the same one');
  await shut(plain);
  assert.equal(await paste(command), 0);
  await page.locator('table.keys tbody tr', { hasText: '127.0.0.1:8070' }).waitFor();
  await page.locator('table.keys tbody tr', { hasText: 'idle' }).waitFor();
  await page.evaluate(() => { location.hash = '#/batches'; });
  await page.locator('tr', { hasText: '60 of 60' }).waitFor();
  await shut(page);
});

test('18: axe finds nothing wrong in the empty state', async (t) => {
  const bare = new Place();
  t.after(() => bare.close());
  await bare.configure('');
  await bare.serve();
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(browser, bare.insideUrl, { colorScheme, bypassCSP: true });
    await isLive(page);
    await page.getByText('No request yet').waitFor();
    await axeIsHappy(page, `empty, ${colorScheme}`);
    const box = await page.locator('.empty').first().boundingBox();
    assert.ok(Math.abs(box.y + box.height / 2 - 450) < 120, `it stands in the middle: ${JSON.stringify(box)}`);
    await shut(page);
  }
});

test('9 and 10: the connection is lost, said so, and comes back without a reload', async () => {
  const page = await open(browser, place.url);
  const asked = [];
  page.on('request', (r) => r.url().includes('/events') && asked.push(r.url()));
  await isLive(page);
  await until('something happened', () => page.locator('.events li time').count());
  const told = await page.locator('.events li').allTextContents();
  const killed = Date.now();
  await place.stop();
  await page.locator('#lost', { hasText: 'Connection lost, showing' }).waitFor();
  assert.ok(Date.now() - killed < (process.env.STRICT ? 3000 : 30000));
  assert.ok(await page.evaluate(() => document.body.classList.contains('is-stale')));
  const first = await page.locator('#live').textContent();
  await until('its age counts up', async () => (await page.locator('#live').textContent()) !== first);
  await page.locator('.verdict.state-idle', { hasText: /^○As of \d\d:\d\d:\d\d: / }).waitFor();
  await place.configure('');
  await place.serve();
  await page.locator('#lost').waitFor({ state: 'hidden', timeout: 90000 });
  assert.match(asked.at(-1), /last_event_id=[^&]+/);
  /* Another daemon does not know what was heard: that is said, and nothing is told twice. */
  await page.locator('.events .gap').waitFor();
  const now = await page.locator('.events li').allTextContents();
  told.forEach((line) => assert.ok(now.filter((other) => other === line).length <= told.filter((other) => other === line).length, line));
  await shut(page, GONE);
});

test('20: that it is lost is said once, while its age counts up', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await place.stop();
  await page.locator('#lost', { hasText: 'Connection lost, showing' }).waitFor();
  await page.evaluate(() => {
    window.alerts = 0;
    new MutationObserver((all) => { window.alerts += all.length; })
      .observe(document.querySelector('[role=alert]'), { subtree: true, childList: true, characterData: true, attributes: true });
  });
  const age = () => page.locator('#lost [aria-hidden]').textContent();
  const before = await age();
  await sleep(5000);
  assert.notEqual(await age(), before, 'for the eyes it counts');
  assert.ok(await page.evaluate(() => window.alerts) <= 1);
  assert.match(await page.locator('[role=alert]').textContent(), /^Connection lost, showing \d\d:\d\d:\d\d$/);
  await place.serve();
  await page.locator('#lost').waitFor({ state: 'hidden', timeout: 90000 });
  await shut(page, GONE);
});

test('18: what is shown of a connection that is lost can still be read', async (t) => {
  const loser = new Place();
  t.after(() => loser.close());
  const address = await loser.mock('127.0.0.2', '--limit', 'window=3/1h', '--dialect', 'github');
  await loser.configure(`batches:\n  one: {list: ${loser.list('one', address, 50)}}\n`);
  await loser.serve();
  await until('it holds', async () => (await loser.status()).keys.some((k) => k.state === 'holding'));
  const pages = [];
  for (const colorScheme of ['light', 'dark']) pages.push(await open(browser, loser.insideUrl, { colorScheme, bypassCSP: true }));
  await Promise.all(pages.map(isLive));
  await pages[1].evaluate((name) => { location.hash = `#/p/${encodeURIComponent(name)}`; }, address);
  await loser.stop();
  for (const page of pages) {
    await page.locator('body.is-stale .verdict', { hasText: 'As of' }).waitFor();
    await sleep(500); /* it fades */
    await axeIsHappy(page, 'lost');
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('main')).filter), 'grayscale(1)');
    await shut(page, GONE);
  }
});

/* A stream that always fails, and a clock that only notes for how long it was asked to wait. */
const neverConnects = () => {
  const later = window.setTimeout;
  window.waits = [];
  window.setTimeout = (f, ms, ...more) => {
    if (ms >= 1000) window.waits.push(ms);
    return later(f, Math.min(ms, 5), ...more);
  };
  window.EventSource = class {
    constructor() { later(() => this.onerror(), 1); }

    close() { this.onerror = () => {}; }

    addEventListener() {}
  };
};

test('10: it tries again after 1, 2, 4 ... 30 s, and up to half as much more', async () => {
  const page = await open(browser, place.url, { before: neverConnects });
  await until('it has tried often', () => page.evaluate(() => window.waits.length >= 8));
  const waits = await page.evaluate(() => window.waits);
  waits.slice(0, 8).forEach((ms, i) => {
    const base = Math.min(1000 * 2 ** i, 30000);
    assert.ok(ms >= base && ms <= base * 1.5, `${i}: ${ms}`);
  });
  assert.ok(new Set(waits.slice(5, 8)).size > 1, 'by chance');
  await shut(page);
});
