import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@runwire/server/testing';
import { testOwnerId } from '@runwire/test-kit/test-ids.ts';
import { EMBEDDED_FILE, embeddedStore } from '@runwire/test-kit/test-store.ts';
import { INTEGRATION_DEFAULTS } from '../accounts/integrations.ts';
import { Members } from '../accounts/members.ts';
import { notAudited } from '../audit/audit.ts';
import { ErasedIds } from '../domain/account/erased-ids.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { insertIntegration, insertOwner } from '../store/queries/accounts.ts';
import { createLogger } from '../telemetry/logger.ts';
import { ErasureLoop } from './erasure-loop.ts';
import { Erasures } from './erasures.ts';

const OWNERS = ['many', 'few'].map(testOwnerId);

/** Erasures on an embedded store, without a server. Each owner has an integration of the same name. */
async function open() {
  await using stack = new AsyncDisposableStack();
  const folder = temporaryFolder();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, EMBEDDED_FILE);
  const store = stack.use(await embeddedStore(folder));
  await store.transact('account', async (tx) => {
    for (const ownerId of OWNERS) {
      await tx.run(insertOwner, { owner_id: ownerId, email: null, name_json: null, administrator: 0, created_at: 1 });
      const fields = { ...INTEGRATION_DEFAULTS, sort_key: ownerId, owner_id: ownerId, created_at: 1 };
      await tx.run(insertIntegration, { ...fields, integration_id: newIntegrationId(ownerId) });
    }
  });
  const ids = new ErasedIds('secret');
  const scrubs: string[] = [];
  const order: string[] = [];
  /** The chats whose turns left the memory. */
  const forgotten: string[] = [];
  /** How often the loop looked at pending bytes, and how often they are pending. */
  const pending = { looks: 0, until: 0, abandoned: 0 };
  const loops: ErasureLoop[] = [];
  const start = (rewriteMs: number) => {
    const loop = new ErasureLoop({
      store,
      ids,
      rewriteMs,
      cancelRun: async () => {},
      settleUploads: async (integrationId) => void order.push(integrationId),
      isClear: async () => {
        pending.looks += 1;
        return pending.looks > pending.until;
      },
      deleteAbandoned: async () => {
        pending.abandoned += 1;
      },
      deleteBlob: async () => {},
      forgetTurns: (chatKey) => void forgotten.push(chatKey),
      scrub: (depth) => {
        scrubs.push(depth);
        return store.scrub(depth);
      },
      waitAt: undefined,
      logger: createLogger('silent'),
    });
    loops.push(loop);
    loop.start();
  };
  stack.defer(async () => {
    for (const loop of loops) await loop[Symbol.asyncDispose]();
  });
  const erasures = new Erasures(store, ids, () => loops.at(-1)?.wake());
  const members = new Members(store, null as never);
  const put = (consumerId: string, name: string | null, integration = 'many') =>
    members.put(newIntegrationId(integration), consumerId, name === null ? {} : { name }, notAudited);
  const erase = async (consumerId: string, name: string | null, integration = 'many') => {
    await put(consumerId, name, integration);
    await erasures.erase(newIntegrationId(integration), consumerId, notAudited);
  };
  const status = async (consumerId: string, integration = 'many') =>
    (await erasures.status(newIntegrationId(integration), consumerId)).status;
  const erased = async (consumerId: string, integration?: string) => {
    while ((await status(consumerId, integration)) !== 'erased') await sleep(5);
  };
  const ask = (sql: string) => {
    const query = { compile: () => ({ sql, parameters: [] }), execute: async () => [] as object[] };
    return store.transact('account', (tx) => tx.query(() => query));
  };
  const isInFiles = (text: string) => [path, `${path}-wal`].some((file) => readFileSync(file).includes(text));
  const owned = stack.move();
  const dispose = () => owned.disposeAsync();
  const state = { scrubs, order, forgotten, pending, members, erasures };
  return { ...state, start, put, erase, erased, status, ask, isInFiles, [Symbol.asyncDispose]: dispose };
}

test('one rewrite serves all erasures that wait, and the next one waits', { timeout: 60_000 }, async () => {
  await using rig = await open();
  for (const id of ['ann', 'ben', 'cem']) await rig.erase(id, `PlantedName of ${id}`);
  assert.equal(rig.isInFiles('PlantedName'), true);
  rig.start(3_600_000);
  for (const id of ['ann', 'ben', 'cem']) await rig.erased(id);
  assert.deepEqual(rig.scrubs, ['file']);
  assert.equal(rig.isInFiles('PlantedName'), false);

  await rig.erase('dan', 'PlantedName of dan');
  // A member without content needs no rewrite, and leaves nothing of its id.
  await rig.erase('PlantedId of eva', null);
  await rig.erased('PlantedId of eva');
  assert.equal(rig.isInFiles('PlantedId'), false);
  assert.equal(await rig.status('dan'), 'erasing');
  assert.deepEqual(new Set(rig.scrubs.slice(1)), new Set(['log']));

  // A server that starts continues.
  rig.start(0);
  await rig.erased('dan');
  assert.equal(rig.scrubs.at(-1), 'file');
  await rig.erase('fay', 'PlantedName of fay');
  await rig.erased('fay');
  assert.equal(rig.scrubs.filter((depth) => depth === 'file').length, 3);
});

