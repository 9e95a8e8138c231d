import type { ApiClient, Rig } from '@runwire/test-kit';
import { expectEqual, within } from '@runwire/test-kit/shortfall.ts';
import { newIntegrationId } from '../../packages/server/src/domain/ids.ts';
import { wordScope } from '../../packages/server/src/domain/search/words.ts';
import { numbered, RowCopies } from './row-copies.ts';
import { upload } from './uploads.ts';

/** How much there is of everything that an operation reads. */
export interface LoopSizes {
  readonly runs: number;
  readonly members: number;
  readonly chats: number;
  readonly messages: number;
  readonly steps: number;
  readonly files: number;
  /** Integrations, API keys, owners. */
  readonly accounts: number;
  readonly adjustments: number;
  /** Characters of the answer of the long run, whose stream has six times as many, and its concurrent readers. */
  readonly answerCharacters: number;
  readonly readers: number;
  /** Characters of a message, a file's bytes. */
  readonly messageCharacters: number;
  readonly fileBytes: number;
}

export const INTEGRATION = 'large';
export const HOME = `/v2/integrations/${INTEGRATION}`;
export const FOLDER = '/app/mnt/many';
/** 100 words, because each of these characters is one. */
export const SOUGHT = Array.from({ length: 100 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
const METADATA = { note: 'x'.repeat(15_000) };
const RUN_MS = 300_000;
const DELTA_CHARACTERS = 4000;

/** What the operations act on. */
export interface LoopStage {
  readonly api: ApiClient;
  readonly sizes: LoopSizes;
  /** The run with the long answer and the many steps, in the chat `long`. */
  readonly runId: string;
  /** Can be deleted. */
  readonly ownerId: string;
  readonly personId: string;
  readonly keyId: string;
  readonly scheduleId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
}

async function completed(rig: Rig, request: object): Promise<string> {
  const reader = await rig.api().complete({ apiIntegrationId: INTEGRATION, ...request });
  expectEqual('status of a run', reader.status, 200);
  expectEqual('whole stream', await within('end of a run', RUN_MS, reader.over), true);
  return String(reader.headers['x-run-id']);
}

/** Makes one of each by the API, and copies it in the store. */
export async function seedLoop(rig: Rig, sizes: LoopSizes): Promise<LoopStage> {
  const api = rig.api();
  rig.model.onCall = async (call) => {
    const isLong = JSON.stringify(call.request.prompt).includes('Write much.');
    const deltas = isLong ? Math.ceil(sizes.answerCharacters / DELTA_CHARACTERS) : 1;
    for (let delta = 0; delta < deltas; delta += 1)
      await call.text(isLong ? 'word '.repeat(DELTA_CHARACTERS / 5) : 'Hi');
    await call.end();
  };
  await api.post('/v2/integrations', {
    apiIntegrationId: INTEGRATION,
    allowances: { unit: 'runs', limit: 1_000_000, period: 'lifetime' },
  });
  await api.put(`${HOME}/members/ann`, { metadata: METADATA });
  await api.put(`${HOME}/members/bob`, {});
  await api.post(`${HOME}/members/ann/adjustments`, {
    unit: 'runs',
    amount: 1,
    idempotencyKey: 'first',
    reason: 'A gift.',
  });
  const { body: owner } = await api.post('/v2/owners', { email: 'other@example.com' });
  const { body: key } = await api.post('/v2/api_keys', { name: 'another' });
  const request = { message: 'x'.repeat(15_000), consumerId: 'ann' };
  const { body: schedule } = await api.post(`${HOME}/schedules`, { name: 'Daily', cron: '0 0 * * *', request });
  await upload(api, 'The same text.\n', { apiIntegrationId: INTEGRATION, folder: FOLDER, filename: 'first' });
  await upload(api, Buffer.alloc(sizes.fileBytes, 'x'), {
    apiIntegrationId: INTEGRATION,
    folder: '/app/mnt/one',
    filename: 'large',
  });
  const asked = { consumerId: 'ann' };
  const runId = await completed(rig, { ...asked, usageRequestId: 'long', chatId: 'long', message: 'Write much.' });
  const short = await completed(rig, { ...asked, usageRequestId: 'short', chatId: 'short' });
  const erased = await completed(rig, { consumerId: 'bob', usageRequestId: 'erased', chatId: 'erased' });
  await api.patch(`${HOME}/chats/short`, { metadata: METADATA, title: 'A chat' });
  const own = `integration_id = '${INTEGRATION}'`;
  // After the runs, which store no events for it.
  const { endpointId } = (await api.post(`${HOME}/webhooks`, { url: null })).body;
  const { deliveryId } = (await api.post(`${HOME}/webhooks/${endpointId}/test`, {})).body;
  using rows = new RowCopies(rig.dataDir);
  rows.copy('webhook_events', own, Math.min(sizes.runs, 9000), {
    event_id: numbered('event_id'),
    created_at: 'created_at - n',
  });
  rows.copy('webhook_deliveries', own, sizes.runs, {
    delivery_id: numbered('delivery_id'),
    created_at: 'created_at - n',
  });
  const chatKey = (chatId: string) => `(select chat_key from chats where ${own} and chat_id = '${chatId}')`;
  const runs = {
    run_id: numbered('run_id'),
    usage_request_id: numbered('usage_request_id'),
    created_at: 'created_at - 86400 * n',
    day: 'day - n / 1000',
  };
  // Lists show only runs that have a chat.
  const chat = numbered('chat_key', `(n % ${sizes.chats} + 1)`);
  rows.copy('runs', `run_id = '${short}'`, sizes.runs, { ...runs, chat_key: chat });
  rows.copy('runs', `run_id = '${erased}'`, sizes.runs / 100, runs);
  rows.copy('members', `${own} and consumer_id = 'ann'`, sizes.members, {
    consumer_id: numbered('consumer_id'),
    sort_key: numbered('sort_key'),
  });
  rows.copy('chats', `chat_key = ${chatKey('short')}`, sizes.chats, {
    chat_key: numbered('chat_key'),
    chat_id: numbered('chat_id'),
  });
  // Question and answer by turns, each pair of its own run.
  rows.copy('messages', `chat_key = ${chatKey('short')}`, sizes.messages / 2, {
    message_id: numbered('message_id'),
    run_id: numbered('run_id'),
    position: 'position + 2 * n',
    content_json: `'"${'word '.repeat(800)}"'`,
  });
  rows.change(`update chats set num_messages = ${sizes.messages + 2} where chat_key = ${chatKey('short')}`);
  // Long turns, in which the words that are searched for are the last ones.
  const words = [...Array.from({ length: 70 }, (_, i) => `${'x'.repeat(60)}${i}`), ...SOUGHT];
  const scope = wordScope(newIntegrationId(INTEGRATION));
  rows.change(`insert or ignore into search_docs (run_id, chat_key, words)
    select run_id, chat_key, ' ${words.map((word) => scope + word).join(' ')} ' from messages
    where chat_key = ${chatKey('short')} and role = 'user'`);
  // A run of one step has no row of it.
  rows.change(`insert into steps (run_id, step, attempt, kind, agent, model, status, first_event_id, last_event_id,
    record_json, started_at, completed_at) select run_id, 1, 1, 'model', agent, 'test/model', 'completed', 2, 3,
    '{"usage":null,"output":[]}', started_at, completed_at from runs where run_id = '${runId}'`);
  rows.change(`update runs set only_step_json = null where run_id = '${runId}'`);
  rows.copy('steps', `run_id = '${runId}' and step = 1`, sizes.steps, { step: 'n + 1' });
  rows.copy('files', `${own} and path like '%first'`, sizes.files, {
    path: numbered('path'),
    blob_key: numbered('blob_key'),
  });
  rows.copy('adjustments', own, sizes.adjustments, {
    adjustment_id: numbered('adjustment_id'),
    idempotency_key_json: `'"k' || n || '"'`,
  });
  rows.copy('schedules', own, 900, { schedule_id: numbered('schedule_id'), created_at: 'created_at + n' });
  rows.change(`insert into schedule_ticks (schedule_id, tick_at, recorded_at) values ('${schedule.scheduleId}', 1, 1)`);
  rows.copy('schedule_ticks', 'tick_at = 1', sizes.runs, { tick_at: 'tick_at + n' });
  rows.copy('integrations', own, sizes.accounts, {
    integration_id: numbered('integration_id'),
    sort_key: numbered('sort_key'),
  });
  rows.copy('api_keys', `name_json = '"another"'`, sizes.accounts, { key_id: numbered('key_id') });
  rows.copy('owners', `email = 'other@example.com'`, sizes.accounts, {
    owner_id: numbered('owner_id'),
    email: 'n || email',
  });
  const person = (await api.post('/v2/people', { email: 'bo@example.com', role: 'manager' })).body;
  rows.copy('people', `email = 'bo@example.com'`, sizes.accounts, {
    person_id: numbered('person_id'),
    email: 'n || email',
  });
  const ids = { ownerId: owner.ownerId, personId: person.personId, keyId: key.keyId, scheduleId: schedule.scheduleId };
  return { api, sizes, runId, ...ids, endpointId, deliveryId };
}
