import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { ADMITTED_RUN } from '@runwire/test-kit/insert-run.ts';
import { testChatId } from '@runwire/test-kit/test-ids.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import { newIntegrationId } from '../domain/ids.ts';
import { NO_PRICES } from '../domain/model/prices.ts';
import { NO_USAGE } from '../domain/model/usage.ts';
import { NO_TRACE } from '../domain/request-trace.ts';
import { AlreadyEnded, RunLost } from '../domain/run/run-lost.ts';
import { insertActiveRun } from '../store/queries/active-runs.ts';
import { insertChat, insertRun } from '../store/queries/admission.ts';
import { endRun, type RunOutcome } from './end-run.ts';

const RUN = {
  ...ADMITTED_RUN,
  integration_id: newIntegrationId('mine'),
  consumer_id: 'ann',
  held: 5,
  unit: 'tokens' as const,
};
const OUTCOME: RunOutcome = {
  run: {
    runId: RUN.run_id,
    integrationId: RUN.integration_id,
    consumerId: RUN.consumer_id,
    chatKey: RUN.chat_key,
    chatId: testChatId('c1'),
    rerunOf: null,
    agency: RUN.agency,
    agent: RUN.agent,
    agencyVersion: null,
    day: RUN.day,
    createdAt: RUN.created_at,
    ...{ attempt: 1, nodeId: RUN.node_id, trace: NO_TRACE },
  },
  status: 'failed',
  error: { code: 'internal_error', message: 'It failed.' },
  ...{ providerStatus: null, items: [], text: '', output: null, questions: [], files: [] },
  ...{ accepted: false, usage: NO_USAGE, byModel: [], steps: 0, firstTokenMs: null, continues: false },
};
const RECORD = { attempt: 1, lastStep: null, unfinished: [], chunks: [], lastEventId: 3, startedAt: 5 };
const DEPS = {
  prices: NO_PRICES,
  earlierNodes: { areAlive: () => false },
  outbox: { mayWant: () => false, record: async () => {} },
};

test('a run that failed ends once, however often its end is written', async () => {
  const folder = temporaryFolder();
  await using store = await embeddedStore(folder);
  await store.transact('admit', async (tx) => {
    await tx.run(insertChat, { ...RUN, chat_id: testChatId('c1'), alias: null, num_messages: 1, text_bytes: 0 });
    await tx.run(insertRun, RUN);
    await tx.run(insertActiveRun, RUN);
  });
  await store.transact('end', (tx) => endRun(tx, DEPS, OUTCOME, RECORD));
  // The answer to the first commit was lost, or another attempt has ended the run.
  await assert.rejects(
    store.transact('end', (tx) => endRun(tx, DEPS, OUTCOME, RECORD)),
    AlreadyEnded,
  );
  await assert.rejects(
    store.transact('end', (tx) => endRun(tx, DEPS, { ...OUTCOME, status: 'cancelled', error: null }, RECORD)),
    RunLost,
  );
  const counted = await store.reads.query((db) => db.selectFrom('usage_hours').select(['status', 'runs']));
  assert.deepEqual(
    counted.map((row) => ({ ...row })),
    [{ status: 'failed', runs: 1 }],
  );
  rmSync(folder, { recursive: true });
});
