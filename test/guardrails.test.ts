import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import {
  defineAgency,
  defineAgent,
  defineGuardrail,
  defineTool,
  type Guardrail,
  type GuardrailPosition,
} from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { storedState } from './support/ask-store.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, ScriptedServer, shownUsage } from './support/scripted-server.ts';

/* Guardrails of an agency and of its agents: what they check, what they decide, and what remains of it. */

type Check = (about: Record<string, unknown>) => unknown;

/** What each guardrail was asked about, in order, and what it returns. */
const asked: { readonly name: string; readonly about: Record<string, unknown> }[] = [];
let rules: Readonly<Record<string, Check>> = {};

const check =
  (name: string) =>
  async (about: object): Promise<never> => {
    asked.push({ name, about: { ...about } });
    return ((await rules[name]?.({ ...about })) ?? { pass: true }) as never;
  };

const guardrail = (name: string, on: GuardrailPosition) =>
  defineGuardrail({ name, on, check: check(name) }) as Guardrail;

const made: unknown[] = [];

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks it up.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  execute: (input) => {
    made.push(input);
    return `secret result ${(input as { id?: string }).id}`;
  },
});

const agent = (name: string, more: object) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const all = (prefix: string) =>
  (['input', 'output', 'toolCall', 'toolResult'] as const).map((on) => guardrail(`${prefix}_${on}`, on));

