// SPDX-License-Identifier: MIT
// Between the page and the daemon: a line that falls silent, and one that breaks.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, sleep, until } from './daemon.mjs';

let place;
let browser;
let middle;
let isSilent = false;
let isCut = false;
const lines = new Set(); /* connections through it */

/* Between the browser and the daemon: forgets what it hears once it is told to be silent, and hangs up where it is cut. */
const relay = () => createServer((near) => {
  if (isCut) {
    near.destroy();
    return;
  }
  const far = connect(place.port, '127.0.0.1');
  lines.add(near);
  far.on('data', (bytes) => isSilent || near.write(bytes));
  near.on('data', (bytes) => isSilent || far.write(bytes));
  [near, far].forEach((one, i) => {
    one.on('error', () => {});
    one.on('close', () => [far, near][i].destroy());
  });
});

before(async () => {
  place = new Place();
  await place.configure('');
  await place.serve();
  middle = relay().listen(0, '127.0.0.1');
  await until('the relay listens', () => middle.address());
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  middle.close();
  place.close();
});

test('11: 30 s of silence are a connection that is lost', async () => {
  const page = await open(browser, `http://127.0.0.1:${middle.address().port}/`);
  await isLive(page);
  isSilent = true;
  const began = Date.now();
  await page.locator('#lost', { hasText: 'Connection lost' }).waitFor({ timeout: 120000 });
  assert.ok(Date.now() - began >= 25000, 'not before it is silent for long');
  isSilent = false;
  await page.locator('#lost').waitFor({ state: 'hidden', timeout: 120000 });
  await shut(page, /net::ERR_/);
});

test('11: a stream on which nothing happens has a heartbeat', async () => {
  const answer = await fetch(`${place.url}events?items=none`);
  const reader = answer.body.getReader();
  const end = Date.now() + 40000;
  let last = Date.now();
  let longest = 0;
  while (Date.now() < end) {
    const { done, value } = await reader.read();
    assert.equal(done, false, 'it stays open');
    assert.match(new TextDecoder().decode(value), /^(:|event: |data: |retry: )/m);
    longest = Math.max(longest, Date.now() - last);
    last = Date.now();
  }
  await reader.cancel();
  assert.ok(longest <= 15000, `${longest} ms without a word`);
});

/* The same daemon, a connection that breaks: it goes on where it was. */
test('10: events of a time without a connection come after it, each once, and no gap', async () => {
  const page = await open(browser, `http://127.0.0.1:${middle.address().port}/`);
  await isLive(page);
  const submit = async (n) => {
    const asked = place.run('fetch', '--submit', `http://127.0.0.1:${place.port}/healthz?n=${n}`);
    assert.equal(await new Promise((resolve) => { asked.once('exit', resolve); }), 0);
  };
  const told = async () => (await page.locator('.events li').allTextContents()).filter((line) => line.includes('submit'));
  await submit(0);
  await until('the first is told', async () => (await told()).length > 0);
  isCut = true;
  lines.forEach((line) => line.destroy());
  await page.locator('#lost', { hasText: 'Connection lost' }).waitFor();
  for (let n = 1; n < 6; n++) await submit(n);
  await sleep(500);
  isCut = false;
  await page.locator('#lost').waitFor({ state: 'hidden', timeout: 90000 });
  const audit = (await (await fetch(`${place.insideUrl}view/audit?json=1`)).json()).events.filter((e) => e.kind === 'submit');
  assert.equal(audit.length, 6);
  await until('all are told', async () => (await told()).length >= 6);
  const all = await told();
  audit.forEach(({ text }) => assert.equal(all.filter((line) => line.includes(text)).length, 1, `${text}: ${all}`));
  assert.equal(await page.locator('.events .gap').count(), 0);
  await shut(page, /net::ERR_/);
});
