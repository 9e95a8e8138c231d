import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathInMount, TestFiles } from '@runwire/test-kit/test-files.ts';
import { testChatKey } from '@runwire/test-kit/test-ids.ts';
import { STORES } from '@runwire/test-kit/test-store.ts';
import type { StagedChange } from '../domain/file/staged-change.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { integrationById } from '../store/queries/accounts.ts';
import { insertFiles, jsonRows, type NewFileRow } from '../store/queries/file-batches.ts';
import { announceFile, storedPath } from '../store/queries/files.ts';
import { first, type Tx } from '../store/store.ts';
import { publishChanges } from './publish-changes.ts';

const INTEGRATION = newIntegrationId('one');
const CHAT = testChatKey('chat_a');
const FILES = 120;

/** Counts a transaction's statements. */
function counting(tx: Tx): Tx & { count: number } {
  const counted = {
    count: 0,
    ...{ all: tx.all.bind(tx), query: tx.query.bind(tx), run: tx.run.bind(tx) },
  };
  for (const name of ['all', 'query', 'run'] as const) {
    const send = counted[name] as (...args: unknown[]) => unknown;
    Object.assign(counted, {
      [name]: (...args: unknown[]) => {
        counted.count += 1;
        return send(...args);
      },
    });
  }
  return counted;
}

const row = (path: string, chat: string | null): NewFileRow => ({
  ...{ path: storedPath(pathInMount(path)), blob: `blob_${path}`, size: 5, etag: '"x"', type: 'text/plain' },
  ...{ modified: 1, signed: null, chat },
});

/** The run found no file at these paths. */
const created = (paths: readonly string[]): StagedChange[] =>
  paths.map((path) => ({
    ...{ path: pathInMount(path), stagedEtag: null, contentType: 'text/plain' },
    put: { blobKey: `new_${path}`, size: 1, etag: '"y"' },
  }));

for (const store of STORES) {
  test(`${store}: conflicts of many files take two statements`, async () => {
    await using files = await TestFiles.open({ store });
    const paths = (name: string) => Array.from({ length: FILES }, (_, index) => `${name}/${index}`);
    const [announced, made, own, hidden] = [paths('announced'), paths('made'), paths('folder/own'), paths('hidden')];
    await files.store.transact('files', async (tx) => {
      const rows = [
        ...made.map((path) => row(path, CHAT)),
        ...[...announced, ...own, ...hidden].map((path) => row(path, null)),
      ];
      await tx.run(insertFiles, { integrationId: INTEGRATION, files: jsonRows(rows) });
      for (const path of announced) await tx.run(announceFile, { chat_key: CHAT, path: storedPath(pathInMount(path)) });
    });
    const refusal = (changed: readonly string[]) =>
      files.store.transact('files', async (tx) => {
        const integration = await first(tx.all(integrationById, { integrationId: INTEGRATION }));
        assert.ok(integration);
        const counted = counting(tx);
        const given = {
          ...{ chatKey: CHAT, seen: { all: false, chatKey: CHAT, folder: pathInMount('folder') } as const },
          ...{ changes: created(changed), writtenAt: Date.now(), quotas: { mountBytes: 1e9, memberBytes: 1e9 } },
        };
        const { message } = await publishChanges(counted, integration, given).then(
          () => assert.fail('it was published'),
          (error: Error) => error,
        );
        return { message, statements: counted.count };
      });
    for (const seen of [announced, made, own]) {
      const { message, statements } = await refusal([...hidden, ...seen]);
      assert.match(message, /^No file was changed\. Another writer changed these files /);
      assert.ok(message.includes(`\n- /app/mnt/${seen[0]}\n`) && message.endsWith('\n- and 70 more'), message);
      assert.doesNotMatch(message, /hidden/);
      assert.equal(statements, 2);
    }
    const { message, statements } = await refusal(hidden);
    assert.match(
      message,
      /^No file was changed: these paths are taken\. [\s\S]*\n- \/app\/mnt\/hidden\/49\n- and 70 more$/,
    );
    assert.equal(statements, 2);
  });
}
