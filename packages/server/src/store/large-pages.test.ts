import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairBudget } from '@runwire/lib/fair-budget.ts';
import { PageTurns } from '@runwire/lib/page-turns.ts';
import { testOwnerId } from '@runwire/test-kit/test-ids.ts';
import { cites } from '../../../../requirements/cite.ts';
import { LargePages } from './large-pages.ts';
import type { Page } from './queries/page.ts';

interface Row {
  readonly at: number;
  readonly id: string;
  readonly bytes: number;
}

const row = (at: number, bytes = 2, id = `row_${at}`): Row => ({ at, id, bytes });
const position = ({ at, id }: Row) => ({ createdAt: at, id });
const MEBIBYTE = 1024 * 1024;

/** Reads a page of a list. `change` changes the rows after the sizes were read. */
async function getPage(rows: readonly Row[], limit: number, change: (rows: Row[]) => void, cursor?: string) {
  const pages = new LargePages(new PageTurns(1), new FairBudget(64 * MEBIBYTE, () => false));
  const stored = [...rows];
  const read = ({ before, limit: most }: Page): Row[] =>
    stored
      .toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      .filter(({ at, id }) => {
        if (before === null || at < before.createdAt) return true;
        return at === before.createdAt && (id < before.id || (before.inclusive === true && id === before.id));
      })
      .slice(0, most);
  const page = await pages.read(
    { ownerId: testOwnerId('own_1'), hasLeft: () => false, limit, ...(cursor === undefined ? {} : { cursor }) },
    {
      showsAll: true,
      sizes: async (asked) => {
        const sizes = read(asked).map(({ at, id, bytes }) => ({ created_at: at, id, bytes }));
        change(stored);
        return sizes;
      },
      rows: async (asked) => read(asked),
      position,
      show: ({ id, bytes }) => JSON.stringify(id.padEnd(bytes - 2, '.')),
    },
  );
  const items = (JSON.parse(String(page.json)).items as string[]).map((item) => item.split('.', 1)[0]);
  return { items, nextCursor: page.nextCursor };
}

const unchanged = () => {};

test('a row that appears between two rows pushes none off the list', async (t) => {
  cites(t, 'contract-3-page-bytes');
  // A run that completes joins the list of completed runs at its time of admission.
  const first = await getPage([row(3), row(2), row(1)], 10, (rows) => rows.push(row(2, 2, 'row_2b')));
  const next = await getPage([row(1)], 10, unchanged, first.nextCursor ?? undefined);
  const all = [...first.items, ...(first.nextCursor === null ? [] : next.items)];
  assert.deepEqual([...new Set(all)], ['row_3', 'row_2b', 'row_2', 'row_1']);
});

test('a row that is deleted during the read makes no other appear twice', async (t) => {
  cites(t, 'contract-3-page-bytes');
  // Each of the three large rows is a portion.
  const rows = [row(6, 4), row(5, 2 * MEBIBYTE), row(4, 1.5 * MEBIBYTE), row(3, 1.5 * MEBIBYTE), row(2, 4)];
  const { items } = await getPage(rows, 10, (stored) => stored.splice(1, 1));
  assert.deepEqual(items, ['row_6', 'row_4', 'row_3', 'row_2']);
});

test('a list that does not change is read whole, each row once', async () => {
  const rows = Array.from({ length: 9 }, (_, i) => row(i, (i % 4) * MEBIBYTE + 20));
  const items: (string | undefined)[] = [];
  for (let cursor: string | undefined, isMore = true; isMore; ) {
    const page = await getPage(rows, 3, unchanged, cursor);
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
    isMore = page.nextCursor !== null;
  }
  assert.deepEqual(
    items,
    rows.toReversed().map(({ id }) => id),
  );
});

test('an owner whose large pages are not read waits; other owners do not', async (t) => {
  cites(t, 'contract-4-owner-queue');
  const unsent = new FairBudget(8 * MEBIBYTE, () => true);
  const pages = new LargePages(new PageTurns(1), unsent);
  const read = (ownerId: string, hasLeft = false) =>
    pages.read(
      { ownerId: testOwnerId(ownerId), hasLeft: () => hasLeft },
      {
        showsAll: true,
        sizes: async () => [{ created_at: 1, id: 'a', bytes: 3 * MEBIBYTE }],
        rows: async () => ['a'.repeat(3 * MEBIBYTE)],
        position: () => ({ createdAt: 1, id: 'a' }),
        show: (text) => JSON.stringify(text),
      },
    );
  const first = await read('own_1');
  let isRead = false;
  const second = read('own_1').then((page) => {
    isRead = true;
    return page;
  });
  const left = assert.rejects(read('own_1', true));
  const other = await read('own_2');
  assert.deepEqual([isRead, unsent.waiting], [false, 2]);
  first.onSent();
  (await second).onSent();
  await left;
  other.onSent();
  assert.equal(unsent.held, 0);
});
