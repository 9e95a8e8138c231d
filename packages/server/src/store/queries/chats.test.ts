import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import { type ChatFilter, listChats } from './chats.ts';

test('every filter of the chat list uses an index', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await embeddedStore(folder);
  const page = { before: { createdAt: 5, id: 'c' }, limit: 51 };
  const asked = async (filter: Partial<ChatFilter>) => {
    let compiled: { sql: string; parameters: readonly unknown[] } | undefined;
    await store.reads.query((db) => {
      const query = listChats('demo', { member: null, ...filter }, page)(db);
      compiled = query.compile();
      return query;
    });
    return compiled ?? { sql: '', parameters: [] };
  };
  const queries = {
    chats_newest: [await asked({}), await asked({ status: 'idle' }), await asked({ updatedAfter: 1 })],
    chats_consumer: [
      await asked({ consumerId: 'ann' }),
      await asked({ consumerId: 'ann', status: 'idle' }),
      await asked({ member: { consumerId: 'ann', chatId: null } }),
    ],
    runs_active: [await asked({ status: 'running' })],
  };
  await store[Symbol.asyncDispose]();
  using database = new DatabaseSync(join(folder, 'test.db'));
  for (const [index, list] of Object.entries(queries)) {
    for (const { sql, parameters } of list) {
      const rows = database.prepare(`explain query plan ${sql}`).all(...(parameters as SQLInputValue[]));
      const plan = rows.map(({ detail }) => String(detail));
      // The indexes of active runs are small, so a full scan of one is fine.
      const scans = plan.filter((step) => /^SCAN (chats|runs|busy)\b/.test(step) && !step.includes('runs_active_'));
      assert.deepEqual(scans, [], plan.join('\n'));
      assert.ok(plan[0]?.includes(index), `${index}:\n${plan.join('\n')}`);
    }
  }
});
