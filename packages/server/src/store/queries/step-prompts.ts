import { type Kysely, sql } from 'kysely';
import type { RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, statement } from '../statement.ts';
import { soughtId } from './sought-id.ts';

/** Reads a run with its message and its integration's model. No row after the chat was deleted. */
export const runOfPrompt = statement('run of prompt', (db, p: { runId: RunId }) =>
  db
    .selectFrom('runs')
    .innerJoin('integrations', 'integrations.integration_id', 'runs.integration_id')
    .innerJoin('messages', (join) =>
      join.onRef('messages.chat_key', '=', 'runs.chat_key').onRef('messages.run_id', '=', 'runs.run_id'),
    )
    .select(['runs.chat_key', 'runs.integration_id', 'runs.consumer_id', 'runs.agency', 'runs.agency_version'])
    .select(['runs.agent', 'runs.day', 'runs.continues', 'runs.extras_json', 'runs.client_tools_json'])
    .select(['messages.position', 'messages.content_json', 'messages.sandbox_files_json'])
    .select('integrations.model as integration_model')
    .where('runs.run_id', '=', p.runId)
    .where('messages.role', '=', sql<'user'>`'user'`),
);

interface Version {
  readonly agency: string;
  readonly version: string;
}

export const storedDefinition = statement('stored definition', (db, p: Version) =>
  db
    .selectFrom('agency_definitions')
    .select(['definition_json', 'seen_at'])
    .where('agency', '=', p.agency)
    .where('version', '=', p.version),
);

export const insertDefinition = insertInto(
  'agency_definitions',
  ['agency', 'version', 'definition_json', 'seen_at', 'run_id'],
  { unlessExists: ['agency', 'version'] },
);

/** Keeps the definition for versions that a node has loaded. */
export const seeDefinition = statement('see definition', (db, p: Version & { now: number }) =>
  db
    .updateTable('agency_definitions')
    .set({ seen_at: p.now })
    .where('agency', '=', p.agency)
    .where('version', '=', p.version),
);

/** The versions that no node has loaded since `before`. */
export const replacedDefinitions = statement('replaced definitions', (db, p: { before: number }) =>
  db.selectFrom('agency_definitions').select(['agency', 'version', 'run_id']).where('seen_at', '<', p.before),
);

/** Runs from this id on, with the versions that they have and whether their chats exist. */
export const runsFrom = (from: string, limit: number) => (db: Kysely<Schema>) =>
  db
    .selectFrom('runs')
    .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
    .select(['runs.run_id', 'runs.agency', 'runs.agency_version', 'chats.deleted_at'])
    .where('runs.run_id', '>=', soughtId<RunId>(from))
    .orderBy('runs.run_id')
    .limit(limit);

export const moveDefinition = statement('move definition', (db, p: Version & { runId: RunId }) =>
  db
    .updateTable('agency_definitions')
    .set({ run_id: p.runId })
    .where('agency', '=', p.agency)
    .where('version', '=', p.version),
);

/** Deletes nothing if a node has loaded the version again. */
export const deleteDefinition = statement('delete definition', (db, p: Version & { before: number }) =>
  db
    .deleteFrom('agency_definitions')
    .where('agency', '=', p.agency)
    .where('version', '=', p.version)
    .where('seen_at', '<', p.before),
);