/** Lead has guardrails of its own, Helper and Closer only those of the agency. */
const guarded = defineAgency({
  name: 'Guarded',
  guardrails: all('agency'),
  agents: [
    agent('Lead', { tools: [lookUp], guardrails: all('lead') }),
    agent('Helper', { tools: [lookUp] }),
    agent('Closer', {}),
    agent('Judge', { output: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } }),
  ],
  flows: [
    { from: 'Lead', to: 'Helper' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { guarded } });
  let integration = '';
  beforeEach(async () => {
    asked.length = 0;
    made.length = 0;
    rules = {};
    integration = await rig.integration({ agency: 'guarded' });
  });

  const get = async (path: string) => (await rig.api.get(`/v2/integrations/${integration}${path}`)).body;
  const send = async (body: object = {}) => {
    const reader = await rig.api.complete({
      ...{ apiIntegrationId: integration, chatId: 'c', message: 'A secret question.' },
      ...body,
    });
    await reader.whole();
    return reader;
  };
  const steps = async (runId: string) => (await get(`/runs/${runId}/steps`)).items.toReversed();
  /** Returns the model calls of this test. */
  const playNow = (turns: Parameters<typeof play>[1]) => {
    const before = rig.controller.calls.length;
    play(rig, turns);
    return () => rig.controller.calls.slice(before);
  };
  const names = () => asked.map(({ name }) => name);

  test('the guardrails of the agency are asked before those of the agent, with what they check', async (t) => {
    cites(t, 'agents-32-order', 'agents-32-positions', 'agents-32-about', 'agents-32-verdicts-stored');
    play(rig, { Lead: [calls(['c1', 'look_up', { id: 'a' }]), say('The answer.')] });
    const end = messagesFrame(await send({ user_context: { plan: 'pro' } }));
    assert.equal(end.status, 'completed');
    const positions = ['input', 'toolCall', 'toolResult', 'output'];
    assert.deepEqual(
      names(),
      positions.flatMap((on) => [`agency_${on}`, `lead_${on}`]),
    );
    const common = { agent: 'Lead', member: null, userContext: { plan: 'pro' } };
    assert.deepEqual(
      asked.filter(({ name }) => name.startsWith('lead')).map(({ about }) => about),
      [
        { ...common, text: 'A secret question.', attachments: [] },
        { ...common, tool: 'look_up', arguments: { id: 'a' } },
        { ...common, tool: 'look_up', arguments: { id: 'a' }, output: 'secret result a' },
        { ...common, text: 'The answer.' },
      ],
    );
    const shown = await steps(end.run_id);
    assert.deepEqual(
      shown.map(({ kind, guardrails }: { kind: string; guardrails: { on: string; verdict: string }[] }) => [
        kind,
        guardrails.map(({ on, verdict }) => `${on} ${verdict}`),
      ]),
      [
        ['guardrail', ['input pass', 'input pass']],
        ['model', ['toolCall pass', 'toolCall pass']],
        ['tool', ['toolResult pass', 'toolResult pass']],
        ['model', ['output pass', 'output pass']],
      ],
    );
    assert.deepEqual(shown[1].guardrails[1], {
      name: 'lead_toolCall',
      on: 'toolCall',
      verdict: 'pass',
      reason: null,
      callId: 'c1',
    });
  });

  test('the next guardrail checks a replacement, and a block ends the questions', async (t) => {
    cites(t, 'agents-32-first-verdict', 'agents-32-output-block', 'contract-8-stream-guardrail-blocked');
    rules = {
      agency_output: ({ text }) => ({ replace: `${text}!` }),
      lead_output: ({ text }) => (text === 'Bad!' ? { block: 'Not that.' } : { pass: true }),
    };
    play(rig, { Lead: [say('Fine'), say('Bad')] });
    const first = await send();
    assert.equal(messagesFrame(first).new_messages.at(-1).content[0].text, 'Fine!');
    const second = await send({ message: 'Again.' });
    const end = messagesFrame(second);
    assert.deepEqual([end.status, end.error], ['failed', { code: 'guardrail_blocked', message: 'Not that.' }]);
    assert.ok(!second.text.includes('Bad'), 'nothing of the answer is sent');
    assert.deepEqual(end.usage, shownUsage());
    const [, model] = await steps(end.run_id);
    assert.deepEqual(
      [model.kind, model.status, model.error, model.guardrails.map(({ verdict }: { verdict: string }) => verdict)],
      ['model', 'failed', { code: 'guardrail_blocked', message: 'Not that.' }, ['replace', 'block']],
    );
    const messages = (await get('/chats/c/messages')).items;
    assert.ok(!JSON.stringify(messages).includes('Bad'));
  });

  test('a checked text is one delta, and reasoning and calls are sent before it', async (t) => {
    cites(t, 'agents-32-held');
    const order: string[] = [];
    rules = { agency_output: () => ({ replace: 'Clean.' }) };
    play(rig, {
      Lead: [
        async (call) => {
          await call.text('Dir');
          await call.text('ty.');
          await call.toolCall('c1', 'look_up', '{}');
          await call.end();
        },
        say('Dirty too.'),
      ],
    });
    const reader = await send();
    for (const { data } of reader.frames.filter(({ data }) => data !== '[DONE]')) {
      const { data: event } = JSON.parse(data).data ?? {};
      if (event?.type === 'response.output_text.delta') order.push(event.delta);
      if (event?.type === 'response.function_call_arguments.done') order.push('call');
    }
    assert.deepEqual(order, ['call', 'Clean.', 'Clean.']);
    assert.ok(!reader.text.includes('Dirty'));
  });

  test('a blocked message calls no model and is free, and later prompts show why', async (t) => {
    cites(t, 'agents-32-input-block', 'agents-32-input-shown');
    rules = {
      agency_input: ({ text }) =>
        String(text).includes('secret') ? { block: 'Secrets.' } : { replace: `${text} Thanks.` },
    };
    const models = playNow({ Lead: [say('Yes.'), say('Once more.')] });
    const blocked = messagesFrame(await send());
    assert.deepEqual([blocked.status, blocked.error], ['failed', { code: 'guardrail_blocked', message: 'Secrets.' }]);
    assert.deepEqual(models(), []);
    const [step] = await steps(blocked.run_id);
    assert.deepEqual(
      [step.kind, step.status, step.error.code, step.guardrails[0].reason, step.firstEventId, step.lastEventId],
      ['guardrail', 'failed', 'guardrail_blocked', 'Secrets.', 1, 1],
    );
    await send({ message: 'Please.' });
    const asks = ['[blocked: Secrets.]', 'Please. Thanks.'];
    assert.deepEqual(
      models()[0]?.request.prompt,
      asks.map((text) => ({ kind: 'user', text })),
    );
    const messages = (await get('/chats/c/messages')).items.map(({ content }: { content: string }) => content);
    assert.deepEqual(messages.toReversed(), ['A secret question.', '', 'Please.', 'Yes.']);
    const fork = await rig.api.post(`/v2/integrations/${integration}/chats/c/fork`, { chatId: 'f' });
    assert.equal(fork.status, 201, JSON.stringify(fork.body));
    const third = messagesFrame(await send({ chatId: 'f', message: 'More.' }));
    const prompt = [...asks, 'Yes.', 'More. Thanks.'];
    const texts = models()[1]?.request.prompt.map((item) => ('text' in item ? item.text : ''));
    assert.deepEqual(texts, prompt);
    const { body } = await rig.api.get(`/v2/integrations/${integration}/runs/${third.run_id}/steps/2/prompt`);
    assert.equal(body.exact, true);
    assert.equal(body.messages.at(-1).content, 'More. Thanks.');
  });

  test('a blocked call is not made, and a blocked or replaced result is not shown', async (t) => {
    cites(t, 'agents-32-call-block', 'agents-32-stored-nowhere', 'agents-32-steps');
    rules = {
      lead_toolCall: ({ arguments: given }) =>
        (given as { id?: string }).id === 'no' ? { block: 'Not this one.' } : { pass: true },
      lead_toolResult: ({ arguments: given, output }) =>
        (given as { id?: string }).id === 'hide' ? { block: 'Hidden.' } : { replace: `${String(output).length}` },
    };
    const models = playNow({
      Lead: [
        calls(['c1', 'look_up', { id: 'no' }], ['c2', 'look_up', { id: 'hide' }], ['c3', 'look_up', { id: 'gone' }]),
        say('Done.'),
      ],
    });
    const reader = await send({ message: 'Go.' });
    const { run_id: runId } = messagesFrame(reader);
    assert.deepEqual(made, [{ id: 'hide' }, { id: 'gone' }]);
    const outputs = models()[1]?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    assert.deepEqual(outputs, ['Not this one.', 'Hidden.', '18']);
    const again = await rig.api.events(runId, null, integration);
    await again.whole();
    for (const { text } of [reader, again]) assert.ok(!text.includes('secret result'));
    const shown = (await steps(runId)).filter(({ kind }: { kind: string }) => kind === 'tool');
    const byCall = new Map(shown.map((step: { callId: string }) => [step.callId, step]));
    const summary = ['c1', 'c2', 'c3'].map((id) => {
      const step = byCall.get(id) as { status: string; error: unknown; guardrails: { verdict: string }[] };
      return [step.status, step.error, step.guardrails.map(({ verdict }) => verdict)];
    });
    assert.deepEqual(summary, [
      ['failed', { code: 'tool_failed', message: 'Not this one.' }, []],
      ['failed', { code: 'guardrail_blocked', message: 'Hidden.' }, ['pass', 'block']],
      ['completed', null, ['pass', 'replace']],
    ]);
    const stored = await storedState(rig.server.dataDir);
    assert.ok(![...stored].some((row) => /secret result (hide|gone)/.test(row)), 'the results are stored nowhere');
  });

  test('a call with replaced arguments is made with them, also if a person must approve it', async (t) => {
    cites(t, 'agents-32-call-replace', 'agents-32-call-ask', 'agents-32-verdicts');
    rules = {
      agency_toolCall: ({ arguments: given }) => ({ replace: { ...(given as object), id: 'b' } }),
      lead_toolCall: ({ arguments: given }) => ((given as { ask?: true }).ask ? { ask: true } : { pass: true }),
    };
    play(rig, {
      Lead: [calls(['c1', 'look_up', { id: 'a' }], ['c2', 'look_up', { id: 'a', ask: true }]), say('Done.')],
    });
    const first = messagesFrame(await send());
    assert.deepEqual(made, [{ id: 'b' }]);
    const [{ question_id: questionId, kind, arguments: shown }] = first.pending;
    assert.deepEqual([kind, shown], ['approval', { id: 'b', ask: true }]);
    const end = messagesFrame(await send({ message: '', answers: [{ questionId, approve: true }] }));
    assert.deepEqual([end.status, made], ['completed', [{ id: 'b' }, { id: 'b', ask: true }]]);
    assert.equal(names().filter((name) => name === 'agency_toolCall').length, 2, 'an answer asks no guardrail again');
    const step = (await steps(first.run_id)).find(({ callId }: { callId: string }) => callId === 'c1');
    assert.deepEqual([step.arguments, step.shownArguments], [{ id: 'b' }, { id: 'a' }]);
  });

  test('the text of a delegated agent is held back until the guardrails of its sender have checked it', async (t) => {
    cites(t, 'agents-32-delegated');
    rules = {
      lead_toolResult: ({ tool, output }) =>
        tool === 'send_message' && String(output).includes('Dirty') ? { block: 'Not clean.' } : { pass: true },
      agency_output: ({ agent: name }) => ({ replace: `${name} says.` }),
    };
    const models = playNow({
      Lead: [calls(ask('c1', 'Helper', 'Do it.')), calls(ask('c2', 'Helper', 'Again.')), say('Done.')],
      Helper: [say('Dirty text.'), say('Fine text.')],
    });
    const reader = await send();
    const end = messagesFrame(reader);
    assert.equal(end.status, 'completed');
    assert.ok(!reader.text.includes('Dirty'));
    const outputs = models()
      .at(-1)
      ?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    assert.deepEqual(outputs, ['Not clean.', 'Fine text.'], 'output guardrails check only the answer to the user');
    assert.equal(reader.answer, 'Lead says.');
    const second = models().filter((call) => call.request.instructions.includes('Helper'))[1];
    assert.ok(!JSON.stringify(second?.request.prompt).includes('Dirty'));
    const stored = await storedState(rig.server.dataDir);
    assert.ok(![...stored].some((row) => row.includes('Dirty text')), 'the text is stored nowhere');
  });

  test('after a hand-off the guardrails of the agency and of the new agent count', async (t) => {
    cites(t, 'agents-32-hand-off');
    play(rig, { Lead: [calls(['c1', 'transfer_to_Closer', {}])], Closer: [say('Bye.')] });
    assert.equal(messagesFrame(await send()).status, 'completed');
    assert.deepEqual(
      asked.filter(({ name }) => name.endsWith('output')).map(({ name, about }) => [name, about.agent]),
      [['agency_output', 'Closer']],
    );
  });

  test('a structured answer is checked after its schema, and a replacement must fit it', async (t) => {
    cites(t, 'agents-32-structured');
    rules = { agency_output: ({ text }) => ({ replace: String(text).includes('true') ? '{"ok":false}' : 'no JSON' }) };
    play(rig, { Judge: [say('not yet'), say('{"ok":true}'), say('{"ok":false}')] });
    const end = messagesFrame(await send({ agent: 'Judge' }));
    assert.deepEqual([end.status, end.output], ['completed', { ok: false }]);
    assert.equal(names().filter((name) => name === 'agency_output').length, 1, 'a wrong try is not checked');
    const wrong = messagesFrame(await send({ agent: 'Judge', message: 'Again.' }));
    assert.equal(wrong.error.code, 'agency_error');
    assert.match(wrong.error.message, /`agency_output`.*`guarded`.*`Judge`.*`output` does not accept/);
  });

  test('a check that throws or gives no verdict fails the run, and in a delegation the call', async (t) => {
    cites(t, 'agents-32-agency-error');
    const wrong: readonly unknown[] = [
      undefined,
      { pass: false },
      { block: '' },
      { replace: 1 },
      { ask: true },
      'pass',
    ];
    const turns = wrong.map(() => say('Dirty.'));
    rules = { agency_output: () => wrong[turn] ?? Promise.reject(new Error('Dirty inside.')) };
    let turn = -1;
    play(rig, { Lead: [...turns, say('Dirty.')] });
    for (turn = 0; turn <= wrong.length; turn += 1) {
      const chatId = `w${turn}`;
      const reader = await send({ chatId });
      const { error, run_id: runId } = messagesFrame(reader);
      assert.equal(error.code, 'agency_error');
      assert.match(error.message, /guardrail `agency_output` of the agency `guarded`, which the agent `Lead` has, /);
      assert.ok(!reader.text.includes('Dirty'));
      const models = (await steps(runId)).filter(({ kind }: { kind: string }) => kind === 'model');
      assert.deepEqual(
        models.map(({ status, error: shown }: { status: string; error: { code: string } }) => [status, shown.code]),
        [['failed', 'agency_error']],
      );
    }
    rules = {
      agency_toolCall: ({ agent: name }) => {
        if (name === 'Helper') throw new Error('Not here.');
        return { pass: true };
      },
    };
    const models = playNow({
      Lead: [calls(ask('c1', 'Helper', 'Do it.')), say('Done.')],
      Helper: [calls(['c2', 'look_up', {}])],
    });
    assert.equal(messagesFrame(await send({ chatId: 'd' })).status, 'completed');
    const outputs = models()
      .at(-1)
      ?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    assert.match(String(outputs), /^Helper failed: The function `check` of the guardrail `agency_toolCall`/);
    rules = {
      lead_toolResult: () => {
        throw new Error('Not here either.');
      },
    };
    play(rig, { Lead: [calls(ask('c1', 'Helper', 'Do it.'))], Helper: [say('Dirty.')] });
    const root = messagesFrame(await send({ chatId: 'e' }));
    assert.equal(root.error.code, 'agency_error', 'the guardrails of the root agent fail the run');
  });

  test('a blocked message is free, a blocked answer is charged as used, and an agency_error is free', async (t) => {
    cites(t, 'agents-32-input-block', 'agents-32-output-block', 'agents-32-agency-error');
    integration = await rig.metered({ unit: 'tokens', limit: 1_000_000, period: 'day' }, { agency: 'guarded' });
    play(rig, { Lead: [say('One.'), say('Two.')] });
    const charged = async (usageRequestId: string, changed: typeof rules) => {
      rules = changed;
      await send({ consumerId: 'ann', chatId: usageRequestId, usageRequestId });
      return (await get('/usage')).items[0].charged.amount;
    };
    const { total_tokens: used } = shownUsage();
    assert.equal(await charged('a', { agency_input: () => ({ block: 'No.' }) }), 0);
    assert.equal(await charged('b', { agency_output: () => ({ block: 'No.' }) }), used);
    assert.equal(await charged('c', { agency_output: () => 'nothing' }), 0);
  });
}
