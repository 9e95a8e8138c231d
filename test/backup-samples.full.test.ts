import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startTestServer, storeEnvironment, TestMount } from '@runwire/test-kit';
import { folderOf } from './support/cli-process.ts';
import { paste, run, samplesOf } from './support/doc-samples.ts';

/* The commands of the docs about backups. Each starts a process, so they run in `npm run check:full` only. */

test('the samples about backups and lost folders work as pasted', async (t) => {
  await using server = await startTestServer();
  await (await TestMount.in(server.dataDir)).put('demo', '/app/mnt/reports/may.pdf', 'It was May.');
  const store = { ...(await storeEnvironment(server.dataDir)), RUNWIRE_DATA_DIR: server.dataDir };
  const folder = folderOf(t);
  const here = (sample: string) =>
    sample
      .replaceAll('/backups/2026-11-15', join(folder, 'backup'))
      .replaceAll('/var/lib/runwire', join(folder, 'lost'))
      .replaceAll('/tmp/found', join(folder, 'found'));
  const [commands = '', find = ''] = samplesOf('docs/backup.md', 'sh').map(here);
  const [backup = '', restore = ''] = commands.split('\n');
  await paste(t, backup, store);
  await paste(t, restore, { RUNWIRE_DATA_DIR: join(folder, 'restored') });
  assert.ok(existsSync(join(folder, 'restored/runwire.db')));
  if ((await run('sh', ['-c', 'command -v jq || true'])).stdout !== '') {
    const sha256 = (await paste(t, find, {})).trim();
    assert.ok(existsSync(join(folder, 'backup/mount', sha256.slice(0, 2), sha256)), sha256);
  }
  mkdirSync(join(folder, 'lost'));
  await paste(t, here(samplesOf('docs/nodes.md', 'sh')[1] ?? ''), store);
  for (const found of ['lost/blobs/installation', 'lost/mounts']) assert.ok(existsSync(join(folder, found)), found);
});
