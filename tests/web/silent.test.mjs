// SPDX-License-Identifier: MIT
// 11: a socket that stays open and says nothing any more is noticed all the same.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, shut, until } from './daemon.mjs';

let place;
let browser;
let middle;
let isSilent = false;

/* Between the browser and the daemon: forgets what it hears once it is told to be silent. */
const relay = () => createServer((near) => {
  const far = connect(place.port, '127.0.0.1');
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
  const answer = await fetch(`${place.url}events`);
  const reader = answer.body.getReader();
  let heard = '';
  await until('a beat', async () => {
    heard += new TextDecoder().decode((await reader.read()).value);
    return /^(:|event: |data: )/m.test(heard) && heard;
  }, 120000);
  await reader.cancel();
});
