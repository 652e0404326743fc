// SPDX-License-Identifier: MIT
// Keys that are hard to tell apart, and one that is down: several credentials of one provider, work
// of several priorities, a breaker that is open, and names that break pages, through the daemon.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, isLive, launch, naughtyStrings, open, shut, until } from './daemon.mjs';

const CANARY = 'canary5ecret';
let place;
let browser;
let origin;
let down; /* answers 500, always */

/* Items as lines of JSON; what they have beside their URL is made by `more`. */
const jsonList = (where, name, address, count, more) => {
  const file = join(where.folder, `${name}.jsonl`);
  const line = (i) => JSON.stringify({ url: `http://${address}/item/${i}`, id: `${i}`, ...more(i) });
  writeFileSync(file, Array.from({ length: count }, (_, i) => `${line(i)}\n`).join(''));
  return file;
};

before(async () => {
  place = new Place();
  const shared = await place.mock('127.0.0.2', '--limit', 'rate=40/s');
  origin = createServer((request, answer) => { answer.writeHead(500).end(); }).listen(0, '127.0.0.8');
  await until('the origin listens', () => origin.address());
  down = `127.0.0.8:${origin.address().port}`;
  const two = jsonList(place, 'two', shared, 4000, (i) => ({ priority: i % 4 ? 'normal' : 'high',
    headers: { Authorization: `Bearer ${CANARY}${i % 3 ? 'a' : 'b'}` } }));
  await place.configure('providers:\n  shared: {hosts: ["127.0.0.2"], limit: "adapt=off rate=2/s"}\n'
    + `batches:\n  two: {list: ${two}}\n  down: {list: ${place.list('down', down, 100)}}\n`);
  await place.serve();
  await until('both credentials are known', async () => (await place.status()).keys.filter((k) => k.provider === 'shared').length === 2);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  origin.closeAllConnections();
  origin.close();
  place.close();
});

const rows = (page, name) => page.locator('table.keys tbody tr', { hasText: name });
const inside = async () => (await fetch(`${place.insideUrl}status`)).json();

test('two credentials of one provider are two rows, by the ends of their hashes', async () => {
  const page = await open(browser, place.insideUrl, { bypassCSP: true });
  await isLive(page);
  const hashes = (await inside()).keys.filter((k) => k.provider === 'shared').map((k) => k.credential.slice(-4));
  assert.equal(new Set(hashes).size, 2);
  for (const hash of hashes) await rows(page, `shared …${hash}`).waitFor();
  assert.equal(await rows(page, 'shared').count(), 2);
  await until('each has a rate of its own', async () => (await rows(page, 'shared').locator('td.rate').allTextContents())
    .every((text) => /^[123](\.\d+)? \/ 2\.00/.test(text)));
  await rows(page, `…${hashes[1]}`).locator('a').click();
  await page.locator('h2.title', { hasText: `shared …${hashes[1]}` }).waitFor();
  assert.match(await page.locator('main .facts').textContent(), new RegExp(`credential…${hashes[1]} \\(hash\\)`));
  assert.equal(await page.locator('.pools a').count(), 2);
  assert.ok((await page.locator('.pools [aria-current]').textContent()).includes(hashes[1]));
  await page.reload();
  await page.locator('h2.title', { hasText: `shared …${hashes[1]}` }).waitFor();
  await axeIsHappy(page, 'one of two credentials');
  assert.ok(!(await page.content()).includes(CANARY));
  await shut(page);
});

test('what is sent in all is that of both, and not of both twice', async () => {
  const page = await open(browser, place.insideUrl);
  await isLive(page);
  const sent = async () => Number((await page.locator('.totals .figures b').first().textContent()));
  await until('two rates of two are four', async () => (await sent()) >= 3);
  const seen = [];
  for (let i = 0; i < 5; i++) {
    seen.push(await sent());
    await page.waitForTimeout(1000);
  }
  assert.ok(seen.reduce((a, b) => a + b, 0) / seen.length < 6, `${seen}`);
  await shut(page);
});

