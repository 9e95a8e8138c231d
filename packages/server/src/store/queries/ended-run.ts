import type { IntegrationId, RunId } from '../../domain/ids.ts';
import { type RowOf, statement } from '../statement.ts';
import { questionsOfRun, runColumns } from './runs.ts';

/** A run without its answer, which can be long. */
export const endedRun = statement('ended run', (db, p: { integrationId: IntegrationId; runId: RunId }) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .select([...runColumns, questionsOfRun])
    .where('runs.run_id', '=', p.runId)
    .where('runs.integration_id', '=', p.integrationId),
);

export type EndedRunRow = RowOf<typeof endedRun>;
