import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ModelCall, STORES, type StoreName } from '@runwire/test-kit';
import { count, inGate, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

/*
 * The proof `forks`. A chat with tools, images, delegations, failed and cancelled runs, questions and chains is forked at every
 * run, before and after the other chats are deleted: what follows sends equal prompts. Then forks, runs, deletes and the
 * erasure of the member happen concurrently: nothing that a chat needs is lost, and nothing is left.
 */

/** The calls that were made, by their idempotency keys. */
const paid: string[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({}),
  needsApproval: true,
  execute: (_, { idempotencyKey }) => {
    paid.push(idempotencyKey);
    return 'refunded';
  },
});
const note = defineTool({ name: 'note', description: 'Notes.', inputSchema: z.object({}), execute: () => 'noted' });

const agent = (name: string, more: object) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });
const shop = defineAgency({
  name: 'Shop',
  agents: [agent('Lead', { tools: { refund, note } }), agent('Billing', {})],
  entryPoints: ['Lead'],
  flows: [{ from: 'Lead', to: 'Billing' }],
});

const IMAGE = {
  type: 'input_image',
  detail: 'low',
  image_url:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
};

/** The model does what the newest message of the user names, once, and then answers. */
async function act(call: ModelCall): Promise<void> {
  const { prompt } = call.request;
  const last = prompt.at(-1);
  const asked = prompt.findLast((item) => item.kind === 'user');
  const said = asked?.kind === 'user' ? asked.text : '';
  const id = `c${prompt.length}`;
  if (last?.kind === 'user' && said.includes('fail')) return call.fail('server_error', 'broken');
  // The test cancels the run.
  if (last?.kind === 'user' && said.includes('wait')) return call.text('Waiting');
  if (last?.kind === 'user' && said.includes('note')) await call.toolCall(id, 'note', '{}');
  else if (last?.kind === 'user' && said.includes('pay')) await call.toolCall(id, 'refund', '{}');
  else if (last?.kind === 'user' && said.includes('tell')) {
    await call.toolCall(id, 'send_message', JSON.stringify({ recipient_agent: 'Billing', message: 'Hear.' }));
  } else await call.text(`Answer ${prompt.length}.`);
  await call.end();
}

