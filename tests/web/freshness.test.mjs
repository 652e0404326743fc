// SPDX-License-Identifier: MIT
// What is watched: its ages against what is wanted, its sources, an item and who told what of it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, axeIsHappy, fits, hasRoomForThumbs, isLive, keepsFocus, launch, open, shut, until } from './daemon.mjs';

let place;
let browser;

const source = (name, url, limit, weight, fields) => `    ${name}:\n      url: "${url}"\n      limit: ${limit}\n      weight: ${weight}\n      fields: ${fields}\n`;

before(async () => {
  place = new Place();
  const matches = ['--matches', 'live=6 pace=6'];
  const backend = await place.mock('127.0.0.2', '--site', 'backend', ...matches);
  const score = await place.mock('127.0.0.3', '--site', 'score', ...matches, '--limit', 'rate=20/s burst=5');
  const ticker = await place.mock('127.0.0.4', '--site', 'ticker', ...matches, '--limit', 'window=600/1m');
  await place.configure(`watch:\n  items: {url: "http://${backend}/matches", list: /matches, id: /id, state: /state, ids: {ticker: /ids/ticker}, every: 5s}\n  sources:\n`
    + source('score', `http://${score}/api/match/{id}`, 'rate=20/s burst=5', 10, '{minute: {path: /minute, type: integer}, venue: /venue}')
    + source('ticker', `http://${ticker}/v2/events/{id}`, 'window=600/1m', 2, '{minute: {path: /event/t, type: integer}, venue: /event/ground}'));
  await place.serve();
  await until('live items were heard of', async () => (await place.status()).watch.freshness.live.counted > 0);
  browser = await launch();
});

after(async () => {
  if (browser) await browser.close();
  place.close();
});

test('ages against what is wanted, sources with reliability and precedence, the grade', async () => {
  const page = await open(browser, `${place.url}#/freshness`);
  await isLive(page);
  const { watch } = await place.status();
  await page.locator('.verdict', { hasText: watch.grade }).waitFor();
  for (const { source: name } of watch.sources) {
    assert.match(await page.locator('tbody tr', { hasText: name }).first().textContent(), /\d+ %/);
  }
  const item = page.locator('tbody tr', { hasText: 'live' }).first();
  await item.waitFor();
  assert.match(await item.locator('.bar').getAttribute('aria-label'), /old, wanted: 10 s/);
  await page.locator('figure canvas').waitFor();
  assert.match(await page.locator('figcaption').textContent(), /p95 between|No live item/);
  await until('a table behind the chart', async () => (await page.locator('figure tbody tr').count()) > 0);
  await shut(page);
});

