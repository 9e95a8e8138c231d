import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { cites } from '../../../requirements/cite.ts';
import { PageTurns } from './page-turns.ts';

/** Reads `pages` pages without a pause of its own, and notes each by the reader's name. */
async function readPages(turns: PageTurns, ownerId: string, pages: number, log: string[]): Promise<void> {
  for (let page = 0; page < pages; page += 1) {
    using _turn = await turns.take(ownerId);
    log.push(ownerId);
  }
}

test('the first page does not wait', () => {
  const turns = new PageTurns(1);
  assert.ok(!(turns.take('one') instanceof Promise));
});

test('owners take turns, however many readers one of them has', async (t) => {
  cites(t, 'contract-4-owner-queue');
  const turns = new PageTurns(1);
  const log: string[] = [];
  const many = Array.from({ length: 20 }, () => readPages(turns, 'one', 5, log));
  await Promise.all([...many, readPages(turns, 'other', 5, log)]);
  assert.equal(log.length, 105);
  assert.ok(log.lastIndexOf('other') <= 12, `page ${log.lastIndexOf('other')}`);
});

test('the event loop turns between two pages', async () => {
  const turns = new PageTurns(1);
  const log: string[] = [];
  const isRead = Promise.all([readPages(turns, 'one', 50, log), readPages(turns, 'other', 50, log)]);
  let pages = 0;
  while (log.length < 100) {
    assert.ok(log.length - pages <= 1, `${log.length - pages} pages in one turn`);
    pages = log.length;
    await nextTurn();
  }
  await isRead;
});

test('the event loop turns between two pages, however much else is done between them', async () => {
  const turns = new PageTurns(1);
  for (let page = 0; page < 20; page += 1) {
    let hasTurned = page === 0;
    if (page > 0) setImmediate(() => (hasTurned = true));
    {
      using _turn = await turns.take('one');
      assert.ok(hasTurned, `page ${page}`);
    }
    const until = performance.now() + 1;
    while (performance.now() < until);
  }
});

test('a page whose store does not answer delays the others for a moment only', async () => {
  const turns = new PageTurns(1);
  using _stuck = await turns.take('one');
  const log: string[] = [];
  await readPages(turns, 'other', 3, log);
  assert.equal(log.length, 3);
});
