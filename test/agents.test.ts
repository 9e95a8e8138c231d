import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { hookStore, type ModelCall, STORES, type StoreName, StoreUnavailable } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { ask, calls, getAgent, play, say, type Turn } from './support/play.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const agent = (name: string, tools: NonNullable<Parameters<typeof defineAgent>[0]['tools']> = []) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, tools });

const note = defineTool({
  name: 'note',
  description: 'Notes it.',
  inputSchema: { type: 'object' },
  execute: () => 'noted',
});

/** Lead asks Research and Facts; Research asks Facts; Lead hands over to Closer. */
const team = defineAgency({
  name: 'Team',
  agents: [agent('Lead'), agent('Research'), agent('Facts', [note]), agent('Closer')],
  flows: [
    { from: 'Lead', to: 'Research' },
    { from: 'Lead', to: 'Facts' },
    { from: 'Research', to: 'Facts' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
    { from: 'Closer', to: 'Lead', kind: 'handoff' },
  ],
});

const moodyAgent = (name: string, instructions: () => Promise<string>) =>
  defineAgent({ name, description: `${name} is asked.`, instructions, files: false });

/** The code of the agents besides Lead fails. */
const moody = defineAgency({
  name: 'Moody',
  agents: [
    agent('Lead'),
    moodyAgent('Throws', async () => {
      throw new Error('a secret of the inside');
    }),
    moodyAgent('Forgets', async () => undefined as unknown as string),
  ],
  flows: [
    { from: 'Lead', to: 'Forgets' },
    { from: 'Lead', to: 'Throws', kind: 'handoff' },
  ],
});

const start = (store: StoreName) => ScriptedServer.start({ store, agencies: { team, moody } });

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('an agent asks two others concurrently, and one of them asks a third', async (t) => {
    cites(t, 'agents-11-send-message', 'agents-11-additional-instructions', 'agents-11-concurrent');
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const made = play(rig, {
      Lead: [calls(ask('c1', 'Research', 'Find it.'), ask('c2', 'Facts', 'When?')), say('Both agree.')],
      Research: [calls(ask('c3', 'Facts', 'Is it so?', { additional_instructions: 'Be brief.' })), say('It is so.')],
      Facts: [say('In May.'), say('Yes.')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'Check.' });
    await reader.whole();
    const { new_messages: items, status } = messagesFrame(reader);
    assert.equal(status, 'completed');
    const outputs = Object.fromEntries(
      items.flatMap((item: Record<string, string>) =>
        item.type === 'function_call_output' ? [[item.call_id, item.output]] : [],
      ),
    );
    assert.deepEqual(outputs.c1, 'It is so.');
    assert.deepEqual(new Set([outputs.c2, outputs.c3]), new Set(['In May.', 'Yes.']));
    const brief = made.find((call) => call.request.instructions.includes('Be brief.'));
    assert.equal(brief?.request.instructions, 'You are Facts.\n\nBe brief.');
    assert.deepEqual(brief?.request.prompt, [{ kind: 'user', text: 'Is it so?' }]);
    const chat = await rig.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`);
    assert.deepEqual(chat.body.items.map(({ content }: { content: string }) => content).toSorted(), [
      'Both agree.',
      'Check.',
    ]);
  });

  test('steps of parallel agents are stored in order after an outage, so sums never shrink', async () => {
    const requests: number[] = [];
    let tries = 0;
    const wrapStore = hookStore({
      transact: async (name, transact) => {
        if (name === 'step') tries += 1;
        // The first step of an agent that was asked.
        if (name === 'step' && tries === 2) throw new StoreUnavailable('away');
        return transact();
      },
      write: (statement, write, params) => {
        if (statement === 'advance run') requests.push((params as { requestCount: number }).requestCount);
        return write();
      },
    });
    await using rig = await ScriptedServer.start({ store, agencies: { team }, wrapStore });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    play(rig, {
      Lead: [calls(ask('c1', 'Research', 'Find it.'), ask('c2', 'Facts', 'When?')), say('Both agree.')],
      Research: [say('It is so.')],
      Facts: [say('In May.')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, message: 'Check.' });
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
    assert.deepEqual([requests.length, requests], [5, requests.toSorted((a, b) => a - b)]);
  });

  test('a hand-off lasts to the end of the run, and the next turn starts at the default', async (t) => {
    cites(
      t,
      'agents-11-transfer',
      'agents-11-recipient',
      'agents-11-agent-fields',
      'agents-11-events',
      'contract-6-handoff',
      'contract-5-run-item-handoff',
      'contract-5-agent-updated',
      'contract-5-agent-handoff',
    );
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const made = play(rig, {
      Lead: [calls(['c1', 'transfer_to_Closer', { recipient_agent: 'Closer' }]), say('Lead again.')],
      Closer: [say('Closed.')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'Close it.' });
    await reader.whole();
    const output = 'Transfer completed. You are Closer. Please continue the task.';
    assert.deepEqual(made[1]?.request.prompt.at(-1), { kind: 'tool_output', callId: 'c1', output });
    assert.deepEqual(made[1]?.request.prompt[0], { kind: 'user', text: 'Close it.' });
    const events = reader.frames.flatMap(({ event, data }) => (event === null ? [JSON.parse(data).data] : []));
    const shown = events.filter(({ name, type }) => name?.startsWith('handoff') || type.startsWith('agent_updated'));
    assert.deepEqual(
      shown.map(({ name, new_agent: next, item }) => [name ?? next.name, item?.type, item?.target_agent]),
      [
        ['handoff_requested', 'handoff_call_item', undefined],
        ['Closer', undefined, undefined],
        ['handoff_occured', 'handoff_output_item', 'Closer'],
      ],
    );
    const spoken = events.filter(({ agent: by }) => by === 'Closer');
    assert.ok(spoken.length > 0 && spoken.every(({ callerAgent }) => callerAgent === null));
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`);
    assert.deepEqual(body.items.map(({ agent: by, role }: Record<string, string>) => `${role} ${by}`).toSorted(), [
      'assistant Closer',
      'user Lead',
    ]);
    await (await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'More.' })).whole();
    assert.equal(getAgent(made[2] as ModelCall), 'Lead');
  });

  test('an agent remembers its exchanges with the same sender, in the run and in the chat', async (t) => {
    cites(t, 'agents-11-memory');
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const made = play(rig, {
      Lead: [
        calls(ask('c1', 'Facts', 'When?')),
        calls(ask('c2', 'Facts', 'Where?')),
        say('Done.'),
        calls(ask('c3', 'Facts', 'Who?'), ask('c4', 'Research', 'Why?')),
        say('Done again.'),
      ],
      Facts: [calls(['n1', 'note', {}]), say('In May.'), say('Here.'), say('She.')],
      Research: [say('Because.')],
    });
    for (const message of ['One.', 'Two.']) {
      await (await rig.api.complete({ apiIntegrationId, chatId: 'c', message })).whole();
    }
    const texts = (call: ModelCall | undefined) =>
      call?.request.prompt.map((item) => ('text' in item ? item.text : item.kind));
    const facts = made.filter((call) => getAgent(call) === 'Facts');
    assert.deepEqual(texts(facts[2]), ['When?', 'In May.', 'Where?']);
    assert.deepEqual(texts(facts[3]), ['When?', 'In May.', 'Where?', 'Here.', 'Who?']);
    assert.deepEqual(
      texts(made.find((call) => getAgent(call) === 'Research')),
      ['Why?'],
      'another agent sees none of it',
    );
  });

  test('messages to others do not displace what an agent remembers', async () => {
    await using rig = await ScriptedServer.start({ store, agencies: { team }, limits: { stepsPerRun: 200 } });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const asked = Array.from({ length: 50 }, (_, index) => calls(ask(`r${index}`, 'Research', 'Why?')));
    const made = play(rig, {
      Lead: [
        calls(ask('c1', 'Facts', 'When?')),
        ...asked,
        say('Done.'),
        calls(ask('c2', 'Facts', 'Who?')),
        say('Done.'),
      ],
      Facts: [say('In May.'), say('She.')],
      Research: asked.map(() => say('Because.')),
    });
    for (const message of ['One.', 'Two.']) {
      await (await rig.api.complete({ apiIntegrationId, chatId: 'c', message })).whole();
    }
    const [, second] = made.filter((call) => getAgent(call) === 'Facts');
    assert.deepEqual(
      second?.request.prompt.map((item) => ('text' in item ? item.text : item.kind)),
      ['When?', 'In May.', 'Who?'],
    );
  });

  test('an agent remembers as much as half of its window holds', async () => {
    await using rig = await ScriptedServer.start({ store, agencies: { team }, env: { RUNWIRE_MODEL_WINDOW: '1000' } });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const asked = ['a', 'b', 'c', 'd'].map((letter) => calls(ask(`c${letter}`, 'Facts', letter.repeat(400))));
    const made = play(rig, {
      Lead: [...asked.slice(0, 2), say('Done.'), ...asked.slice(2), say('Done.')],
      Facts: ['A', 'B', 'C', 'D'].map((letter) => say(letter.repeat(400))),
    });
    for (const message of ['One.', 'Two.']) {
      await (await rig.api.complete({ apiIntegrationId, chatId: 'c', message })).whole();
    }
    const seen = made
      .filter((call) => getAgent(call) === 'Facts')
      .map(({ request }) => request.prompt.map((item) => ('text' in item ? item.text[0] : item.kind)).join(''));
    assert.deepEqual(seen, ['a', 'aAb', 'aAbBc', 'bBcCd']);
  });

  test('what cannot be sent is answered, and the failure of an agent does not fail the run', async (t) => {
    cites(
      t,
      'agents-11-failed-agent',
      'agents-11-busy-recipient',
      'contract-8-stream-agency-error',
      'contract-6-charged-zero-agency',
    );
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const made = play(rig, {
      Lead: [
        calls(
          ask('c1', 'Facts', 'When?'),
          ask('c2', 'Facts', 'And where?'),
          ask('c3', 'Nobody', 'Hello?'),
          ask('c4', 'Research', ' '),
        ),
        say('I see.'),
      ],
      Facts: [
        async (call) => {
          await call.text('In M');
          call.fail('model_error', 'The model broke.');
        },
      ],
    });
    const reader = await rig.api.complete({ apiIntegrationId, message: 'Go.' });
    const frames = await reader.whole();
    const done = frames.flatMap(({ data }) => (data.includes('"response.output_item.done"') ? [JSON.parse(data)] : []));
    assert.deepEqual(
      done.flatMap(({ data: { data } }) => (data.item.type === 'message' ? [[data.item.status]] : [])),
      [['incomplete'], ['completed']],
      'the item of the agent that failed is ended too',
    );
    assert.deepEqual(
      made[2]?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])),
      [
        'Facts failed: The model broke.',
        'Facts is answering another message; wait for its answer, then send this one.',
        '`recipient_agent` must be one of `Research`, `Facts`.',
        '`message` must be a text that is not blank.',
      ],
    );

    // Code of the agency fails: in a delegation only the call, after a hand-off the run, which costs nothing.
    const metered = await rig.metered({ unit: 'tokens', limit: 10_000, period: 'day' }, { agency: 'moody' });
    const later = play(rig, {
      Lead: [calls(ask('d1', 'Forgets', 'Well?')), calls(['d2', 'transfer_to_Throws', { recipient_agent: 'Throws' }])],
    });
    const ids = { apiIntegrationId: metered, consumerId: 'ann', usageRequestId: 'u' };
    const failed = await rig.api.complete({ ...ids, message: 'Go.' });
    await failed.whole();
    const sentence = (name: string) =>
      `The function \`instructions\` of the agent \`${name}\` of the agency \`moody\` failed; the log of the server has the reason.`;
    assert.deepEqual(
      later.at(-1)?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])),
      [`Forgets failed: ${sentence('Forgets')}`],
    );
    const { status, error } = messagesFrame(failed);
    assert.deepEqual([status, error], ['failed', { code: 'agency_error', message: sentence('Throws') }]);
    assert.doesNotMatch(failed.text, /secret/);
    const [record] = (await rig.api.get(`/v2/integrations/${metered}/usage`)).body.items;
    assert.deepEqual([record.usage.request_count, record.charged], [2, { unit: 'tokens', amount: 0 }]);
  });

  test('hand-offs, depth and steps have limits', async (t) => {
    cites(t, 'agents-11-limits');
    await using rig = await ScriptedServer.start({
      store,
      agencies: { team },
      limits: { handOffs: 1, delegationDepth: 1, stepsPerRun: 6 },
    });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const back = (id: string, to: string) => calls([id, `transfer_to_${to}`, {}]);
    const made = play(rig, {
      Lead: [calls(ask('c1', 'Research', 'Find it.')), back('h1', 'Closer')],
      Research: [calls(ask('c2', 'Facts', 'So?')), say('I do not know.')],
      Closer: [back('h2', 'Lead'), back('h3', 'Lead')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, message: 'Go.' });
    await reader.whole();
    assert.equal(messagesFrame(reader).error.code, 'step_limit');
    const told = made.flatMap(({ request }) =>
      request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])),
    );
    assert.ok(told.some((text) => text.startsWith('Messages to agents may be nested 1 deep')));
    assert.ok(told.some((text) => text.startsWith('This run has reached its limit of 1 hand-offs')));
  });

  test('frames of a delegated agent name the call that asked it', async (t) => {
    cites(t, 'agents-11-parent');
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    play(rig, { Lead: [calls(ask('c1', 'Facts', 'When?')), say('May.')], Facts: [say('In May.')] });
    const reader = await rig.api.complete({ apiIntegrationId, message: 'Go.' });
    await reader.whole();
    const deltas = reader.frames.flatMap(({ event, data }) => {
      const shown = event === null ? JSON.parse(data).data : null;
      return shown?.data?.type === 'response.output_text.delta' ? [shown] : [];
    });
    assert.deepEqual(
      deltas.map(({ agent: by, callerAgent, parent_run_id: parent, data }) => [by, callerAgent, parent, data.delta]),
      [
        ['Facts', 'Lead', 'c1', 'In May.'],
        ['Lead', null, undefined, 'May.'],
      ],
    );
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}/steps`);
    const steps = body.items
      .toReversed()
      .map(({ step, kind, agent: by, loop }: Record<string, unknown>) => [step, kind, by, loop]);
    assert.deepEqual(steps, [
      [1, 'model', 'Lead', null],
      [2, 'model', 'Facts', 'c1'],
      [3, 'tool', 'Lead', null],
      [4, 'model', 'Lead', null],
    ]);
  });

  test('a structured answer is repaired twice, and readers get only the right one', async (t) => {
    cites(
      t,
      'agents-12-output',
      'agents-12-output-invalid',
      'agents-12-output-tries',
      'contract-8-stream-output-invalid',
    );
    const extractor = defineAgent({
      ...agent('Extractor', [note]),
      output: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
    });
    await using rig = await ScriptedServer.start({
      store,
      agencies: { team: defineAgency({ name: 'Team', agents: [extractor] }) },
    });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const noted: Turn = async (call) => {
      await call.text('I will note it.');
      await call.toolCall('n1', 'note', '{}');
      await call.end();
    };
    const made = play(rig, {
      Extractor: [noted, say('It is 1.'), say('{"n":"1"}'), say('{"n": 1}'), say('a'), say('b'), say('c')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'How many?' });
    await reader.whole();
    const { output, new_messages: items, usage } = messagesFrame(reader);
    assert.deepEqual(output, { n: 1 });
    assert.equal(usage.request_count, 4, 'wrong tries are charged');
    const texts = items.flatMap((item: { role?: string; content?: unknown }) =>
      item.role === 'assistant' ? [item.content] : [],
    );
    assert.deepEqual(
      JSON.stringify(texts),
      JSON.stringify([[{ type: 'output_text', text: '{"n": 1}', annotations: [] }]]),
    );
    assert.match(JSON.stringify(made[2]?.request.prompt.at(-1)), /it is not JSON; write the JSON alone/);
    const runId = String(reader.headers['x-run-id']);
    const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${runId}`);
    assert.deepEqual([body.output, body.message], [{ n: 1 }, '{"n": 1}']);
    const list = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs`);
    assert.deepEqual(list.body.items[0].output, { n: 1 });
    const failed = await rig.api.complete({ apiIntegrationId, message: 'And now?' });
    await failed.whole();
    const end = messagesFrame(failed);
    assert.deepEqual([end.status, end.error.code, end.output], ['failed', 'output_invalid', null]);
    assert.ok(!failed.text.includes('output_text.delta'), 'no wrong try is sent');
  });
}