test('an item: each field with who told it, the sources, and what changed last', async () => {
  const page = await open(browser, `${place.url}#/freshness`);
  await isLive(page);
  const link = page.locator('tbody a[href^="#/i/"]').first();
  const id = await link.textContent();
  await link.click();
  await page.locator('h2', { hasText: id }).waitFor();
  await until('its fields are there', async () => (await page.locator('tr', { hasText: 'venue' }).count()) > 0);
  assert.match(await page.locator('tr', { hasText: 'venue' }).first().textContent(), /score|ticker/);
  assert.ok(await page.locator('.events li').count() > 0);
  await page.keyboard.press('Escape');
  await page.goto(`${place.url}#/i/${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
  await page.getByText('There is no such item now').waitFor();
  assert.equal(await page.locator('img').count(), 0);
  await shut(page, /404/);
});

test('how ages went is the daemon\'s to remember: a page that is loaded again has it, over any range', async () => {
  await until('there is some history', async () => {
    const { watch } = await (await fetch(`${place.url}history?watch=1&step=1&samples=60`)).json();
    return watch.p95_s && watch.p95_s.filter((v) => v != null).length >= 5;
  });
  const page = await open(browser, `${place.url}#/freshness`);
  await isLive(page);
  const rows = page.locator('figure tbody tr');
  await until('it has seconds from before it was opened', async () => (await rows.count()) >= 5, 5000);
  await page.reload();
  await isLive(page);
  await until('and again', async () => (await rows.count()) >= 5, 5000);
  assert.match(await page.locator('figcaption').textContent(), /^Last 15 min: p95 between/);
  const asked = page.waitForRequest(/history\?watch=1&step=10&/);
  await page.selectOption('#tools select', '1h');
  await asked;
  await until('an hour', async () => /^(Last 1 h: p95|No live item)/.test(await page.locator('figcaption').textContent()));
  await shut(page);
});

test('13: a chart of nothing has axes and says so, and its legend the thresholds', async () => {
  const page = await open(browser, 'about:blank');
  await page.route('**/history?watch=1*', (route) => route.fulfill({ json: { step_s: 1, end_s: Math.floor(Date.now() / 1000), watch: {} } }));
  await page.goto(`${place.url}#/freshness`);
  await isLive(page);
  await page.getByText('no live item in this window').waitFor();
  await page.locator('figure canvas').waitFor();
  const { config } = (await place.status()).watch;
  assert.match(await page.locator('.legend').textContent(), new RegExp(`wanted ${config.aim_live_s} s`));
  await page.unroute('**/history?watch=1*');
  await until('it is drawn when there is something', async () => !(await page.getByText('no live item in this window').isVisible()));
  await shut(page);
});

test('a filter sifts items at once', async () => {
  const page = await open(browser, `${place.url}#/freshness`);
  await isLive(page);
  const links = page.locator('tbody a[href^="#/i/"]');
  await links.first().waitFor();
  const id = await links.first().textContent();
  await page.locator('input').fill(id);
  await until('one is left', async () => (await links.count()) === 1);
  await page.locator('input').fill('nobody');
  await page.getByText('No item has this in its name.').waitFor();
  await shut(page);
});

test('17: an item keeps the focus while ages and their order change, and a list its place', async () => {
  const page = await open(browser, `${place.url}#/freshness`, { bypassCSP: true });
  await isLive(page);
  await page.addStyleTag({ content: '.events { max-height: 40px !important }' });
  await page.locator('tbody a[href^="#/i/"]').first().waitFor();
  const ages = () => page.locator('td.items').allTextContents();
  const before = await ages();
  await keepsFocus(page, 'tbody tr:nth-child(2) a[href^="#/i/"]');
  assert.notDeepEqual(await ages(), before, 'something changed meanwhile');
  await page.keyboard.press('Enter');
  await page.locator('ol.events li').first().waitFor();
  await until('there is something to scroll', () => page.evaluate(() => {
    const list = document.querySelector('ol.events');
    list.scrollTop = 20;
    return list.scrollTop === 20;
  }));
  await keepsFocus(page, 'ol.events');
  assert.ok(await page.evaluate(() => document.querySelector('ol.events').scrollTop) >= 20, 'it is where it was read');
  await shut(page);
});

test('15, 16 and 18: from 320 to 2560 pixels, with a thumb, and axe finds nothing wrong', async () => {
  for (const [width, colorScheme] of [[320, 'light'], [360, 'dark'], [961, 'dark'], [1041, 'light'], [1280, 'dark'], [2560, 'light']]) {
    const page = await open(browser, `${place.url}#/freshness`, { width, colorScheme, bypassCSP: true });
    await isLive(page);
    await page.locator('tbody a[href^="#/i/"]').first().waitFor();
    for (const step of ['all', 'one']) {
      if (step === 'one') {
        await page.evaluate(() => { location.hash = document.querySelector('tbody a[href^="#/i/"]').getAttribute('href'); });
        await page.locator('.events li').first().waitFor();
      }
      await fits(page, `${step} at ${width}`);
      if (width < 400) await hasRoomForThumbs(page, step);
      await axeIsHappy(page, `${step} at ${width}`);
    }
    await shut(page);
  }
});
