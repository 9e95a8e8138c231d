import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '@runwire/server/testing';
import { EMBEDDED_FILE, embeddedStore } from '@runwire/test-kit/test-store.ts';
import { INTEGRATION_DEFAULTS } from '../accounts/integrations.ts';
import { ErasedIds } from '../domain/erased-ids.ts';
import { newId } from '../domain/ids.ts';
import { insertIntegration, insertMember, insertOwner } from '../store/queries/accounts.ts';
import { createLogger } from '../telemetry/logger.ts';
import { ErasureLoop } from './erasure-loop.ts';
import { Erasures } from './erasures.ts';

const OWNERS = ['many', 'few'];

/** Erasures on an embedded store, without a server. Each owner has an integration of the same name. */
async function open() {
  await using stack = new AsyncDisposableStack();
  const folder = temporaryFolder();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, EMBEDDED_FILE);
  const store = stack.use(await embeddedStore(folder));
  await store.transact('account', async (tx) => {
    for (const ownerId of OWNERS) {
      await tx.run(insertOwner, { ownerId, email: null, nameJson: null, administrator: 0, now: 1 });
      const fields = { ...INTEGRATION_DEFAULTS, sortKey: ownerId, ownerId, now: 1 };
      await tx.run(insertIntegration, { ...fields, integrationId: ownerId });
    }
  });
  const ids = new ErasedIds('secret');
  const scrubs: string[] = [];
  const order: string[] = [];
  const loops: ErasureLoop[] = [];
  const start = (rewriteMs: number) => {
    const loop = new ErasureLoop({
      store,
      ids,
      rewriteMs,
      cancelRun: async () => {},
      settleUploads: async (integrationId) => void order.push(integrationId),
      isClear: async () => true,
      deleteBlob: async () => {},
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
  const erase = async (consumerId: string, name: string | null, integrationId = 'many') => {
    const member = { integrationId, consumerId, active: 1, metadataJson: '{}', ownLimit: null, now: 1 };
    const nameJson = name === null ? null : JSON.stringify(name);
    await store.transact('account', (tx) => tx.run(insertMember, { ...member, nameJson, sortKey: newId('key') }));
    await erasures.erase(integrationId, consumerId);
  };
  const status = async (consumerId: string, integrationId = 'many') =>
    (await erasures.status(integrationId, consumerId)).status;
  const erased = async (consumerId: string, integrationId?: string) => {
    while ((await status(consumerId, integrationId)) !== 'erased') await sleep(5);
  };
  const isInFiles = (text: string) => [path, `${path}-wal`].some((file) => readFileSync(file).includes(text));
  const owned = stack.move();
  const dispose = () => owned.disposeAsync();
  return { start, erase, erased, status, scrubs, order, isInFiles, [Symbol.asyncDispose]: dispose };
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
