import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { testChatId, testChatKey } from '@runwire/test-kit/test-ids.ts';
import { EMBEDDED_FILE, embeddedStore, migratedDatabase, postgresStore } from '@runwire/test-kit/test-store.ts';
import { missingService } from '../../../../test/support/services.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { PostgresSnapshot } from '../store/postgres/postgres-snapshot.ts';
import { insertChat } from '../store/queries/admission.ts';
import { updateChat } from '../store/queries/chats.ts';
import { SqliteSnapshot } from '../store/sqlite/sqlite-snapshot.ts';
import type { Store } from '../store/store.ts';
import { BATCH_ROWS, type BackupSource, type Row } from '../store/transfer/ports.ts';

/** Texts that JSON, COPY or a page of rows could change. */
const TEXTS = [
  '\u0000 and \u0001\u0002\u001f\u007f\u0080',
  '"quoted", \\back\\slashed\\, \\N \\. \t\r\n\u2028',
  'é 😀 \ufeff',
  '\b\f\v\\v\\\\\u001b',
  'null',
  '',
  'x'.repeat(100_000),
];

/** Two full pages of rows by a text key. */
async function fill(store: Store): Promise<void> {
  await store.transact('account', async (tx) => {
    for (let number = 0; number < BATCH_ROWS * 2; number += 1) {
      const text = TEXTS[number % TEXTS.length] as string;
      const chat = {
        chat_key: testChatKey(`chat ${number}`),
        integration_id: newIntegrationId('demo'),
        chat_id: testChatId(`${number}`),
        alias: null,
      };
      const size = { num_messages: number, text_bytes: Number.MAX_SAFE_INTEGER - number, created_at: number };
      await tx.run(insertChat, { ...chat, ...size, consumer_id: number % 2 === 0 ? null : 'ann' });
      const titleJson = store.kind === 'sqlite' ? text : text.replaceAll('\u0000', '');
      await tx.run(updateChat, { chatKey: chat.chat_key, titleJson, metadataJson: null, now: number });
    }
  });
}

async function read(snapshot: BackupSource, table: string): Promise<{ rows: Row[]; lines: Row[]; counted: number }> {
  const columns = await snapshot.columns(table);
  const rows: Row[] = [];
  for await (const batch of snapshot.rows(table, columns)) rows.push(...batch);
  const lines: Row[] = [];
  let counted = 0;
  for await (const { bytes, count } of snapshot.lines(table, columns)) {
    for (const line of Buffer.from(bytes).toString().split('\n')) {
      const row = JSON.parse(line) as Row;
      assert.equal(line, JSON.stringify(row), table);
      lines.push(row);
    }
    counted += count;
  }
  const inOrder = (all: Row[]) => all.map((row) => JSON.stringify(row)).toSorted();
  assert.deepEqual(inOrder(lines), inOrder(rows), table);
  return { rows, lines, counted };
}

async function compare(snapshot: BackupSource): Promise<void> {
  const { rows, counted } = await read(snapshot, 'chats');
  assert.deepEqual([rows.length, counted], [BATCH_ROWS * 2, BATCH_ROWS * 2]);
  assert.ok(rows.some((row) => row.includes(Number.MAX_SAFE_INTEGER)));
  // A table with row ids, one with a key of two columns, and one without rows.
  for (const table of ['messages', 'folder_bytes', 'attachments']) await read(snapshot, table);
}

const OTHERS = [
  ...Array.from({ length: BATCH_ROWS + 1 }, (_, n) => `insert into folder_bytes values ('i${n % 3}', 'f${n}', ${n})`),
  ...Array.from(
    { length: BATCH_ROWS - 1 },
    (
      _,
      n,
    ) => `insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
      values ('m${n}', 'c', ${n + 1}, 'r', 'user', 'completed', 'A', '"${n}"', ${n})`,
  ),
];

async function fillOthers(store: Store): Promise<void> {
  await store.transact('account', async (tx) => {
    for (const sql of OTHERS) {
      await tx.query(() => ({ compile: () => ({ sql, parameters: [] }), execute: async () => [] as object[] }));
    }
  });
}

test('lines of the embedded store have exactly the values of its rows', async () => {
  const folder = temporaryFolder();
  {
    await using store = await embeddedStore(folder);
    await fill(store);
    await fillOthers(store);
    await using snapshot = new SqliteSnapshot(join(folder, EMBEDDED_FILE));
    await compare(snapshot);
  }
  rmSync(folder, { recursive: true });
});

const skip = (await missingService('postgres')) ?? false;

test('lines of PostgreSQL have exactly the values of its rows', { skip }, async () => {
  await using database = await migratedDatabase();
  {
    await using store = await postgresStore(database.url);
    await fill(store);
    await fillOthers(store);
  }
  await using snapshot = await PostgresSnapshot.open({ url: database.url, pool: 1, pooled: false });
  await compare(snapshot);
  // A reader that stops early can read again, and an error is reported.
  const columns = await snapshot.columns('chats');
  for await (const { count } of snapshot.lines('chats', columns)) {
    assert.ok(count > 0);
    break;
  }
  assert.equal((await read(snapshot, 'chats')).counted, BATCH_ROWS * 2);
  await assert.rejects(async () => {
    for await (const _ of snapshot.lines('chats', ['absent'])) assert.fail('there is no such column');
  }, /column "absent" does not exist/);
});