/** What is sent, one after the other. `approve` answers the questions of the run before. */
const TURNS = [
  'image',
  'note',
  'tell',
  'fail',
  'pay',
  'approve',
  'tell',
  'wait',
  'pay',
  'decline',
  'tell note',
  'Last.',
];

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop }, limits: { eraseRewriteMs: 0 } });

  const begin = async (consumerId: string) => {
    const integration = await rig.integration({ agency: 'shop' });
    const below = `/v2/integrations/${integration}`;
    await rig.member(integration, consumerId);
    rig.controller.onCall = (call) => void act(call).catch(() => {});
    const post = async (chatId: string, turn: string) => {
      const { pending = [] } = (await rig.api.get(`${below}/chats/${chatId}`)).body as {
        pending?: { questionId: string }[];
      };
      const isAnswer = turn === 'approve' || turn === 'decline';
      const answers = pending.map(({ questionId }) => ({ questionId, approve: turn === 'approve' }));
      if (isAnswer) expectEqual('open questions', answers.length, 1);
      const reader = await rig.api.complete({
        ...{ apiIntegrationId: integration, chatId, consumerId, message: isAnswer ? '' : turn },
        ...(isAnswer ? { answers } : {}),
        ...(turn === 'image' ? { attachments: [IMAGE] } : {}),
      });
      return reader;
    };
    /** Resolves to the run's id after its end. */
    const take = async (chatId: string, turn: string): Promise<string> => {
      const reader = await post(chatId, turn);
      if (reader.status !== 200) throw new Shortfall(`A turn was refused: ${reader.status} ${reader.text}.`);
      const runId = String(reader.headers['x-run-id']);
      if (turn === 'wait') {
        await reader.untilText('Waiting');
        await rig.api.post(`${below}/runs/${runId}/cancel`, {});
      }
      await reader.whole();
      const { status } = messagesFrame(reader);
      expectEqual(`end of the turn \`${turn}\``, status, { fail: 'failed', wait: 'cancelled' }[turn] ?? 'completed');
      return runId;
    };
    const fork = (chatId: string, body: object) => rig.api.post(`${below}/chats/${chatId}/fork`, body);
    return { integration, below, post, take, fork };
  };
  /** The prompts of all agents since a number of calls. */
  const promptsSince = (calls: number) =>
    rig.controller.calls.slice(calls).map(({ request }) => [request.instructions, request.prompt]);
  const countRows = async (statement: string) => Number((await askStore(rig.server.dataDir, statement))[0]?.count ?? 0);

  test('every run can be forked, and what follows is equal', async (t) => {
    cites(t, 'contract-19-equal-prompts', 'contract-19-own-answers', 'contract-19-last-chat');
    const rounds = scale(1, 8);
    for (let round = 0; round < rounds; round += 1) {
      const { below, take, fork } = await begin('ann');
      const runs: { runId: string; prompts: unknown }[] = [];
      paid.length = 0;
      for (const turn of TURNS) {
        const before = rig.controller.calls.length;
        const runId = await take('c', turn);
        runs.push({ runId, prompts: promptsSince(before) });
      }
      // In every second round the forks are made first and used after the original was deleted.
      const isDeletedFirst = round % 2 === 1;
      const forks: string[] = [];
      for (const [index, { runId }] of runs.slice(0, -1).entries()) {
        const after = await fork('c', index % 3 === 2 ? { runId: runs[index + 1]?.runId, before: true } : { runId });
        expectEqual('status of a fork', after.status, 201);
        forks.push(after.body.chatId);
      }
      if (isDeletedFirst) expectEqual('status', (await rig.api.delete(`${below}/chats/c`)).status, 204);
      let executed = 1;
      for (const [index, chatId] of forks.entries()) {
        const next = TURNS[index + 1] ?? '';
        const before = rig.controller.calls.length;
        await take(chatId, next);
        expectEqual(`prompts after run ${index + 1}`, promptsSince(before), runs[index + 1]?.prompts);
        if (next === 'approve') {
          executed += 1;
          // Another fork after the same run asks again.
          const again = (await fork(chatId, { runId: runs[index]?.runId })).body;
          const other = (await fork(chatId, { runId: runs[index]?.runId })).body;
          expectEqual('questions of another fork', again.pending.length, 1);
          await take(again.chatId, 'approve');
          const { body } = await rig.api.get(`${below}/chats/${other.chatId}`);
          expectEqual('open questions after another chat was answered', body.pending.length, 1);
          await take(other.chatId, 'approve');
          executed += 2;
          forks.push(again.chatId, other.chatId);
        }
        if (index >= TURNS.length - 2) break;
      }
      expectEqual('executions of the approved call', [paid.length, new Set(paid).size], [executed, executed]);
      const everything = isDeletedFirst ? forks : ['c', ...forks];
      for (const chatId of everything) await rig.api.delete(`${below}/chats/${chatId}`);
      const runIds = runs.map(({ runId }) => `'${runId}'`).join(', ');
      for (const table of ['steps', 'shared_runs', 'messages', 'attachments', 'asked_questions']) {
        const left = await countRows(`select count(*) as count from ${table} where run_id in (${runIds})`);
        expectEqual(`rows of ${table} after the last chat was deleted`, left, 0);
      }
      count({ forked_at: runs.length - 1 });
    }
  });

  test('nothing is lost or left if forks, runs, deletes and an erasure are concurrent', async (t) => {
    cites(t, 'contract-19-last-chat', 'contract-19-erasure');
    const rounds = scale(inGate() ? 2 : 4, 40);
    for (let round = 0; round < rounds; round += 1) {
      const { integration, below, take, post, fork } = await begin('ann');
      for (const turn of ['image', 'note', 'pay']) await take('c', turn);
      const isErased = round % 2 === 1;
      const made: string[] = [];
      const unexpected: unknown[] = [];
      const work = async (lane: number) => {
        // A message to a deleted chat would make a new one, so each lane writes to its own forks, and deletes them.
        const mine: string[] = [];
        for (let n = 0; n < scale(4, 8); n += 1) {
          // Before the fork: it can be refused, and these must happen in every round.
          if (lane === 0 && n === 2) {
            const { status } = await rig.api.delete(`${below}/chats/c`);
            if (status !== 204 && !(isErased && status === 404)) unexpected.push([status, 'delete']);
          }
          if (isErased && lane === 1 && n === 2) {
            expectEqual('status', (await rig.api.delete(`${below}/members/ann?erase=true`)).status, 202);
          }
          const forked = await fork(made[(lane * 7 + n * 3) % (made.length + 1)] ?? 'c', {});
          if (forked.status !== 201) {
            if (forked.status !== 404) unexpected.push([forked.status, forked.body]);
            continue;
          }
          const { chatId } = forked.body;
          made.push(chatId);
          mine.push(chatId);
          await (await post(chatId, lane % 2 === 0 ? 'Go on.' : 'note')).over;
          const gone = n % 3 === 1 ? mine.shift() : undefined;
          if (gone !== undefined) await rig.api.delete(`${below}/chats/${gone}`);
        }
      };
      await Promise.all([0, 1, 2].map(work));
      expectEqual('unexpected answers', unexpected, []);
      count({ concurrent_forks: made.length });
      if (isErased) {
        const isGone = async () => (await rig.api.get(`${below}/members/ann/erasure`)).body.status === 'erased';
        await until('the erasure', isGone);
      }
      for (const chatId of new Set(['c', ...made])) {
        const found = await rig.api.get(`${below}/chats/${chatId}`);
        if (isErased) expectEqual('chats after the erasure', found.status, 404);
        if (found.status !== 200) continue;
        const before = rig.controller.calls.length;
        await take(chatId, 'Then?');
        const sent = JSON.stringify(promptsSince(before)[0]);
        for (const part of ['noted', '"image']) {
          if (!sent.includes(part)) throw new Shortfall(`The prompt of a chat that is left lacks ${part}.`);
        }
      }
      for (const chatId of ['c', ...made]) await rig.api.delete(`${below}/chats/${chatId}`);
      const own = `select run_id from runs where integration_id = '${integration}'`;
      for (const table of ['steps', 'shared_runs', 'messages', 'attachments', 'asked_questions']) {
        const left = await countRows(`select count(*) as count from ${table} where run_id in (${own})`);
        expectEqual(`rows of ${table} after all chats were deleted`, left, 0);
      }
    }
  });
}
