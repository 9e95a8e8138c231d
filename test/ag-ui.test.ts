import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { type BaseEvent, HttpAgent, type Message, type RunAgentParameters } from '@ag-ui/client';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { KillableServer } from './support/killable-server.ts';
import { ask, calls, play, say, type Turn } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }, { approval }) => `refunded ${cents}, ${approval?.reason ?? 'no reason'}`,
});
const clock = defineTool({ name: 'clock', description: 'Time.', inputSchema: z.object({}), execute: () => '12:00' });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const sum = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] } as const;
const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', { tools: { refund, clock } }),
    agent('Billing', { tools: { refund, clock } }),
    agent('Clerk'),
    agent('Closer'),
    agent('Counter', { output: sum }),
  ],
  entryPoints: ['Lead', 'Counter'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Billing', to: 'Clerk' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

const think =
  (thought: string, text: string): Turn =>
  async (call) => {
    await call.reasoning(thought);
    for (const word of text.split(/(?<= )/)) await call.text(word);
    await call.end();
  };

const fails: Turn = async (call) => {
  await call.text('Half of an ');
  await call.fail('provider_error', 'The provider has no power.');
};

/** A tool of the page. */
const position = {
  name: 'position',
  description: 'Where the user is.',
  parameters: { type: 'object', properties: {} },
};

/** The client leaves the second rejection of a broken stream unhandled. */
async function fetchQuietly(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const getReader = () => {
    const reader = response.body?.getReader();
    return { read: () => reader?.read(), cancel: async () => {} };
  };
  return { ok: response.ok, status: response.status, headers: response.headers, body: { getReader } } as never;
}

type Event = BaseEvent & Readonly<Record<string, unknown>>;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  beforeEach(async () => {
    integration = await rig.integration({ agency: 'shop', clientTools: true, callerInstructions: true });
  });

  const page = (path = '', threadId: string = randomUUID(), initialMessages: Message[] = []) => {
    const url = `${rig.server.url}/v2/integrations/${integration}/ag-ui${path}`;
    return new HttpAgent({ url, threadId, initialMessages, headers: { Authorization: `Bearer ${TEST_API_KEY}` } });
  };

  /** Runs the agent, whose client verifies every event, and returns them. */
  async function run(client: HttpAgent, message: string | null, parameters: RunAgentParameters = {}) {
    if (message !== null) client.addMessage({ id: randomUUID(), role: 'user', content: message });
    const events: Event[] = [];
    const { newMessages, result } = await client.runAgent(parameters, {
      onEvent: ({ event }) => {
        events.push(event as Event);
      },
    });
    count({ runs: 1, events: events.length });
    return { events, newMessages, result, end: events.at(-1) as Event };
  }

  const types = (events: readonly Event[]) => events.map(({ type }) => String(type));
  const answer = (messages: readonly Message[]) =>
    messages.flatMap((message) => (message.role === 'assistant' && message.content ? [message.content] : []));
  const runs = async () =>
    (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items as { runId: string }[];

  test('every event of every kind of run is verified by the client', async (t) => {
    cites(
      t,
      'compatible-20-ag-ui-verified',
      'compatible-20-ag-ui-started',
      'compatible-20-ag-ui-calls',
      'compatible-20-ag-ui-end',
    );
    for (let round = 0; round < scale(1, 20); round += 1) {
      play(rig, {
        Lead: [
          think('Hm.', 'Hello you.'),
          calls(['c1', 'clock', {}], ['c2', 'clock', {}], ['c3', 'missing', {}]),
          ...Array.from({ length: 4 }, (_, index) => calls([`s${index}`, 'clock', {}])),
          say('Noon.'),
          calls(['h1', 'transfer_to_Closer', {}]),
        ],
        Closer: [say('Bye.')],
        Counter: [say('{"sum":3}')],
      });
      const client = page();
      const first = await run(client, 'Hi');
      assert.deepEqual(types(first.events), [
        'RUN_STARTED',
        'REASONING_START',
        'REASONING_MESSAGE_START',
        'REASONING_MESSAGE_CONTENT',
        'REASONING_MESSAGE_END',
        'REASONING_END',
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_END',
        'RUN_FINISHED',
      ]);
      const [started] = first.events;
      const { metadata, ...shown } = started as Event & { metadata: { runwire: { run_id: string } } };
      assert.deepEqual(shown, {
        type: 'RUN_STARTED',
        threadId: client.threadId,
        runId: first.end.runId,
        protocolVersion: '1.0',
      });
      assert.match(metadata.runwire.run_id, /^run_/);
      assert.deepEqual(answer(first.newMessages), ['Hello you.']);
      assert.deepEqual(first.end.outcome, { type: 'success' });

      const second = await run(client, 'What time is it?');
      const calling = second.newMessages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
      );
      const outputs = second.newMessages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []));
      assert.deepEqual(calling.toSorted(), ['c1', 'c2', 'c3', 's0', 's1', 's2', 's3']);
      assert.deepEqual(outputs.toSorted(), calling.toSorted());
      assert.deepEqual(answer(second.newMessages), ['Noon.']);

      const third = await run(client, 'Close.');
      const closing = third.newMessages.find(({ role }) => role === 'assistant' && 'content' in { role });
      assert.equal(closing, undefined);
      assert.deepEqual(
        third.events.filter(({ type }) => type === 'TEXT_MESSAGE_START').map(({ name }) => name),
        ['Closer'],
      );
      const counted = await run(page('/Counter'), 'Count.');
      assert.deepEqual(counted.result, { sum: 3 });
    }
  });

  test('a delegated agent is a subagent, with the call that began it', async (t) => {
    cites(t, 'compatible-20-ag-ui-subagents');
    play(rig, {
      Lead: [calls(ask('d1', 'Billing', 'Do')), say('Done.')],
      Billing: [calls(['c1', 'clock', {}], ask('d2', 'Clerk', 'Help')), say('I did.')],
      Clerk: [say('Sure.')],
    });
    const { events, end } = await run(page(), 'Go.');
    const subagents = events.filter(({ type }) => type.startsWith('SUBAGENT'));
    assert.deepEqual(subagents, [
      { type: 'SUBAGENT_STARTED', subagentRunId: 'd1', name: 'Billing', parentToolCallId: 'd1' },
      {
        type: 'SUBAGENT_STARTED',
        subagentRunId: 'd2',
        name: 'Clerk',
        parentSubagentRunId: 'd1',
        parentToolCallId: 'd2',
      },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'd2', outcome: { type: 'success' } },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'd1', outcome: { type: 'success' } },
    ]);
    const texts = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT');
    assert.deepEqual(
      texts.map(({ delta, subagentRunId }) => [delta, subagentRunId]),
      [
        ['Sure.', 'd2'],
        ['I did.', 'd1'],
        ['Done.', undefined],
      ],
    );
    const result = events.find(({ type, toolCallId }) => type === 'TOOL_CALL_RESULT' && toolCallId === 'd1');
    assert.equal(result?.content, 'I did.');
    assert.deepEqual(end.usage, [
      {
        model: 'scripted/model',
        inputTokens: 50,
        outputTokens: 25,
        totalTokens: 75,
        reasoningTokens: 0,
        cachedInputTokens: 10,
      },
    ]);
  });

  test('a failed run is a RUN_ERROR with its code, and a cancelled one ends as cancelled', async (t) => {
    cites(t, 'compatible-20-ag-ui-error', 'compatible-20-ag-ui-end');
    play(rig, {
      Lead: [fails, calls(ask('d1', 'Billing', 'Do')), say('Later.')],
      Billing: [async (call) => call.text('So')],
    });
    const failed = await run(page(), 'Hi').then(
      ({ end }) => end,
      (error: Error) => error,
    );
    const [first] = (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items;
    assert.equal(first.status, 'failed');
    assert.ok(!(failed instanceof Error), String(failed));
    assert.deepEqual([failed.type, failed.code], ['RUN_ERROR', first.error.code]);

    const client = page();
    const running = run(client, 'Hi');
    let runId = '';
    while (runId === '') {
      const { body } = await rig.api.get(`/v2/integrations/${integration}/runs?status=running`);
      const steps = body.items[0] === undefined ? [] : await listSteps(body.items[0].runId);
      if (steps.length > 0) runId = body.items[0].runId;
    }
    await rig.api.post(`/v2/integrations/${integration}/runs/${runId}/cancel`, { mode: 'immediate' });
    const { end, events } = await running;
    assert.deepEqual(end.outcome, { type: 'cancelled' });
    assert.equal(events.filter(({ type }) => type === 'SUBAGENT_ERROR').length, 1);
    assert.equal((await run(client, 'Again.')).end.type, 'RUN_FINISHED');
  });

  const listSteps = async (runId: string) =>
    (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}/steps`)).body.items as object[];

  test('the same runId twice is one run', async (t) => {
    cites(t, 'compatible-20-ag-ui-replay');
    const made = play(rig, {
      Lead: [calls(ask('d1', 'Billing', 'Do')), say('Hello.')],
      Billing: [think('Hm.', 'I did.')],
    });
    const before = made.length;
    const threadId = randomUUID();
    const runId = randomUUID();
    const both = await Promise.all([1, 2].map(() => run(page('', threadId), 'Hi', { runId })));
    // A client that lost its connection has a part of the answer, and sends that too.
    const lost = page('', threadId, [
      { id: 'u1', role: 'user', content: 'Hi' },
      { id: 'a1', role: 'assistant', content: 'Hel' },
    ]);
    const third = await run(lost, null, { runId });
    for (const { newMessages, end } of [...both, third]) {
      assert.deepEqual(answer(newMessages).toSorted(), ['Hello.', 'I did.']);
      assert.deepEqual([end.type, end.runId, end.threadId], ['RUN_FINISHED', runId, threadId]);
    }
    assert.equal(made.length - before, 3);
    assert.equal((await runs()).length, 1);
  });

  test('a frontend tool ends the run, and its output continues it', async (t) => {
    cites(t, 'compatible-20-ag-ui-frontend-tools', 'compatible-20-ag-ui-answers');
    // The client logs each refusal.
    t.mock.method(console, 'error', () => {});
    const made = play(rig, {
      Lead: [calls(['c1', 'position', {}], ['c2', 'clock', {}]), say('You are here.'), say('Yes.')],
    });
    const client = page();
    const first = await run(client, 'Where am I?', { tools: [position] });
    const [call] = first.events.filter(
      ({ type, toolCallName }) => type === 'TOOL_CALL_START' && toolCallName === 'position',
    );
    const toolCallId = String(call?.toolCallId);
    assert.match(toolCallId, /^call_/);
    assert.deepEqual(first.end.outcome, { type: 'success', pendingToolCallIds: [toolCallId] });
    client.addMessage({ id: 'o1', role: 'tool', toolCallId, content: 'Hamburg' });
    const second = await run(client, null, { tools: [position], runId: 'answer' });
    assert.deepEqual(answer(second.newMessages), ['You are here.']);
    assert.equal(
      second.events.filter(({ type }) => type === 'TOOL_CALL_RESULT').length,
      0,
      'the client has the output',
    );
    const prompt = made.at(-1)?.request.prompt ?? [];
    assert.ok(prompt.some((item) => item.kind === 'tool_output' && item.output === 'Hamburg'));
    // A later message does not answer again, although its history has the output.
    assert.deepEqual(answer((await run(client, 'Sure?')).newMessages), ['Yes.']);
    const stale = page('', client.threadId, [{ id: 'o2', role: 'tool', toolCallId, content: 'Bremen' }]);
    await assert.rejects(run(stale, null), /question_not_pending/);
  });

  test('an approval is an interrupt, and resume answers it', async (t) => {
    cites(t, 'compatible-20-ag-ui-interrupts', 'compatible-20-ag-ui-resume', 'compatible-20-ag-ui-answers');
    // The client logs each refusal.
    t.mock.method(console, 'error', () => {});
    play(rig, {
      Lead: [
        calls(ask('d1', 'Billing', 'Pay'), ['p1', 'position', {}]),
        say('Paid.'),
        calls(['r2', 'refund', { cents: 7 }]),
        say('Not paid.'),
        calls(['r3', 'refund', { cents: 8 }]),
        say('Fine.'),
      ],
      Billing: [calls(['r1', 'refund', { cents: 5 }]), say('Done.')],
    });
    const client = page();
    const first = await run(client, 'Pay me.', { tools: [position] });
    const [interrupt] = client.pendingInterrupts;
    assert.ok(interrupt !== undefined);
    assert.deepEqual([interrupt.reason, interrupt.subagentRunId], ['tool_approval', 'd1']);
    assert.match(interrupt.id, /^qst_/);
    assert.equal(interrupt.toolCallId, interrupt.id.replace('qst_', 'call_'));
    const suspended = first.events.find(({ type }) => type === 'SUBAGENT_FINISHED');
    assert.deepEqual(suspended?.outcome, { type: 'suspended', interruptIds: [interrupt.id] });
    const waiting = first.events.find(
      ({ type, toolCallName }) => type === 'TOOL_CALL_START' && toolCallName === 'position',
    );
    client.addMessage({ id: 'o1', role: 'tool', toolCallId: String(waiting?.toolCallId), content: 'Hamburg' });
    const payload = { approved: true, reason: 'Fair.' };
    const resume = [{ interruptId: interrupt.id, status: 'resolved', payload } as const];
    const before = structuredClone(client.messages);
    const second = await run(client, null, { tools: [position], resume, runId: 'approved' });
    const results = second.events.filter(({ type }) => type === 'TOOL_CALL_RESULT');
    assert.deepEqual(
      results.map(({ toolCallId, content }) => [toolCallId, content]),
      [
        [interrupt.toolCallId, 'refunded 5, Fair.'],
        ['d1', 'Done.'],
      ],
    );
    assert.deepEqual(answer(second.newMessages), ['Done.', 'Paid.']);
    // A replay knows the ids of the run that asked too.
    const replay = page('', client.threadId, before);
    const replayed = await run(replay, null, { resume, runId: 'approved' });
    assert.equal(replayed.events.find(({ type }) => type === 'TOOL_CALL_RESULT')?.toolCallId, interrupt.toolCallId);

    await run(client, 'More.');
    const [declined] = client.pendingInterrupts;
    const third = await run(client, null, { resume: [{ interruptId: declined?.id ?? '', status: 'cancelled' }] });
    assert.equal(third.events.find(({ type }) => type === 'TOOL_CALL_RESULT')?.content, 'Declined by the user.');
    await run(client, 'Again.');
    const [bad] = client.pendingInterrupts;
    const wrong = [{ interruptId: bad?.id ?? '', status: 'resolved', payload: { answer: 42 } } as const];
    await assert.rejects(run(client, null, { resume: wrong }), /payload.approved/);
    client.pendingInterrupts = [];
    assert.deepEqual(answer((await run(client, 'Never mind.')).newMessages), ['Fine.']);
  });

  test('a new run in a busy chat cancels the active one, unless it must not', async (t) => {
    cites(t, 'compatible-20-ag-ui-busy');
    // The client logs each refusal.
    t.mock.method(console, 'error', () => {});
    const threadId = randomUUID();
    let held = 0;
    rig.controller.onCall = (call) => {
      held += 1;
      void (held === 1 ? call.text('Long ') : say('Short.')(call));
    };
    const first = run(page('', threadId), 'One');
    while (held === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await assert.rejects(run(page('?whenBusy=refuse', threadId), 'Two'), /HTTP 409.*run_active/);
    const second = await run(page('', threadId), 'Three');
    assert.deepEqual(answer(second.newMessages), ['Short.']);
    assert.deepEqual((await first).end.outcome, { type: 'cancelled' });
    await assert.rejects(run(page('?whenBusy=never', threadId), 'Four'), /HTTP 400.*whenBusy/);
  });

  test('a run whose server was killed is replayed without its void text', async (t) => {
    cites(t, 'compatible-20-ag-ui-void', 'compatible-20-ag-ui-replay');
    t.mock.method(console, 'error', () => {});
    await using doomed = await KillableServer.start({ store });
    await doomed.metered();
    const client = () => {
      const url = `${doomed.api.url}/v2/integrations/mine/ag-ui`;
      const headers = { Authorization: `Bearer ${TEST_API_KEY}`, 'X-Runwire-Consumer-Id': 'ann' };
      return new HttpAgent({ url, threadId: 'c1', headers, fetch: fetchQuietly });
    };
    const cut = run(client(), 'Hi', { runId: 'r1' }).then(
      () => null,
      (error: Error) => error,
    );
    const call = await doomed.controller.nextCall();
    await call.text('Void text');
    await doomed.process.kill();
    assert.ok((await cut) instanceof Error, 'a broken stream is an error of the client');
    await doomed.startAgain();
    void doomed.controller.nextCall().then(say('The answer'));
    let replay: Awaited<ReturnType<typeof run>> | null = null;
    // A reader of events that were not void yet breaks off too.
    for (let tries = 0; replay === null; tries += 1) {
      assert.ok(tries < 10);
      replay = await run(client(), 'Hi', { runId: 'r1' }).catch(() => null);
    }
    const { newMessages, end } = replay;
    assert.deepEqual([answer(newMessages), end.type], [['The answer'], 'RUN_FINISHED']);
  });

  test('reads the history, instructions, context and member of a request', async (t) => {
    cites(t, 'compatible-20-ag-ui-fields', 'compatible-20-ag-ui-history', 'compatible-20-ag-ui-member');
    const made = play(rig, { Lead: [say('Yes.'), say('Again.')] });
    await rig.member(integration, 'ann');
    const client = page('/Lead', randomUUID(), [
      { id: 's', role: 'system', content: 'Be brief.' },
      { id: 'u', role: 'user', content: 'Remember 7.' },
      {
        id: 'a',
        role: 'assistant',
        toolCalls: [{ id: 'x1', type: 'function', function: { name: 'note', arguments: '{"n":7}' } }],
      },
      { id: 't', role: 'tool', toolCallId: 'x1', content: 'noted' },
      { id: 'b', role: 'assistant', content: 'I will.' },
    ]);
    const forwardedProps = { consumerId: 'ann', page: '/cart' };
    await run(client, 'Do you?', { forwardedProps, context: [{ description: 'Time zone', value: 'CET' }] });
    const { prompt, instructions } = made.at(-1)?.request ?? { prompt: [], instructions: '' };
    assert.match(instructions, /^You are Lead\.\n\nBe brief\./);
    assert.deepEqual(
      prompt.map((item) => item.kind),
      ['user', 'tool_call', 'tool_output', 'assistant', 'user'],
    );
    const [first] = (await rig.api.get(`/v2/integrations/${integration}/runs`)).body.items;
    assert.deepEqual([first.consumerId, first.chatId], ['ann', client.threadId]);
    // The chat is stored now: what the client sends of it is not read again.
    await run(client, 'Sure?', { forwardedProps });
    assert.equal(made.at(-1)?.request.prompt.filter((item) => item.kind === 'user').length, 3);
  });
}
