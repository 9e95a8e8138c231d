import { join } from 'node:path';
import { expectEqual, until, within } from '@runwire/test-kit/shortfall.ts';
import { fillHistory, type HistorySizes } from '../../bench/history.ts';
import { upload } from '../support/uploads.ts';
import type { ConsoleRig } from './console-rig.ts';

/** How much the lists have. */
export interface LargeSizes {
  readonly members: number;
  readonly messages: number;
  readonly events: number;
  readonly files: number;
}

const RUN_MS = 300_000;

/**
 * Makes one member, file and chat by the API. The store copies their rows, because requests for all of them would take
 * minutes. The run is a real one.
 */
export async function seedLarge(rig: ConsoleRig, integration: string, sizes: LargeSizes): Promise<void> {
  const { api } = rig;
  const { status } = await api.post('/v2/integrations', {
    apiIntegrationId: integration,
    name: integration,
    agency: 'support',
  });
  expectEqual('status of an integration', status, 201);
  const member = await api.put(`/v2/integrations/${integration}/members/user`, {
    name: 'Ada Lindqvist',
    metadata: { note: 'Wrote to us by e-mail. '.repeat(50) },
  });
  expectEqual('status of a member', member.status, 201);
  await copyMembers(rig, integration, sizes.members - 1);
  await upload(api, 'The same text.\n', { apiIntegrationId: integration, folder: '/app/mnt/many', filename: 'first' });
  await copyFiles(rig, integration, sizes.files - 1);
  await complete(rig, { apiIntegrationId: integration, chatId: 'long-chat', message: 'Where is my order?' });
  await copyMessages(rig, integration, sizes.messages - 2);
  rig.model.script = async (call) => {
    for (let word = 1; word <= sizes.events; word += 1)
      await call.text(`word-${word}${word % 12 === 0 ? '.\n\n' : ' '}`);
    await call.end();
  };
  await complete(rig, { apiIntegrationId: integration, chatId: 'long-run', message: 'Write.' });
  rig.model.script = null;
}

async function complete({ api }: ConsoleRig, request: object): Promise<void> {
  const reader = await api.complete({ ...request });
  expectEqual('status of a run', reader.status, 200);
  await within('end of a run', RUN_MS, reader.over);
}

const numbers = (count: number) =>
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})`;

const padded = "substr('00000' || n, -5)";

async function copyMembers(rig: ConsoleRig, integration: string, count: number): Promise<void> {
  await rig.ask(`insert into members (integration_id, consumer_id, sort_key, name_json, active, metadata_json, own_limit,
      created_at, updated_at)
    ${numbers(count)} select integration_id, consumer_id || '-' || ${padded}, sort_key || ${padded},
      '"Member ' || n || '"', active, metadata_json, own_limit, created_at, updated_at
    from members, numbers where integration_id = '${integration}' and consumer_id = 'user'`);
}

async function copyFiles(rig: ConsoleRig, integration: string, count: number): Promise<void> {
  await rig.ask(`insert into files (integration_id, path, blob_key, size_bytes, etag, content_type, modified_at)
    ${numbers(count)} select integration_id, path || '-' || ${padded} || '.txt', blob_key || ${padded}, size_bytes, etag,
      content_type, modified_at
    from files, numbers where integration_id = '${integration}'`);
}

/** Question and answer in turn, the same as the first two but for a number. */
async function copyMessages(rig: ConsoleRig, integration: string, count: number): Promise<void> {
  const chat = `select chat_key from chats where chat_id = 'long-chat' and integration_id = '${integration}'`;
  await rig.ask(`insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
    ${numbers(count)} select message_id || ${padded}, chat_key, n + 2, run_id, role, status, agent,
      case role when 'user' then '"Message ' || n || '"' else content_json end, created_at + n
    from messages, numbers
    where chat_key = (${chat}) and position = 2 - n % 2`);
  await rig.ask(`update chats set num_messages = ${count + 2} where chat_key = (${chat})`);
}

const BUILD_MS = 3_600_000;

/**
 * Gives an integration a long past, and as many chats that wait for an answer. Only one question is a real one. Leaves the
 * server running when all words are in the index.
 */
export async function seedPast(
  rig: ConsoleRig,
  apiIntegrationId: string,
  { questions, ...sizes }: HistorySizes & { readonly questions: number },
): Promise<void> {
  const asking = 'asking';
  for (const id of [apiIntegrationId, asking]) {
    const { status } = await rig.api.post('/v2/integrations', { apiIntegrationId: id, agency: 'support' });
    expectEqual('status of an integration', status, 201);
  }
  const refund = 'tool refund {"order":"A-1001","cents":9900}';
  await complete(rig, { apiIntegrationId: asking, agent: 'Billing', message: refund });
  await rig.stopServer();
  // The words of the past are added by the walk over all chats, as after an upgrade.
  await rig.ask('delete from search_state');
  const past = { integrationId: apiIntegrationId, ...sizes, endMs: Date.now(), counted: true };
  await fillHistory({ kind: 'sqlite', path: join(rig.dataDir, 'runwire.db') }, past);
  await rig.ask(`update chats set (asking_run_id, questions_json) =
      (select asking_run_id, questions_json from chats where integration_id = '${asking}')
    where chat_key in (select chat_key from chats where integration_id = '${apiIntegrationId}'
      order by chat_key desc limit ${questions - 1})`);
  await rig.ask(`insert into asked_questions (question_id, chat_key, run_id, call_id_json, owner_id, question_json, asked_at)
    select q.question_id || '-' || c.chat_key, c.chat_key, q.run_id, q.call_id_json, q.owner_id, q.question_json,
      q.asked_at - row_number() over (order by c.chat_key desc)
    from chats c cross join asked_questions q where c.integration_id = '${apiIntegrationId}' and q.run_id = c.asking_run_id`);
  await rig.startServer();
  const isBuilt = async () => (await rig.ask('select rest from search_state'))[0]?.rest === null;
  await until('words in the index', isBuilt, { limitMs: BUILD_MS, pauseMs: 500 });
}
