import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  filesOf,
  openTestMount,
  putFile,
  STORES,
  type Store,
  type StoreName,
  startTestServer,
  type Tx,
} from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { folderOf } from './support/cli-process.ts';

const NEVER_MS = 3_600_000;
/** Sweeps when it is told to, and then whatever is old enough. */
const after = (unusedBlobMs: number) => ({ sweepMs: NEVER_MS, unusedBlobMs });
const DAY_MS = 86_400_000;

const emptied = async (dataDir: string) =>
  (await askStore(dataDir, 'select integration_id from integrations where files_deleted_at is not null')).map(
    ({ integration_id: id }) => id,
  );

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('the files of a deleted integration go a day later, and those of others stay', async (t) => {
    const dataDir = folderOf(t);
    const mount = await openTestMount(dataDir);
    {
      await using server = await startTestServer({ store, dataDir, limits: after(DAY_MS) });
      const { body } = await server.api.post('/v2/integrations', { apiIntegrationId: 'gone', name: 'Gone' });
      assert.equal(body.apiIntegrationId, 'gone');
      for (const path of ['a', 'deep/er/b', 'deep/c']) await putFile(mount, 'gone', path, path);
      await putFile(mount, 'demo', 'a', 'stays');
      assert.equal((await server.api.delete('/v2/integrations/gone')).status, 204);
      assert.equal(await server.server.probes.sweepMounts(), 0);
      assert.equal((await filesOf(mount, 'gone')).size, 3, 'not yet');
      assert.deepEqual(await emptied(dataDir), []);
    }
    await using server = await startTestServer({ store, dataDir, limits: after(0) });
    const { sweepMounts } = server.server.probes;
    await sweepMounts();
    assert.equal((await filesOf(mount, 'gone')).size, 0);
    const left = join(dataDir, 'mounts/gone');
    const files = existsSync(left) ? readdirSync(left, { recursive: true, withFileTypes: true }) : [];
    assert.deepEqual(
      files.filter((entry) => entry.isFile()).map(({ name }) => name),
      [],
    );
    assert.deepEqual([...(await filesOf(mount, 'demo')).keys()], ['a']);
    assert.deepEqual(await emptied(dataDir), ['gone']);
    assert.equal(await sweepMounts(), 0);
  });

  test('a sweep that fails between the files and the note of it is made up for by the next', async (t) => {
    const dataDir = folderOf(t);
    const mount = await openTestMount(dataDir);
    let failures = 1;
    const failing = (tx: Tx): Tx => ({
      all: tx.all.bind(tx),
      query: tx.query.bind(tx),
      run: (statement, params) => {
        if (statement.name !== 'note files deleted' || failures === 0) return tx.run(statement, params);
        failures -= 1;
        return Promise.reject(new Error('the process died'));
      },
    });
    const wrapStore = (store: Store): Store => ({
      kind: store.kind,
      reads: store.reads,
      transact: (name, job) => store.transact(name, (tx) => job(failing(tx))),
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    });
    await using server = await startTestServer({ store, dataDir, limits: after(0), wrapStore });
    const { sweepMounts } = server.server.probes;
    for (const apiIntegrationId of ['one', 'two']) {
      await server.api.post('/v2/integrations', { apiIntegrationId, name: apiIntegrationId });
      await putFile(mount, apiIntegrationId, 'a', 'a');
      assert.equal((await server.api.delete(`/v2/integrations/${apiIntegrationId}`)).status, 204);
    }
    await sweepMounts();
    assert.equal(failures, 0);
    assert.deepEqual(await emptied(dataDir), ['two'], 'one that fails keeps no other from it');
    await sweepMounts();
    assert.deepEqual((await emptied(dataDir)).toSorted(), ['one', 'two']);
    for (const id of ['one', 'two']) assert.equal((await filesOf(mount, id)).size, 0);
  });
}
