// SPDX-License-Identifier: MIT
// page-pictures.mjs - pictures of the pages, from real batches in a real browser.
//
//     node tools/page-pictures.mjs FOLDER [WORD]     FLYBALL and WEB_MODULES as for tests/web
//
// The report of a batch goes to FOLDER, the dashboard in each of its states, on a desk and on a
// phone and in both themes, to FOLDER/pictures; with a WORD only those with it in their names.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Place, isLive, launch, sleep, until } from '../tests/web/daemon.mjs';

const REPORTS = [
  ['report', { width: 1280, height: 900 }, 'light'],
  ['report-phone', { width: 390, height: 844 }, 'dark'],
];
const SCREENS = [['desktop', { width: 1280, height: 800 }], ['phone', { width: 390, height: 844 }]];
const THEMES = ['light', 'dark'];

const [folder, word = ''] = process.argv.slice(2);
const pictures = join(folder, 'pictures');
let browser;

/* A quarter of a minute: the search for a limit, a refusal or two, and how it is kept to. */
const makeReport = async (place) => {
  const address = await place.mock('127.0.0.1', '--limit', 'rate=40/s burst=20', '--dialect', 'retry-after', '--seed', '1');
  const file = join(place.folder, 'report.html');
  const batch = place.run('fetch', place.list('urls', address, 500), '--jsonl', join(place.folder, 'out.jsonl'), '--report', file);
  const code = await new Promise((resolve) => { batch.once('exit', resolve); });
  if (code !== 0) throw new Error(`the batch ended with ${code}`);
  return pathToFileURL(file).href;
};

const drawReports = async () => {
  const place = new Place();
  try {
    const url = await makeReport(place);
    for (const [name, viewport, colorScheme] of REPORTS) {
      const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 1 });
      await page.goto(url);
      await page.locator('canvas').first().waitFor();
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
      await page.close();
    }
  } finally { place.close(); }
};

/* On every screen and in both themes; `prepare` brings the page into the state to be shown. */
const draw = async (name, url, prepare, fullPage = false) => {
  for (const [screen, viewport] of SCREENS) {
    for (const colorScheme of THEMES) {
      const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 1 });
      await page.goto(url);
      await prepare(page);
      await page.screenshot({ path: join(pictures, `${name}-${screen}-${colorScheme}.png`), fullPage });
      await page.close();
    }
  }
};

/* Providers with names, each with a limit and a way to tell it of its own; then how many items. */
const APIS = [
  ['github', '127.0.0.2', 'fixed=6000/1h', 'github', 'pacing=even reserve=10%'],
  ['crossref', '127.0.0.3', 'rate=12/s burst=4', 'retry-after', ''],
  ['search', '127.0.0.4', 'window=300/1m', 'ietf', ''],
  ['feeds', '127.0.0.5', 'rate=5/s burst=5', 'none', ''],
];
/* Those of whose quota little is left: one is warned of, one is critical. */
const SCARCE = [
  ['weather', '127.0.0.7', 'fixed=500/1d', 'github', 'adapt=off rate=20/s pacing=demand', 300],
  ['maps', '127.0.0.8', 'fixed=400/1d', 'github', 'adapt=off rate=20/s pacing=demand', 340],
];

const startUnderLoad = async (apis) => {
  const place = new Place();
  const providers = [];
  const batches = [];
  for (const [name, host, limit, dialect, said, items = 20000] of apis) {
    const address = await place.mock(host, '--limit', limit, '--dialect', dialect, '--jitter', '60ms');
    providers.push(`  ${name}:\n    hosts: ["${host}"]\n${said ? `    limit: ${said}\n` : ''}`);
    batches.push(`  ${name}: {list: ${place.list(name, address, items)}}\n`);
  }
  await place.configure(`providers:\n${providers.join('')}batches:\n${batches.join('')}`);
  await place.serve();
  await until('all are known', async () => (await place.status()).keys.length >= apis.length);
  return place;
};