test('the erasures of one owner do not delay those of another', { timeout: 60_000 }, async () => {
  await using rig = await open();
  for (let number = 0; number < 25; number += 1) await rig.erase(`member ${number}`, null);
  await rig.erase('ann', null, 'few');
  rig.start(0);
  await rig.erased('ann', 'few');
  await rig.erased('member 24');
  assert.equal(rig.order.length, 26);
  assert.ok(rig.order.indexOf('few') <= 1, `the turn of the other owner was ${rig.order.indexOf('few')}`);
});

test('an erasure that waits for bytes only looks, less and less often', { timeout: 60_000 }, async () => {
  await using rig = await open();
  for (const id of ['ann', 'ben']) await rig.erase(id, null);
  // Both are looked at when their steps are done, after 500 ms, and after 1500 ms.
  rig.pending.until = 4;
  rig.start(0);
  for (const id of ['ann', 'ben']) await rig.erased(id);
  assert.equal(rig.pending.abandoned, 2, 'all that wait share a look');
  assert.equal(rig.order.length, 4, 'the steps of each ran twice');
});

test('names that a member had before are not in the files any more', { timeout: 60_000 }, async () => {
  await using rig = await open();
  const ids = Array.from({ length: 400 }, (_, number) => `${(number * 7919) % 400} member`);
  const erased = ids.slice(0, 40);
  // Pages are split while the names are stored.
  await Promise.all(ids.map((id) => rig.put(id, `PlantedName of ${id}`)));
  await Promise.all(ids.map((id) => rig.members.put(newIntegrationId('many'), id, { name: null }, notAudited)));
  await Promise.all(erased.map((id) => rig.erasures.erase(newIntegrationId('many'), id, notAudited)));
  rig.start(3_600_000);
  for (const id of erased) await rig.erased(id);
  assert.deepEqual(
    erased.filter((id) => rig.isInFiles(`PlantedName of ${id}`)),
    [],
  );
  assert.deepEqual(rig.scrubs, ['file']);

  // This one is not changed, and its earlier row was deleted.
  await rig.put('eva', 'PlantedName of eva', 'few');
  await rig.members.delete(newIntegrationId('few'), 'eva', notAudited);
  rig.start(0);
  await rig.erase('eva', null, 'few');
  await rig.erased('eva', 'few');
  assert.deepEqual(rig.scrubs, ['file', 'file']);
  // After the rewrite nothing of deleted members is left, so a member without content needs none.
  await rig.erase('fay', null, 'few');
  await rig.erased('fay', 'few');
  assert.equal(rig.scrubs.at(-1), 'log');
});

test('executes an erasure that an earlier version began again', { timeout: 60_000 }, async () => {
  await using rig = await open();
  await rig.erase('ann', null);
  rig.start(0);
  await rig.erased('ann');
  await rig.put('ann', 'PlantedName');
  // The statements of that version. It does not know `deleted_at`.
  await rig.ask(`delete from members where consumer_id = 'ann'`);
  await rig.ask(`update erasures set consumer_id = 'ann', started_at = started_at + 1, finished_at = null`);
  rig.order.length = 0;
  rig.start(0);
  await rig.erased('ann');
  assert.deepEqual(rig.order, ['many'], 'its steps ran');
  assert.deepEqual(await rig.ask(`select 1 from erasures where consumer_id is not null`), []);
});

test('sums of folders are counted again after files of a chat were erased', { timeout: 60_000 }, async () => {
  await using rig = await open();
  await rig.put('ann', 'Ann');
  // A chat of the person has made a file in another member's folder.
  const file = 'integration_id, path, blob_key, size_bytes, etag, content_type, modified_at, chat_key';
  const path = '\u0001members\u0001ben';
  await rig.ask(`insert into files (${file}) values ('many', '${path}\u0001x', 'blob', 30, '', '', 1, 'chat')`);
  await rig.ask(`insert into folder_bytes values ('many', '${path}', 30)`);
  const chat = 'chat_key, integration_id, chat_id, consumer_id, num_messages, text_bytes, created_at, updated_at';
  await rig.ask(`insert into chats (${chat}) values ('chat', 'many', 'c1', 'ann', 0, 0, 1, 1)`);
  await rig.erasures.erase(newIntegrationId('many'), 'ann', notAudited);
  rig.start(0);
  await rig.erased('ann');
  assert.deepEqual(await rig.ask(`select path from files union select folder from folder_bytes`), []);
  assert.deepEqual(rig.forgotten, ['chat']);
});
