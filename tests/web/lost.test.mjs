// SPDX-License-Identifier: MIT
// The daemon goes, and comes back; and before there is anything to show.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Place, isLive, launch, open, until } from './daemon.mjs';

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

test('12: before the first request it says what to do', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await page.getByText('No request yet. Try:').waitFor();
  assert.equal(await page.locator('.empty code').first().textContent(), 'flyball fetch --submit urls.txt');
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test('9 and 10: the connection is lost, said so, and comes back without a reload', async () => {
  const page = await open(browser, place.url);
  await isLive(page);
  await place.stop();
  await page.locator('#lost', { hasText: 'Connection lost, showing' }).waitFor();
  assert.ok(await page.evaluate(() => document.body.classList.contains('is-stale')));
  const first = await page.locator('#live').textContent();
  await until('its age counts up', async () => (await page.locator('#live').textContent()) !== first);
  const address = await place.mock('127.0.0.1', '--limit', 'rate=50/s');
  await place.configure(`batches:\n  late: {list: ${place.list('late', address, 5000)}}\n`);
  await place.serve();
  await page.locator('#lost').waitFor({ state: 'hidden', timeout: 90000 });
  await page.locator('table.keys tbody tr').first().waitFor();
  await page.context().close();
});