const settle = async (page) => {
  await isLive(page);
  await sleep(3000);
};

const drawLoad = async () => {
  const place = await startUnderLoad([...APIS, ...SCARCE]);
  try {
    await sleep(90000); /* enough for a chart that tells something */
    await draw('load', place.insideUrl, settle);
    await draw('provider', `${place.insideUrl}#/p/github`, settle, true);
    /* The last one: the page stays, and who it listens to goes. */
    let isGone = false;
    const lose = async (page) => {
      await settle(page);
      if (!isGone) await place.stop();
      isGone = true;
      await page.locator('#lost').waitFor();
      await sleep(2500);
    };
    for (const [screen, viewport] of SCREENS) {
      for (const colorScheme of THEMES) {
        const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 1 });
        await page.goto(place.insideUrl);
        await lose(page);
        await page.screenshot({ path: join(pictures, `lost-${screen}-${colorScheme}.png`) });
        await page.close();
        await place.serve();
        isGone = false;
      }
    }
  } finally { place.close(); }
};

/* A hold: refused, and told to stay away. An exhausted quota: nothing is left until its reset. */
const drawHold = async () => {
  const place = await startUnderLoad([['openai', '127.0.0.6', 'rate=2/s burst=3 penalty=90s', 'retry-after', ''], ...APIS.slice(1, 3)]);
  try {
    await until('it holds', async () => (await place.status()).keys.some((k) => k.state === 'holding' && k.next_start_in_s > 30));
    await draw('hold', place.insideUrl, settle);
  } finally { place.close(); }
};

const drawExhausted = async () => {
  const place = await startUnderLoad([['github', '127.0.0.2', 'fixed=60/1h', 'github', 'pacing=demand reserve=10%'], ...APIS.slice(1, 3)]);
  try {
    await until('nothing is left', async () => (await place.status()).keys.some((k) => k.provider === 'github' && !k.may_start && k.next_start_in_s > 60));
    await draw('exhausted', place.insideUrl, settle);
  } finally { place.close(); }
};

/* What is watched: matches that three sites know of, one of them slow to hear. */
const drawFreshness = async () => {
  const place = new Place();
  try {
    const matches = ['--matches', 'live=8 pace=6'];
    const backend = await place.mock('127.0.0.2', '--site', 'backend', ...matches);
    const source = async (name, host, path, limit, weight, fields) => `    ${name}:\n      url: "http://${await place.mock(host, '--site', name, ...matches, '--limit', limit)}${path}"\n      limit: ${limit}\n      weight: ${weight}\n      fields: ${fields}\n`;
    await place.configure(`watch:\n  items: {url: "http://${backend}/matches", list: /matches, id: /id, state: /state, ids: {ticker: /ids/ticker}, every: 5s}\n  sources:\n`
      + await source('score', '127.0.0.3', '/api/match/{id}', 'rate=20/s burst=5', 10, '{minute: {path: /minute, type: integer}, venue: /venue}')
      + await source('ticker', '127.0.0.4', '/v2/events/{id}', 'window=600/1m', 2, '{minute: {path: /event/t, type: integer}, venue: /event/ground}'));
    await place.serve();
    await sleep(60000);
    await draw('freshness', `${place.insideUrl}#/freshness`, async (page) => { await settle(page); await sleep(15000); }, true);
  } finally { place.close(); }
};

const drawEmpty = async () => {
  const place = new Place();
  try {
    await place.configure('');
    await place.serve();
    await draw('empty', place.insideUrl, settle);
  } finally { place.close(); }
};

const WORKS = { report: drawReports, load: drawLoad, hold: drawHold, exhausted: drawExhausted, freshness: drawFreshness, empty: drawEmpty };

mkdirSync(pictures, { recursive: true });
browser = await launch();
try {
  for (const [name, work] of Object.entries(WORKS)) if (name.includes(word)) await work();
} finally { await browser.close(); }
