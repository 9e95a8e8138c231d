import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import type { Kysely } from 'kysely';
import { newIntegrationId, type OwnerId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { CompiledStatements, type Statement } from '../statement.ts';
import { growChat } from './admission.ts';
import { type ChatFilter, type ChatOrder, chatById, listChats } from './chats.ts';
import { type MemberFilter, memberSizes } from './member-list.ts';
import { type QuestionState, questionSizes } from './question-list.ts';
import { finishRun, lastReadRun, markRunning, type RunFilter, runSizes } from './runs.ts';
import { dueDeliveries, endpointToPost } from './webhook-claims.ts';
import { eventsBetween, lastReadDelivery, listDeliveries } from './webhook-deliveries.ts';
import {
  deleteDeliveredIn,
  deletePersonsDeliveries,
  deletePersonsEvents,
  deleteUnsentIn,
  endOfEventPart,
  endOfSettledPart,
} from './webhook-sweeps.ts';

type Compilable = { compile(): { readonly sql: string; readonly parameters: readonly unknown[] } };

const page = { before: { createdAt: 5, id: 'c' }, limit: 51 };

const person = { integrationId: newIntegrationId('demo'), consumerId: 'ann' };

const chats = (
  filter: Partial<ChatFilter>,
  order: ChatOrder = 'created',
  before: typeof page.before | null = page.before,
) => listChats(newIntegrationId('demo'), { member: null, ...filter }, { ...page, before, order });
const runs = (filter: Partial<RunFilter>) =>
  runSizes({ integrationId: newIntegrationId('demo'), texts: 'answer', ...page, ...filter });
const members = (filter: Partial<MemberFilter>) =>
  memberSizes({ integrationId: newIntegrationId('demo'), start: null, ...page, ...filter });

const questions = (state: QuestionState) =>
  questionSizes({ ownerId: 'own_1' as OwnerId, integrations: null }, state, page);

/** The lists with the part of their plan that reads the filter's index. SQLite plans without statistics. */
const LISTS: readonly [plan: RegExp, query: (db: Kysely<Schema>) => Compilable][] = [
  [/chats_newest \(integration_id=\? AND created_at<\?\)/, chats({})],
  [/chats_newest/, chats({ status: 'idle' })],
  [/chats_newest/, chats({ updatedAfter: 1 })],
  [/chats_consumer/, chats({ consumerId: 'ann' })],
  [/chats_consumer/, chats({ consumerId: 'ann', status: 'idle' })],
  [/chats_consumer/, chats({ member: { consumerId: 'ann', chatId: null } })],
  [/SEARCH chats USING [A-Z ]*PRIMARY KEY \(chat_key=\?\)/, chats({ member: { consumerId: 'ann', chatId: 'c1' } })],
  [/SEARCH busy USING PRIMARY KEY \(integration_id=\?\)/, chats({ status: 'running' })],
  [/chats_waiting \(integration_id=\? AND created_at<\?\)/, chats({ waiting: true })],
  [/chats_waiting \(integration_id=\?\)/, chats({ waiting: true }, 'updated', null)],
  [/chats_consumer/, chats({ waiting: true, consumerId: 'ann' })],
  [/chats_newest/, chats({ waiting: false })],
  [/q USING INDEX asked_questions_open \(owner_id=\? AND asked_at<\?\)/, questions('open')],
  [/q USING INDEX asked_questions_answered \(owner_id=\? AND asked_at<\?\)/, questions('answered')],
  [/q USING INDEX asked_questions_list \(owner_id=\? AND asked_at<\?\)/, questions('all')],
  [/chats_updated \(integration_id=\? AND updated_hour>\? AND updated_hour<\?\)/, chats({}, 'updated')],
  [/chats_updated \(integration_id=\? AND updated_hour>\?\)/, chats({}, 'updated', null)],
  [
    /chats_updated \(integration_id=\? AND updated_hour>\? AND updated_hour<\?\)/,
    chats({ updatedAfter: 1 }, 'updated'),
  ],
  [/chats_updated/, chats({ status: 'idle' }, 'updated')],
  [/chats_consumer/, chats({ consumerId: 'ann' }, 'updated')],
  [/chats_consumer/, chats({ consumerId: 'ann' }, 'updated', null)],
  [/chats_consumer/, chats({ member: { consumerId: 'ann', chatId: null } }, 'updated')],
  [/SEARCH busy USING PRIMARY KEY \(integration_id=\?\)/, chats({ status: 'running' }, 'updated')],
  [/runs_integration \(integration_id=\? AND created_at<\?\)/, runs({})],
  [/runs_rerun_of \(rerun_of=\? AND created_at<\?\)/, runs({ rerunOf: 'run_1' })],
  [/runs_rerun_of \(rerun_of=\? AND created_at<\?\)/, runs({ rerunOf: 'run_1', status: 'completed', agent: 'a' })],
  [/reruns \(<expr>=\? AND created_at<\?\)/, runs({ rerun: true })],
  [/reruns \(<expr>=\? AND created_at<\?\)/, runs({ rerun: true, consumerId: 'ann' })],
  [/runs_integration \(integration_id=\? AND created_at<\?\)/, runs({ rerun: false })],
  [/runs_integration \(integration_id=\? AND created_at>\? AND created_at<\?\)/, runs({ fromMs: 1, toMs: 9 })],
  [
    /PRIMARY KEY \(chat_key=\?\)[\s\S]*chats_id/,
    (db) => chatById.build(db, { integrationId: newIntegrationId('demo'), chatId: 'c1' }),
  ],
  [/chats_id/, runs({ chatId: 'c1' })],
  [/chats_id/, runs({ chatId: 'c1', consumerId: 'ann', status: 'failed', agent: 'A' })],
  [/SEARCH active_runs USING PRIMARY KEY \(integration_id=\?\)/, runs({ status: 'running' })],
  [/SEARCH active_runs/, runs({ status: 'admitted', consumerId: 'ann', agent: 'A', fromMs: 1 })],
  [/runs_consumer \(integration_id=\? AND consumer_id=\? AND created_at<\?\)/, runs({ consumerId: 'ann' })],
  [/runs_consumer/, runs({ consumerId: 'ann', status: 'failed', agent: 'A', fromMs: 1 })],
  [/runs_integration \(integration_id=\? AND created_at<\?\)/, runs({ status: 'completed' })],
  [
    /runs_integration \(integration_id=\? AND created_at>\? AND created_at<\?\)/,
    runs({ status: 'completed', oldest: { createdAt: 1, id: 'a' } }),
  ],
  [
    /USING COVERING INDEX runs_integration/,
    lastReadRun({ integrationId: newIntegrationId('demo'), status: 'completed', toMs: 9, before: null, limit: 51 }),
  ],
  [/runs USING PRIMARY KEY \(integration_id=\? AND status=\? AND created_at<\?\)/, runs({ status: 'failed' })],
  [/runs USING PRIMARY KEY \(integration_id=/, runs({ status: 'failed', agent: 'A' })],
  [/runs_agent \(integration_id=\? AND agent=\? AND created_at<\?\)/, runs({ agent: 'A' })],
  [/runs_agent/, runs({ agent: 'A', status: 'completed', toMs: 9 })],
  [/runs_agent/, runs({ agent: 'A', status: 'completed', toMs: 9, before: null })],
  [/runs_agent/, runs({ agent: 'A', fromMs: 1, toMs: 9, before: null })],
  [/runs USING PRIMARY KEY \(integration_id=/, runs({ status: 'failed', fromMs: 1, toMs: 9, before: null })],
  [/runs_consumer/, runs({ consumerId: 'ann', fromMs: 1, toMs: 9, before: null })],
  [/runs_consumer/, runs({ consumerId: 'ann', status: 'failed', agent: 'A', fromMs: 1, toMs: 9, before: null })],
  [/runs_consumer/, runs({ consumerId: 'ann', status: 'completed', agent: 'A', fromMs: 1, toMs: 9 })],
  [/members_newest \(integration_id=\? AND created_at<\?\)/, members({})],
  [
    /members_by_consumer_id [\s\S]*members_by_name_json [\s\S]*members_by_word_2 [\s\S]*members_by_word_3 [\s\S]*members_by_word_4 /,
    members({ start: 'a' }),
  ],
  [
    /members_by_consumer_id [\s\S]*members_by_name_json [\s\S]*members_by_word_2 [\s\S]*members_by_word_3 [\s\S]*members_by_word_4 /,
    members({ start: 'a', before: null }),
  ],
  [/runs_usage_request/, runs({ usageRequestIds: ['u1', 'u2'] })],
  // A look at an endpoint reads no delivery that waits for its next attempt.
  [
    /d USING INDEX webhook_deliveries_pending \(endpoint_id=\? AND next_attempt_at=\?\)/,
    (db) => endpointToPost.build(db, { endpointId: 'e', firstClaimEnd: 1 }),
  ],
  [
    /webhook_deliveries_pending \(endpoint_id=\? AND next_attempt_at<\?\)/,
    (db) => dueDeliveries.build(db, { endpointId: 'e', now: 1, limit: 4 }),
  ],
  [
    /COVERING INDEX webhook_deliveries_endpoint \(endpoint_id=\? AND created_at<\?\)/,
    lastReadDelivery({ endpointId: 'e', type: 'run.failed', ...page }),
  ],
  [
    /webhook_deliveries_endpoint \(endpoint_id=\? AND \(created_at,delivery_id\)>\(\?,\?\) AND created_at<\?\)/,
    listDeliveries({ endpointId: 'e', type: 'run.failed', oldest: { createdAt: 1, id: 'd' }, ...page }),
  ],
  [
    /webhook_events_integration \(integration_id=\? AND \(created_at,event_id\)>\(\?,\?\) AND created_at<\?\)/,
    eventsBetween({
      integrationId: newIntegrationId('demo'),
      fromMs: 1,
      toMs: 9,
      after: { createdAt: 2, id: 'e' },
      limit: 9,
    }),
  ],
  // Sweeps and erasures read bounded parts.
  [
    /COVERING INDEX webhook_deliveries_settled \(\(settled_at,delivery_id\)>\(\?,\?\) AND settled_at<\?\)/,
    (db) => endOfSettledPart.build(db, { afterAt: 1, afterId: '', until: 9, rows: 1000 }),
  ],
  [
    /webhook_deliveries_settled \(\(settled_at,delivery_id\)>\(\?,\?\) AND \(settled_at,delivery_id\)<\(\?,\?\)\)/,
    (db) => deleteDeliveredIn.build(db, { afterAt: 1, afterId: '', endAt: 9, endId: '' }),
  ],
  [
    /COVERING INDEX webhook_events_created \(created_at>\? AND created_at<\?\)/,
    (db) => endOfEventPart.build(db, { afterAt: 1, until: 9, rows: 1000 }),
  ],
  [
    /webhook_events_created \(created_at>\? AND created_at<\?\)[\s\S]*webhook_deliveries_event \(event_id=\?\)/,
    (db) => deleteUnsentIn.build(db, { afterAt: 1, endAt: 9 }),
  ],
  [
    /webhook_deliveries_event \(event_id=\?\)[\s\S]*webhook_events_member \(integration_id=\? AND consumer_id=\?\)/,
    (db) => deletePersonsDeliveries.build(db, { ...person, limit: 9 }),
  ],
  [
    /webhook_events_member \(integration_id=\? AND consumer_id=\?\)[\s\S]*webhook_deliveries_event \(event_id=\?\)/,
    (db) => deletePersonsEvents.build(db, { ...person, limit: 9 }),
  ],
];

test('every filter of a list uses an index', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await embeddedStore(folder);
  const compiled: [RegExp, string, SQLInputValue[]][] = [];
  await store.reads.query((db) => {
    for (const [expected, build] of LISTS) {
      const { sql, parameters } = build(db).compile();
      compiled.push([expected, sql, parameters as SQLInputValue[]]);
    }
    return db.selectFrom('installation').select('id');
  });
  await store[Symbol.asyncDispose]();
  using database = new DatabaseSync(join(folder, 'test.db'));
  for (const [expected, sql, parameters] of compiled) {
    const plan = database.prepare(`explain query plan ${sql}`).all(...parameters);
    const steps = plan.map(({ detail }) => String(detail));
    const scans = steps.filter((step) =>
      /^SCAN (chats|runs|busy|members|active_runs|d|webhook_deliveries|webhook_events|q|c|i)\b/.test(step),
    );
    assert.deepEqual(scans, [], steps.join('\n'));
    const indexes = new Set(steps.join('\n').match(/\b(chats|runs)_\w+/g));
    assert.ok(indexes.size <= 1, steps.join('\n'));
    assert.match(steps.join('\n'), expected, `${sql}\n${steps.join('\n')}`);
  }
});

test('later turns of a chat and ends of runs write no index', async (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = await embeddedStore(folder);
  const compiled: { name: string; sql: string }[] = [];
  await store.reads.query((db) => {
    const statements = new CompiledStatements();
    for (const source of [growChat, markRunning, finishRun])
      compiled.push(statements.get(db, source as Statement<never, unknown>));
    return db.selectFrom('installation').select('id');
  });
  await store[Symbol.asyncDispose]();
  using database = new DatabaseSync(join(folder, 'test.db'));
  const trees = new Map(
    database
      .prepare('select rootpage, name from sqlite_schema')
      .all()
      .map(({ rootpage, name }) => [rootpage, name]),
  );
  for (const { name, sql } of compiled) {
    const explained = database.prepare(`explain ${sql}`).all();
    // After its own steps come those of its triggers, which run once an hour.
    const triggers = explained.findIndex(({ addr }, index) => index > 0 && addr === 0);
    const steps = triggers === -1 ? explained : explained.slice(0, triggers);
    const opened = steps.filter(({ opcode }) => opcode === 'OpenWrite').map(({ p2 }) => trees.get(p2));
    const table = name === 'grow chat' ? 'chats' : 'runs';
    // Only chats that wait for an answer are in it, so other turns open it and write nothing.
    assert.deepEqual(
      opened.filter((tree) => tree !== 'chats_waiting'),
      [table],
      name,
    );
  }
});
