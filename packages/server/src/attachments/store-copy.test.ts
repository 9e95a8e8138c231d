import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { AttachmentRun } from './attachment-tools.ts';
import type { ScratchBlobs } from './scratch-blobs.ts';
import { storeScratch } from './store-copy.ts';

test('each try to store bytes for a run has its own key', async () => {
  const keys: string[] = [];
  const scratch = {
    put: async (_writer: unknown, key: string) => {
      keys.push(key);
      // The bytes of this try are deleted later, perhaps after the next try has stored them again.
      if (keys.length === 1) throw new StoreUnavailable('away');
    },
  };
  const run = { runId: 'run', retry: (job: () => Promise<unknown>) => job().catch(job) };
  const content = { form: 'text', mediaType: 'text/plain', pages: null, bytes: Buffer.from('bytes') } as const;
  const stored = await storeScratch(
    run as unknown as AttachmentRun,
    scratch as unknown as ScratchBlobs,
    content,
    new AbortController().signal,
  );
  assert.equal(stored, keys[1]);
  assert.notEqual(keys[0], keys[1]);
});
