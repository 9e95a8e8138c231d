import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, storeEnvironment } from '@runwire/test-kit';
import { getFolder } from './support/cli-process.ts';
import { listSamples, paste, run } from './support/doc-samples.ts';
import { at, upload } from './support/uploads.ts';

/* The commands of the docs about backups. Each starts a process, so they run in `npm run check:full` only. */

test('the samples about backups and lost folders work as pasted', async (t) => {
  await using server = await startTestServer();
  await upload(server.api, 'It was May.', at('/app/mnt/reports/may.pdf'));
  const store = { ...(await storeEnvironment(server.dataDir)), RUNWIRE_DATA_DIR: server.dataDir };
  const folder = getFolder(t);
  const here = (sample: string) =>
    sample
      .replaceAll('/backups/2026-11-15', join(folder, 'backup'))
      .replaceAll('/var/lib/runwire', join(folder, 'lost'));
  const [commands = '', find = ''] = listSamples('docs/backup.md', 'sh').map(here);
  const [backup = '', restore = ''] = commands.split('\n');
  await paste(t, backup, store);
  await paste(t, restore, { RUNWIRE_DATA_DIR: join(folder, 'restored') });
  assert.ok(existsSync(join(folder, 'restored/runwire.db')));
  if ((await run('sh', ['-c', 'command -v jq || true'])).stdout !== '') {
    const key = (await paste(t, find, {})).trim();
    assert.equal(readFileSync(join(folder, 'backup/blobs', key.slice(0, 2), key), 'utf8'), 'It was May.');
  }
  mkdirSync(join(folder, 'lost'));
  await paste(t, here(listSamples('docs/nodes.md', 'sh')[1] ?? ''), store);
  assert.ok(existsSync(join(folder, 'lost/blobs/installation')));
});
