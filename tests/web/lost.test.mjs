// SPDX-License-Identifier: MIT
// The daemon goes, and comes back; and before there is anything to show.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, until } from './daemon.mjs';

let place;
let browser;

before(async () => {
  place = new Place();
  await place.configure('');
  await place.serve();
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

/* What a browser says of a server that is gone. */
const GONE = /net::ERR_|Failed to load resource/;

test('12: before the first request it says what to do, and that works when it is pasted', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.getByText('No request yet').waitFor();
  const command = await page.locator('.empty code').first().textContent();
  const address = await place.mock('127.0.0.1', '--limit', 'rate=50/s');
  const [program, ...words] = command.split(' ');
  assert.equal(program, 'flyball');
  place.list('urls', address, 20);
  const pasted = place.run(...words);
  assert.equal(await new Promise((resolve) => { pasted.once('exit', resolve); }), 0);
  await page.locator('table.keys tbody tr', { hasText: address }).waitFor();
  await shut(page);
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
