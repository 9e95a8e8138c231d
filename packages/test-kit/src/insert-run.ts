import { newIntegrationId } from '@runwire/server/src/domain/ids.ts';
import type { RunsTable } from '@runwire/server/src/store/schema.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { testChatKey, testRunId } from './test-ids.ts';

/** The columns that an admission writes, without a member, a request id or an allowance. */
export const ADMITTED_RUN = {
  run_id: testRunId('r'),
  integration_id: newIntegrationId('i'),
  chat_key: testChatKey('c'),
  consumer_id: null,
  usage_request_id: null,
  fingerprint: null,
  agency: 'a',
  agent: 'A',
  node_id: 'n',
  held: 0,
  unit: null,
  day: 1,
  period: null,
  period_start: null,
  user_context_json: null,
  continues: null,
  answers_json: null,
  client_tools_json: null,
  journal_format: 1,
  agency_version: null,
  file_access: 'all',
  member_folder: null,
  created_at: 5,
} as const;

/** Inserts the row of a run that no server admitted. */
export async function insertRun(store: Store, runId: string, columns: Partial<RunsTable>): Promise<void> {
  await store.transact('account', async (tx) => {
    await tx.query((db) =>
      db
        .insertInto('runs')
        .values({
          run_id: runId,
          integration_id: 'i',
          chat_key: runId,
          agency: 'a',
          agent: 'a',
          node_id: 'other',
          attempt: 1,
          crashes: 0,
          step: 0,
          journal_format: 1,
          held: 0,
          day: 0,
          request_count: 0,
          input_tokens: 0,
          cached_tokens: 0,
          output_tokens: 0,
          reasoning_tokens: 0,
          by_model_json: '[]',
          created_at: 0,
          ...columns,
        } as never)
        .returning('run_id'),
    );
  });
}
