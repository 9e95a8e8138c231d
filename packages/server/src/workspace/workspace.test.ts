import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FairBudget } from '@runwire/lib/fair-budget.ts';
import { type Sandbox, StageFolders } from '@runwire/sandbox';
import type { Files } from '../files/files.ts';
import { createLogger } from '../telemetry/logger.ts';
import { RunWorkspace } from './workspace.ts';

test('bytes of a command are deleted after all of its writes have ended', async () => {
  await using stages = new StageFolders(null, () => ({ [Symbol.dispose]: () => {} }), createLogger('silent'));
  const sandbox = {
    run: async ({ folder }: { folder: string }) => {
      for (const name of ['broken', 'slow']) writeFileSync(`${folder}/${name}`, name);
      return { end: 'exited', exitCode: 0 };
    },
  };
  const order: string[] = [];
  const files = {
    walk: async function* () {},
    beginChanges: async () => ({ batchId: 'batch', keys: ['a', 'b'] }),
    store: async (_key: string, bytes: Uint8Array) => {
      if (Buffer.from(bytes).toString() === 'broken') throw new Error('The disk is broken.');
      await sleep(50);
      order.push('written');
    },
    discard: async () => void order.push('deleted'),
  };
  const settings = { memoryMib: 100, processes: 10, fileBytes: 1000 };
  const slots = new FairBudget(1, () => false);
  const parts = { sandbox: sandbox as unknown as Sandbox, files: files as unknown as Files };
  const scope = { access: 'all', memberFolder: null } as const;
  const run = { integrationId: 'one', ownerId: 'own', chatKey: 'chat', files: scope };
  const workspace = new RunWorkspace(
    { ...parts, settings, slots, stages, waitAt: undefined },
    { run: run as never, below: null, agencyFiles: null },
  );
  const command = { command: 'make', folder: null, seconds: 1 };
  await assert.rejects(
    workspace.run(command, () => {}, new AbortController().signal),
    /broken/,
  );
  assert.deepEqual(order, ['written', 'deleted']);
});