test('where hashes are not told they are numbered', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await rows(page, 'shared (1 of 2)').waitFor();
  await rows(page, 'shared (2 of 2)').waitFor();
  assert.equal(await rows(page, 'shared').count(), 2);
  assert.ok(!(await inside()).keys.filter((k) => k.credential).some((k) => page.url().includes(k.credential)));
  await fits(page, 'two credentials');
  await shut(page);
});

test('the queue by priority, and the oldest in it', async () => {
  const page = await open(browser, `${place.insideUrl}#/p/shared?pool=default`);
  await isLive(page);
  await page.locator('.stack i').nth(1).waitFor();
  const text = await page.locator('.shares').textContent();
  assert.match(text, /high\d+normal\d+/);
  await page.getByText(/oldest \d/).waitFor();
  await shut(page);
});

test('one that is down is critical and comes first, and says when it is tried again', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await until('it is left alone', async () => (await place.status()).keys.some((k) => k.provider === down && k.breaker_open && !k.may_start));
  const first = page.locator('table.keys tbody tr').first();
  await until('it comes first', async () => (await first.textContent()).includes(down));
  assert.match(await first.locator('.state').textContent(), /critical/);
  assert.match(await first.locator('td.why').textContent(), /^(breaker|pause)$/);
  await page.locator('.verdict.state-critical', { hasText: down }).waitFor();
  assert.match(await page.title(), /^■ /);
  await first.locator('a').click();
  await page.locator('main .facts', { hasText: /breakeropen, (one trial at|a trial)/ }).waitFor();
  assert.match(await page.locator('.verdict').textContent(), /the last \d+ answers were 500/);
  await shut(page);
});

/* A daemon keeps 256 keys in its status: so in groups. Names end at 63 bytes. */
const GROUP = 200;
const NAMES = [...naughtyStrings(), ...naughtyStrings().slice(0, 40).map((text) => `<i>${text}`), '</script><script>alert(1)</script>', '<!--<script>', '"><svg onload=alert(1)>', "' onmouseover='alert(1)", '\u2028', '__proto__', 'constructor']
  .map((text) => text.replaceAll('\0', '').toWellFormed()).filter(Boolean);
const foreign = (page) => page.evaluate(() => document.querySelectorAll('main :is(img, script, iframe, object, embed, form, style, link, meta, base, audio, video, marquee, [onerror], [onload], [onmouseover])').length);

test(`14: ${NAMES.length} names that break pages, as the daemon's own, with scripts and without`, async () => {
  assert.ok(NAMES.length >= 515);
  for (let from = 0; from < NAMES.length; from += GROUP) {
    const group = NAMES.slice(from, from + GROUP);
    const other = new Place();
    try {
      const address = await other.mock('127.0.0.3', '--limit', 'rate=10000/s');
      await other.configure(`batches:\n  all: {list: ${jsonList(other, 'all', address, group.length, (i) => ({ pool: group[i] }))}}\n`);
      await other.serve();
      await until('all was asked', async () => { const { items } = (await other.status()).batches[0]; return items.ended === group.length; });
      const { keys } = await other.status();
      const plain = await open(browser, other.url, { javaScriptEnabled: false });
      assert.equal(await plain.locator('table.keys tbody tr').count(), keys.length);
      const names = new Set(await plain.locator('table.keys tbody td:first-child').allTextContents());
      keys.forEach((k) => assert.ok(names.has(k.pool === 'default' ? k.provider : `${k.provider}/${k.pool}`), `as text: ${JSON.stringify(k.pool)}`));
      assert.equal(await plain.locator('main :is(img, iframe, svg, form)').count(), 0);
      await shut(plain);
      const page = await open(browser, other.url);
      await isLive(page);
      assert.equal(await page.locator('table.keys tbody tr').count(), keys.length);
      assert.equal(await foreign(page), 0);
      await shut(page);
    } finally { other.close(); }
  }
});
