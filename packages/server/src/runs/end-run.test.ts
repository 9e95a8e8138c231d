import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { ADMITTED_RUN } from '@runwire/test-kit/insert-run.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { AlreadyEnded, RunLost } from '../domain/run-lost.ts';
import { insertActiveRun } from '../store/queries/active-runs.ts';
import { insertChat, insertRun } from '../store/queries/admission.ts';
import { endRun, type RunEnd } from './end-run.ts';

const RUN = {
  ...ADMITTED_RUN,
  integration_id: newIntegrationId('mine'),
  consumer_id: 'ann',
  held: 5,
  unit: 'tokens' as const,
};
const END: RunEnd = {
  runId: RUN.run_id,
  chatKey: RUN.chat_key,
  run: {
    runId: RUN.run_id,
    integrationId: RUN.integration_id,
    consumerId: RUN.consumer_id,
    nodeId: RUN.node_id,
    agent: RUN.agent,
    agencyVersion: null,
    day: RUN.day,
    createdAt: RUN.created_at,
  },
  agent: RUN.agent,
  attempt: 1,
  nextAttempt: 1,
  status: 'failed',
  error: { code: 'internal_error', message: 'It failed.' },
  text: '',
  structured: false,
  questions: null,
  accepted: false,
  usage: { requestCount: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  byModel: [],
  prices: new Map(),
  steps: 0,
  lastStep: null,
  keepsStep: false,
  chunks: [],
  lastEventId: 3,
  startedAt: 5,
};

test('a run that failed ends once, however often its end is written', async () => {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  await store.transact('admit', async (tx) => {
    await tx.run(insertChat, { ...RUN, chat_id: 'c1', alias: null, num_messages: 1, text_bytes: 0 });
    await tx.run(insertRun, RUN);
    await tx.run(insertActiveRun, RUN);
  });
  await store.transact('end', (tx) => endRun(tx, END));
  // The answer to the first commit was lost, or another attempt has ended the run.
  await assert.rejects(
    store.transact('end', (tx) => endRun(tx, END)),
    AlreadyEnded,
  );
  await assert.rejects(
    store.transact('end', (tx) => endRun(tx, { ...END, status: 'cancelled', error: null })),
    RunLost,
  );
  const counted = await store.reads.query((db) => db.selectFrom('usage_hours').select(['status', 'runs']));
  assert.deepEqual(
    counted.map((row) => ({ ...row })),
    [{ status: 'failed', runs: 1 }],
  );
  rmSync(folder, { recursive: true });
});
