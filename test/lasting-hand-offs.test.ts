import assert from 'node:assert/strict';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import { defineAgency, defineAgent, defineTool, handOff } from '@runwire/agency';
import { type ModelCall, STORES, type StoreName, type StreamReader, TEST_API_KEY } from '@runwire/test-kit';
import OpenAI from 'openai';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { askStore } from './support/ask-store.ts';
import { listSamples } from './support/doc-samples.ts';
import { KillableServer } from './support/killable-server.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({}),
  needsApproval: true,
  execute: (_, { state }) => {
    state.set('refunded', true);
    return 'refunded';
  },
});

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} helps.`, instructions: `You are ${name}.`, files: false, ...more });

const desk = defineAgency({
  name: 'Desk',
  agents: [
    agent('Triage'),
    agent('Billing', { tools: [refund] }),
    agent('Shipping', { output: { type: 'object' } }),
    agent('Clerk'),
    agent('Helper'),
  ],
  entryPoints: ['Triage', 'Clerk'],
  flows: [
    handOff('Triage', 'Billing', { lasts: 'chat' }),
    handOff('Billing', 'Triage', { lasts: 'chat' }),
    handOff('Billing', 'Clerk'),
    handOff('Clerk', 'Shipping', { lasts: 'chat' }),
    'Triage -> Helper',
    handOff('Helper', 'Billing', { lasts: 'chat' }),
  ],
});

const to = (name: string, id = `to_${name}`) => calls([id, `transfer_to_${name}`, {}]);

/** Who handed over to whom, as the stream shows it. */
const updates = (reader: StreamReader) =>
  reader.frames.flatMap(({ data }) => {
    const frame = data.startsWith('{') ? JSON.parse(data).data : undefined;
    return frame?.type === 'agent_updated_stream_event' ? [[frame.agent, frame.new_agent.name]] : [];
  });

for (const store of STORES)
  describe(store, () => {
    tests(store);
    test('each attempt begins with the agent of its run, and later runs with an agent that still counts', (t) =>
      testTakeover(t, store));
  });

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { desk } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    integration = await rig.integration({ agency: 'desk', callerInstructions: true });
    below = `/v2/integrations/${integration}`;
  });

  const post = async (turns: Parameters<typeof play>[1], body: object = {}) => {
    const all = play(rig, turns);
    const before = all.length;
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    return { reader, requests: all.slice(before).map(({ request }) => request) };
  };
  /** Sends a message, and returns the agents that answered, in their order. */
  const send = async (turns: Parameters<typeof play>[1], body: object = {}) => {
    const { reader, requests } = await post(turns, body);
    return {
      agents: requests.map(({ instructions }) => instructions.split('\n')[0]),
      runId: messagesFrame(reader).run_id as string,
    };
  };
  const get = async (path: string) => (await rig.api.get(`${below}/${path}`)).body;
  const lasting = async (chat = 'c') => (await get(`chats/${chat}`)).lastingAgent;
  const turnToBilling = (agent?: string) =>
    send({ Triage: [to('Billing')], Billing: [say('I take over.')] }, agent === undefined ? {} : { agent });

  test('the next run of the chat begins with the agent of a lasting hand-off', async (t) => {
    cites(t, 'agents-34-lasts', 'agents-34-lasts-event', 'agents-34-lasts-record', 'agents-34-lasts-shown');
    await rig.api.post(`${below}/chats`, { chatId: 'c' });
    assert.equal(await lasting(), null);
    const first = await turnToBilling();
    assert.deepEqual(first.agents, ['You are Triage.', 'You are Billing.']);
    assert.equal(await lasting(), 'Billing');
    const { reader, requests } = await post({ Billing: [say('Still me.')] });
    assert.deepEqual(
      requests.map(({ instructions }) => instructions),
      ['You are Billing.'],
    );
    const kinds = requests[0]?.prompt.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['user', 'tool_call', 'tool_output', 'assistant', 'user'], 'the whole conversation');
    assert.deepEqual(updates(reader), [['Triage', 'Billing']]);
    const { run_id: runId } = messagesFrame(reader);
    const names = reader.frames.map(({ data }) => /"type":"(\w+)"/.exec(data)?.[1]);
    assert.ok(names.indexOf('agent_updated_stream_event') < names.indexOf('raw_response_event'), String(names));
    assert.equal((await get(`runs/${runId}`)).agent, 'Triage');
    play(rig, { Billing: [say('Here too.')] });
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }];
    const shown = await fetch(`${rig.server.url}${below}/ai-sdk/chat`, {
      method: 'POST',
      headers: { ...rig.api.authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ id: 'c', trigger: 'submit-message', messages }),
    });
    const chunks = [...(await shown.text()).matchAll(/"type":"([\w-]+)"/g)].map(([, type]) => type);
    assert.deepEqual(chunks.slice(0, 4), ['start', 'start-step', 'data-agent', 'text-start']);
    const [message] = (await get('chats/c/messages')).items;
    assert.equal(message.agent, 'Billing');
    const [step] = (await get(`runs/${runId}/steps`)).items;
    const prompt = await get(`runs/${runId}/steps/${step.step}/prompt`);
    assert.deepEqual([prompt.exact, prompt.instructions], [true, 'You are Billing.']);
    const { flows } = (await rig.api.get('/v2/agencies')).body.items.find(
      (one: { name: string }) => one.name === 'Desk',
    );
    assert.deepEqual(flows.slice(0, 2), [
      { from: 'Triage', to: 'Billing', kind: 'handoff', lasts: 'chat', conditional: false },
      { from: 'Triage', to: 'Helper', kind: 'delegate', lasts: null, conditional: false },
    ]);
  });

  test('the last lasting hand-off counts, and others end with their run', async (t) => {
    cites(t, 'agents-34-lasts-newest', 'agents-34-lasts-delegated', 'agents-34-lasts-named');
    const delegated = { Triage: [calls(ask('h', 'Helper', 'Help.')), say('Done.')] };
    await send({ ...delegated, Helper: [to('Billing')], Billing: [say('Helped.')] });
    assert.equal(await lasting(), null, 'a hand-off in a delegation');
    await turnToBilling();
    const away = await send({ Billing: [to('Clerk')], Clerk: [say('Once.')] });
    assert.deepEqual(away.agents, ['You are Billing.', 'You are Clerk.']);
    assert.equal(await lasting(), 'Billing');
    const named = await send({ Triage: [say('You named me.')] }, { agent: 'Triage' });
    assert.deepEqual([named.agents, await lasting()], [['You are Triage.'], 'Billing']);
    const back = await send({ Billing: [to('Triage')], Triage: [say('Back.')] });
    assert.deepEqual(back.agents, ['You are Billing.', 'You are Triage.']);
    const { reader, requests } = await post({ Triage: [say('Me again.')] });
    assert.deepEqual([requests.length, updates(reader), await lasting()], [1, [], 'Triage']);
    const other = await send({ Clerk: [to('Shipping')], Shipping: [say('{}')] }, { agent: 'Clerk' });
    assert.deepEqual([other.agents.length, await lasting()], [2, 'Shipping']);
    const there = { Triage: [to('Billing'), say('And back.')], Billing: [to('Triage')] };
    assert.equal((await send(there, { agent: 'Triage' })).agents.length, 3);
    assert.equal(await lasting(), 'Triage');
  });

  test('a run that does not complete changes nothing', async (t) => {
    cites(t, 'agents-34-lasts-completed');
    const begun = Promise.withResolvers<void>();
    const running = post({
      Triage: [to('Billing')],
      Billing: [
        async (call) => {
          await call.text('I');
          begun.resolve();
        },
      ],
    });
    await begun.promise;
    const { activeRunId } = await get('chats/c');
    await rig.api.post(`${below}/runs/${activeRunId}/cancel`, { mode: 'immediate' });
    assert.equal(messagesFrame((await running).reader).status, 'cancelled');
    assert.equal(await lasting(), null);
    const failed = await post({ Triage: [to('Billing')], Billing: [(call) => call.fail('model_error', 'no')] });
    assert.deepEqual([messagesFrame(failed.reader).status, await lasting()], ['failed', null]);
    assert.deepEqual((await send({ Triage: [say('I.')] })).agents, ['You are Triage.']);
  });

  test('a run that answers questions begins as the asking run did', async (t) => {
    cites(t, 'agents-34-lasts-questions');
    await send({ Triage: [to('Billing')], Billing: [calls(['r', 'refund', {}])] });
    assert.equal(await lasting(), 'Billing', 'a run that asks is complete');
    const open = async (chat = 'c') => (await get(`chats/${chat}`)).pending[0].questionId;
    const approve = async (chat = 'c') => ({
      chatId: chat,
      answers: [{ questionId: await open(chat), approve: true }],
    });
    assert.deepEqual((await send({ Billing: [say('Paid.')] }, await approve())).agents, ['You are Billing.']);
    const asking = await send({ Billing: [calls(['s', 'refund', {}])] });
    const { body: fork } = await rig.api.post(`${below}/chats/c/fork`, {});
    const named = { agent: 'Triage', message: '' };
    const answered = await post({ Billing: [say('Paid.')] }, { ...(await approve()), ...named });
    assert.deepEqual(
      answered.requests.map(({ instructions, prompt }) => [instructions, prompt.at(-1)?.kind]),
      [['You are Billing.', 'tool_output']],
    );
    assert.deepEqual(updates(answered.reader), [], 'the asking run has shown it');
    assert.deepEqual((await send({ Billing: [say('Paid.')] }, await approve(fork.chatId))).agents, [
      'You are Billing.',
    ]);
    assert.deepEqual(await get('chats/c/state'), { refunded: true });
    assert.equal((await rig.api.delete(`${below}/chats/c`)).status, 204);
    const again = { runId: asking.runId, chatId: 'c' };
    assert.equal((await rig.api.post(`${below}/chats/${fork.chatId}/fork`, again)).status, 201);
    const afterDelete = await send({ Billing: [say('Paid.')] }, await approve());
    assert.deepEqual(afterDelete.agents, ['You are Billing.'], 'the chat of the asking run was deleted');
    const declined = await send({ Billing: [calls(['u', 'refund', {}])] });
    assert.deepEqual(declined.agents, ['You are Billing.']);
    assert.deepEqual((await send({ Billing: [say('Not then.')] })).agents, ['You are Billing.']);
    assert.equal(await lasting(), 'Billing');
  });

  test('forks and reruns begin with the agent at their point', async (t) => {
    cites(t, 'agents-34-lasts-fork');
    await rig.api.post(`${below}/chats`, { chatId: 'c' });
    await rig.api.patch(`${below}/chats/c/state`, { plan: 'pro' });
    const first = await turnToBilling();
    const second = await send({ Billing: [say('Me.')] });
    await send({ Billing: [to('Triage')], Triage: [say('Back.')] });
    const fork = async (body: object) => (await rig.api.post(`${below}/chats/c/fork`, body)).body.chatId as string;
    assert.equal(await lasting(await fork({ runId: first.runId, before: true })), null);
    const forked = await fork({ runId: first.runId });
    assert.deepEqual([await lasting(forked), await get(`chats/${forked}/state`)], ['Billing', { plan: 'pro' }]);
    assert.deepEqual((await send({ Billing: [say('Me.')] }, { chatId: forked })).agents, ['You are Billing.']);
    assert.equal(await lasting(await fork({})), 'Triage');
    const rerun = async (turns: Parameters<typeof play>[1], runId: string, body: object = {}) => {
      const all = play(rig, turns);
      const before = all.length;
      const reader = await rig.api.rerun(integration, runId, { keep: true, ...body });
      assert.equal(reader.status, 200, reader.text);
      await reader.whole();
      const { chatId, agent: entry } = await get(`runs/${messagesFrame(reader).run_id}`);
      const made = all.slice(before).map(({ request }) => request.instructions);
      return [made, entry, await lasting(chatId)];
    };
    assert.deepEqual(await rerun({ Billing: [say('Me.')] }, second.runId), [['You are Billing.'], 'Triage', 'Billing']);
    const named = await rerun({ Triage: [say('Me.')] }, second.runId, { agent: 'Triage' });
    assert.deepEqual(named, [['You are Triage.'], 'Triage', 'Billing']);
    const replaced = await rerun({ Other: [say('Me.')] }, second.runId, { instructions: 'You are Other.' });
    assert.deepEqual(replaced, [['You are Other.'], 'Triage', 'Billing']);
    const kept = await rerun({ Billing: [say('Me.')] }, first.runId, { afterStep: 2 });
    assert.deepEqual(kept, [['You are Billing.'], 'Triage', 'Billing'], 'the kept step is the hand-off');
  });

  test('what a request adds is for the agent that begins', async (t) => {
    cites(t, 'agents-34-lasts-request');
    await send({ Clerk: [to('Shipping')], Shipping: [say('{}')] }, { agent: 'Clerk' });
    const { agents } = await send({ Shipping: [say('{}')] }, { instructions: 'Be short.' });
    assert.deepEqual(agents, ['You are Shipping.']);
    const requests = rig.controller.calls.at(-1)?.request;
    assert.match(requests?.instructions ?? '', /Be short\.$/);
    const baseURL = `${rig.server.url}${below}/openai/v1`;
    const openai = new OpenAI({ baseURL, apiKey: TEST_API_KEY, maxRetries: 0 });
    const format = { type: 'json_schema' as const, name: 'x', schema: { type: 'object' } };
    const asked = (model: string) =>
      openai.responses.create({ model, input: 'Go.', conversation: 'c', text: { format } }).then(
        () => 'answered',
        (error: Error) => error.message,
      );
    assert.match(await asked(integration), /The agent `Shipping` has a schema for its answers already/);
    play(rig, { Triage: [say('{}')] });
    assert.equal(await asked('Triage'), 'answered');
    await turnToBilling('Triage');
    play(rig, { Billing: [say('{}')] });
    assert.equal(await asked(integration), 'answered');
    assert.deepEqual(rig.controller.calls.at(-1)?.request.output, { type: 'object' });
  });
}

/** The agency in the guide. */
const [LASTING = ''] = listSamples('docs/hand-offs.md', 'yaml');
const BRIEF = LASTING.replaceAll(', lasts: chat', '');

/** The agent in the guide that has the instructions. */
const findAgent = ({ request }: ModelCall) => (request.instructions.startsWith('Help') ? 'Billing' : 'Triage');

async function testTakeover(t: TestContext, store: StoreName): Promise<void> {
  cites(t, 'agents-34-lasts-takeover', 'agents-34-lasts-gone', 'agents-34-lasts-event');
  using folder = new AgenciesFolder({ 'own/agency.yaml': LASTING });
  const env = { RUNWIRE_AGENCIES_DIR: folder.path };
  await using server = await KillableServer.start({ store, env });
  const { controller } = server;
  await server.api.post('/v2/integrations', { apiIntegrationId: 'mine', agency: 'own' });
  const sent = { apiIntegrationId: 'mine', chatId: 'c', message: 'Go.' };
  const answer = async (text: string) => {
    const call = await controller.nextCall();
    await say(text)(call);
    return findAgent(call);
  };
  const first = await server.hold(sent);
  await first.call.toolCall('t', 'transfer_to_Billing', '{}');
  await first.call.end();
  assert.equal(await answer('I take over.'), 'Billing');
  await first.reader.whole();

  const kept = await server.hold(sent);
  assert.equal(findAgent(kept.call), 'Billing');
  const [row] = await askStore(server.dataDir, `select journal_format from runs where run_id = '${kept.runId}'`);
  assert.equal(Number(row?.journal_format), 13, 'a version that knows no lasting hand-offs does not know the format');
  folder.write({ 'own/agency.yaml': BRIEF });
  await server.process.kill();
  await server.startAgain({ env });
  assert.equal(await answer('The record counts.'), 'Billing');
  const again = await server.api.events(kept.runId, null, 'mine');
  await again.whole();
  assert.deepEqual(updates(again), [['Triage', 'Billing']]);
  const last = await server.hold(sent);
  assert.equal(findAgent(last.call), 'Triage', 'the hand-off does not last any more');
  await last.call.end();
  await last.reader.whole();
}
