import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentTool, defineAgency, defineAgent, defineTool, type ToolCall } from '@runwire/agency';
import { jsonSchema, tool } from 'ai';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';

import { type HeldRun, messagesFrame, ScriptedServer } from './support/scripted-server.ts';

type Tools = Readonly<Record<string, AgentTool>> | Parameters<typeof defineAgent>[0]['tools'];

const getAgency = (tools: Tools) => ({
  own: defineAgency({
    name: 'Own',
    agents: [
      defineAgent({ name: 'A', description: 'A', instructions: 'Be A.', files: false, ...(tools ? { tools } : {}) }),
    ],
  }),
});

async function withTools(tools: Tools, limits = {}): Promise<ScriptedServer> {
  const rig = await ScriptedServer.start({ agencies: getAgency(tools), limits });
  await rig.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'own' });
  return rig;
}

const hold = (rig: ScriptedServer, body: object = {}) => rig.hold({ apiIntegrationId: 'own', ...body });

/** Lets the model make these calls, and resolves to the output of each in its next prompt. */
async function getOutputs(rig: ScriptedServer, held: HeldRun, ...calls: readonly (readonly [string, string])[]) {
  for (const [place, [name, input]] of calls.entries()) await held.call.toolCall(`call_${place}`, name, input);
  await held.call.end();
  const next = await rig.controller.nextCall();
  const told = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  await next.end();
  await held.reader.whole();
  assert.equal(messagesFrame(held.reader).status, 'completed');
  return told;
}

const NO_INPUT = z.object({});
const city = z.object({ city: z.string().min(2), days: z.number().int().default(3) });

const SCHEMAS: Readonly<Record<string, AgentTool>> = {
  zod: tool({ description: 'By zod.', inputSchema: city, execute: ({ city, days }) => `${city} ${days}` }),
  ai: tool({
    inputSchema: jsonSchema<{ city: string }>({
      type: 'object',
      properties: { city: { type: 'string', minLength: 2 } },
      required: ['city'],
    }),
    execute: async ({ city }) => city,
  }),
  validated: tool({
    inputSchema: jsonSchema<string>(() => Promise.resolve({ type: 'object' }), {
      validate: (value) =>
        'city' in (value as object)
          ? { success: true, value: String((value as { city: string }).city) }
          : { success: false, error: new Error('a city is wanted') },
    }),
    execute: (city) => city,
  }),
  lazy: tool({
    inputSchema: () => jsonSchema<{ city: string }>({ type: 'object', required: ['city'] }),
    execute: ({ city }) => city,
  }),
  plain: defineTool({
    name: 'plain',
    description: '',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
    execute: (input) => (input as { city: string }).city,
  }),
};

test('accepts AI SDK tools with every kind of schema as they are', async () => {
  await using rig = await withTools(SCHEMAS);
  const held = await hold(rig);
  const told = held.call.request.tools.map(({ name, description, inputSchema }) => [
    name,
    description,
    inputSchema.type,
  ]);
  assert.deepEqual(told, [
    ['zod', 'By zod.', 'object'],
    ['ai', '', 'object'],
    ['validated', '', 'object'],
    ['lazy', '', 'object'],
    ['plain', '', 'object'],
  ]);
  assert.deepEqual(held.call.request.tools[0]?.inputSchema, {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 2 },
      days: { default: 3, type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    },
    required: ['city'],
  });
  const names = Object.keys(SCHEMAS);
  const outputs = await getOutputs(rig, held, ...names.map((name) => [name, '{"city":"Oslo"}'] as const));
  assert.deepEqual(outputs, ['Oslo 3', 'Oslo', 'Oslo', 'Oslo', 'Oslo']);
});

test('reports wrong arguments to the model and does not call the tool', async (t) => {
  cites(t, 'contract-5-failed-tool');
  await using rig = await withTools(SCHEMAS);
  const names = Object.keys(SCHEMAS);
  const outputs = await getOutputs(rig, await hold(rig), ...names.map((name) => [name, '{}'] as const));
  for (const output of outputs) assert.match(output, /^The arguments are wrong: .*city/);
  const [broken, short, deep] = await getOutputs(
    rig,
    await hold(rig),
    ['zod', '{"city":'],
    ['zod', '{"city":"X","days":1.5}'],
    ['zod', `{"city":"Oslo","more":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
  );
  assert.equal(deep, 'The arguments are nested deeper than 500 levels.');
  assert.equal(broken, 'The arguments are not valid JSON.');
  assert.match(short ?? '', /`city`: .*; `days`: /);
});

test('a tool gets the AI SDK options, the user context and a unique key', async (t) => {
  cites(t, 'contract-7-user-context-tools');
  const calls: ToolCall[] = [];
  const heard: unknown[] = [];
  await using rig = await withTools({
    look: tool({
      inputSchema: z.object({ a: z.number() }),
      onInputStart: () => void heard.push('start'),
      onInputDelta: ({ inputTextDelta }) => void heard.push(inputTextDelta),
      onInputAvailable: ({ input }) => void heard.push(input),
      execute: (_input, options) => {
        calls.push(options as unknown as ToolCall);
        return 'seen';
      },
    }),
    typed: tool({
      inputSchema: NO_INPUT,
      contextSchema: z.object({ plan: z.string() }),
      execute: (_input, { context }) => `plan ${context.plan}`,
    }),
  });
  await rig.answer({ apiIntegrationId: 'own', chatId: 'c1', message: 'First' }, 'One');
  const held = await hold(rig, { chatId: 'c1', message: 'Second', user_context: { plan: 'gold' } });
  const outputs = await getOutputs(rig, held, ['look', '{"a":1}'], ['look', '{"a":2}'], ['typed', '{}']);
  assert.deepEqual(outputs, ['seen', 'seen', 'plan gold']);
  const expected = ['start', 'start', '{"a":1}', '{"a":2}', { a: 1 }, { a: 2 }];
  assert.deepEqual(heard.map((one) => JSON.stringify(one)).sort(), expected.map((one) => JSON.stringify(one)).sort());
  const [one, two] = calls;
  assert.deepEqual(one?.messages, [
    { role: 'user', content: 'First' },
    { role: 'assistant', content: 'One' },
    { role: 'user', content: 'Second' },
  ]);
  assert.deepEqual([one?.toolCallId, one?.callId, two?.toolCallId], ['call_0', 'call_0', 'call_1']);
  for (const given of [one?.userContext, one?.context, one?.experimental_context])
    assert.deepEqual(given, { plan: 'gold' });
  assert.ok(one?.abortSignal instanceof AbortSignal);
  assert.deepEqual([one.idempotencyKey, two?.idempotencyKey], [`${held.runId}/call_0`, `${held.runId}/call_1`]);

  const [refused] = await getOutputs(rig, await hold(rig, { user_context: { plan: 5 } }), ['typed', '{}']);
  assert.match(refused ?? '', /^The user's context is not what this tool needs: `plan`/);
});

test('uses the last streamed value and the text of `toModelOutput`', async () => {
  await using rig = await withTools({
    stream: tool({
      inputSchema: NO_INPUT,
      async *execute() {
        yield 'loading';
        yield { done: true };
      },
    }),
    breaks: tool({
      inputSchema: NO_INPUT,
      // biome-ignore lint/correctness/useYield: a stream that fails before its first value is the case.
      async *execute(): AsyncGenerator<string> {
        throw new Error('cut off');
      },
    }),
    shaped: tool({
      inputSchema: NO_INPUT,
      execute: () => ({ secret: 1, shown: 'two' }),
      toModelOutput: ({ output }) => ({ type: 'text', value: output.shown }),
    }),
    parts: tool({
      inputSchema: NO_INPUT,
      execute: () => 'x',
      toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: 'a' }] }),
    }),
    denied: tool({
      inputSchema: NO_INPUT,
      execute: () => 'x',
      toModelOutput: () => ({ type: 'error-text', value: 'not today' }),
    }),
    nothing: tool({ inputSchema: NO_INPUT, execute: () => undefined }),
  });
  const names = ['stream', 'breaks', 'shaped', 'parts', 'denied', 'nothing'];
  assert.deepEqual(await getOutputs(rig, await hold(rig), ...names.map((name) => [name, ''] as const)), [
    '{"done":true}',
    'The tool failed: cut off',
    'two',
    'a',
    'The tool failed: not today',
    '',
  ]);
});

interface ShownProgress {
  readonly name: string;
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly item: { readonly type: string; readonly raw_item: Readonly<Record<string, unknown>> };
}

/** The names of the run items in order; of progress the texts. */
const shownItems = ({ reader }: HeldRun) =>
  reader.frames
    .filter(({ data }) => data.includes('run_item_stream_event'))
    .map(({ data }): ShownProgress => JSON.parse(data).data);

test('progress and streamed values are run items before the output, and no part of the prompt', async () => {
  await using rig = await withTools([
    defineTool({
      name: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      async execute(_input, { progress }) {
        progress('one');
        progress('two');
        progress({ done: 3 });
        setTimeout(() => progress('too late'), 5);
        return 'whole';
      },
    }),
    {
      name: 'stream',
      ...tool({
        inputSchema: NO_INPUT,
        async *execute() {
          yield 'loading';
          await sleep(150);
          yield { half: true };
          yield 'result';
        },
      }),
    },
    {
      name: 'breaks',
      ...tool({
        inputSchema: NO_INPUT,
        async *execute() {
          yield 'begun';
          throw new Error('cut off');
        },
      }),
    },
  ]);
  for (const [name, texts, output] of [
    ['slow', ['one', '{"done":3}'], 'whole'],
    ['stream', ['loading', '{"half":true}'], 'result'],
    ['breaks', ['begun'], 'The tool failed: cut off'],
  ] as const) {
    const held = await hold(rig);
    assert.deepEqual(await getOutputs(rig, held, [name, '{}']), [output]);
    const items = shownItems(held);
    const shown = items.map(({ name, item }) => (name === 'tool_progress' ? item.raw_item.text : name));
    assert.deepEqual(shown, ['tool_called', ...texts, 'tool_output'], name);
    assert.deepEqual(items[1], {
      type: 'run_item_stream_event',
      agent: 'A',
      callerAgent: null,
      name: 'tool_progress',
      item: { type: 'tool_progress_item', raw_item: { type: 'tool_progress', call_id: 'call_0', text: texts[0] } },
    });
    // Read from the store, the stream is the same.
    const again = await rig.api.events(held.runId, null, 'own');
    await again.whole();
    assert.deepEqual(again.frames, held.reader.frames);
  }
});

test('Text Only Mode contains no progress', async () => {
  const said = defineTool({
    name: 'say',
    description: '',
    inputSchema: { type: 'object' },
    execute: (_input, { progress }) => progress('secret progress'),
  });
  await using rig = await withTools([said]);
  await rig.api.post('/v2/integrations', { apiIntegrationId: 'plain', agency: 'own', textOnly: true });
  const held = await hold(rig, { apiIntegrationId: 'plain' });
  await held.call.toolCall('call_0', 'say', '{}');
  await held.call.end();
  const next = await rig.controller.nextCall();
  await next.text('Done.');
  await next.end();
  await held.reader.whole();
  assert.equal(held.reader.text, 'Done.');
});

test('refuses an agency with an unusable tool, and names the tool', async () => {
  const mute = z.object({});
  Object.defineProperty(mute, '~standard', {
    value: { version: 1, vendor: 'mute', validate: (value: unknown) => ({ value }) },
  });
  const cases: readonly (readonly [Tools, RegExp])[] = [
    [
      { ask: { inputSchema: NO_INPUT, execute: 'ask' } as unknown as AgentTool },
      /^The tool `ask` of agent `A` of agency `own` has an `execute` that is not a function; .*\.$/,
    ],
    [
      { pay: { inputSchema: NO_INPUT, needsApproval: 'yes' } as unknown as AgentTool },
      /`pay` .* has a `needsApproval` that is neither a boolean nor a function; .*\.$/,
    ],
    [{ 'two words': tool({ inputSchema: NO_INPUT, execute: () => 1 }) }, /`two words` .* a name that models refuse; /],
    [
      { mute: tool({ inputSchema: mute, execute: () => 1 }) },
      /`mute` .* its `inputSchema` is of `mute`, which has no JSON Schema/,
    ],
    [
      { when: tool({ inputSchema: z.object({ at: z.date() }), execute: () => 1 }) },
      /`when` .* cannot be sent to a model as JSON Schema: /,
    ],
    [
      { bad: { inputSchema: { type: 'objet' }, execute: () => 1 } },
      /`bad` .* its `inputSchema` is not valid JSON Schema: /,
    ],
    [
      { any: tool({ inputSchema: z.union([z.object({ a: z.string() }), z.string()]), execute: () => 1 }) },
      /`any` .* its `inputSchema` is not an object; write `type: 'object'`/,
    ],
    [
      { told: tool({ description: () => 'late', inputSchema: NO_INPUT, execute: () => 1 }) },
      /`told` .* a description that is not a string/,
    ],
    [
      { twice: { inputSchema: {}, execute: () => 1, repeatable: 'yes' } as unknown as AgentTool },
      /`twice` .* has a `repeatable` that is neither true nor false; /,
    ],
    [
      { slow: { inputSchema: {}, execute: () => 1, timeoutSeconds: 0 } },
      /`slow` .* has a `timeoutSeconds` that is no number from 1 to 86400; /,
    ],
    [{ web: { type: 'provider', id: 'openai.web_search', args: {} } as AgentTool }, /`web` .* runs at the provider; /],
    [
      [tool({ inputSchema: NO_INPUT, execute: () => 1 })] as unknown as Tools,
      /^In agent `A` of agency `own`: Item 1 of `tools` has no `name`; /,
    ],
    [
      [
        defineTool({ name: 'one', description: '', inputSchema: { type: 'object' }, execute: () => 1 }),
        defineTool({ name: 'one', description: '', inputSchema: { type: 'object' }, execute: () => 2 }),
      ],
      /^In agent `A` of agency `own`: `tools` lists `one` twice; /,
    ],
  ];
  for (const [tools, sentence] of cases) {
    await assert.rejects(
      withTools(tools).then((rig) => rig[Symbol.asyncDispose]()),
      (error: Error) => error.name === 'StartRefused' && sentence.test(error.message),
      String(sentence),
    );
  }
});

test('a tool may have the name of a file tool only if the agent has none', async () => {
  const own = tool({ inputSchema: NO_INPUT, execute: () => 'mine' });
  const agency = (fields: object) => {
    const agent = { name: 'A', description: 'A', instructions: 'Be A.', ...fields };
    return { own: defineAgency({ name: 'Own', agents: [defineAgent(agent)] }) };
  };
  const start = (fields: object) => ScriptedServer.start({ agencies: agency(fields) });
  for (const name of ['list_files', 'read_file', 'search_files']) {
    await assert.rejects(start({ tools: { [name]: own } }), {
      name: 'StartRefused',
      message: `The tool \`${name}\` of agent \`A\` of agency \`own\` has the name of a built-in tool; rename it, or set \`files: false\`.`,
    });
  }
  await assert.rejects(start({ files: 'no' }), {
    name: 'StartRefused',
    message: /^In agent `A` of agency `own`: `files` must be `true` or `false`/,
  });
  await using rig = await start({ files: false, tools: { read_file: own } });
  await rig.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'own' });
  assert.deepEqual(await getOutputs(rig, await hold(rig), ['read_file', '{}']), ['mine']);
});

test('every call has a unique id, also if the model repeats or omits ids', async () => {
  const keys: string[] = [];
  await using rig = await withTools({
    look: tool({
      inputSchema: NO_INPUT,
      execute: (_input, options) => {
        keys.push((options as unknown as ToolCall).idempotencyKey);
        return 'ok';
      },
    }),
  });
  const held = await hold(rig);
  for (const id of ['call_0', 'call_0', '']) await held.call.toolCall(id, 'look', '{}');
  await held.call.end();
  const second = await rig.controller.nextCall();
  await second.toolCall('call_0', 'look', '{}');
  await second.end();
  const third = await rig.controller.nextCall();
  const ids = third.request.prompt.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
  const answered = third.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.callId] : []));
  assert.equal(new Set(ids).size, 4);
  assert.equal(ids[0], 'call_0');
  assert.deepEqual(answered, ids);
  assert.equal(new Set(keys).size, 4);
  await third.end();
  await held.reader.whole();
});

test('shows calls and outputs as run items and among the new messages', async (t) => {
  cites(t, 'contract-5-run-item-tools', 'contract-9-new-messages-tools');
  await using rig = await withTools({ clock: tool({ inputSchema: NO_INPUT, execute: () => '12:00' }) });
  const held = await hold(rig, { message: 'Hi' });
  await getOutputs(rig, held, ['clock', '{}']);
  const items = held.reader.frames
    .filter(({ event, data }) => event === null && data.includes('run_item_stream_event'))
    .map(({ data }) => JSON.parse(data).data);
  const [called, output] = items;
  assert.deepEqual(
    [called.name, called.item.type, called.item.raw_item.call_id],
    ['tool_called', 'tool_call_item', 'call_0'],
  );
  assert.deepEqual(
    [output.name, output.item.type, output.item.output],
    ['tool_output', 'tool_call_output_item', '12:00'],
  );
  const said = messagesFrame(held.reader).new_messages;
  const { id, timestamp: calledAt, ...call } = said[1];
  const { timestamp: answeredAt, ...result } = said[2];
  const speaker = { agent: 'A', callerAgent: null };
  assert.match(id, /^fc_/);
  assert.deepEqual(call, {
    type: 'function_call',
    call_id: 'call_0',
    name: 'clock',
    arguments: '{}',
    status: 'completed',
    ...speaker,
  });
  assert.deepEqual(result, { type: 'function_call_output', call_id: 'call_0', output: '12:00', ...speaker });
  assert.ok(said[0].timestamp < calledAt && calledAt < answeredAt);
});

test('makes no step beyond the limit, and fails with `step_limit`', async (t) => {
  cites(t, 'contract-8-stream-step-limit', 'contract-4-limit-steps');
  let executed = 0;
  const count = tool({ inputSchema: NO_INPUT, execute: () => String(++executed) });
  await using rig = await withTools({ count }, { stepsPerRun: 3 });
  const play = async (...callsOfEachStep: number[]) => {
    executed = 0;
    const before = rig.controller.calls.length;
    const held = await hold(rig);
    let call = held.call;
    await call.text('I look it up. ');
    for (const [place, calls] of callsOfEachStep.entries()) {
      if (place > 0) call = await rig.controller.nextCall();
      for (let one = 0; one < calls; one += 1) await call.toolCall('', 'count', '{}');
      await call.end();
    }
    await held.reader.whole();
    assert.equal(rig.controller.calls.length - before, callsOfEachStep.length, 'the model is not asked again');
    const { status, error, usage } = messagesFrame(held.reader);
    assert.equal(held.reader.answer, 'I look it up. ');
    assert.ok(usage.total_tokens > 0);
    return [status, error?.code ?? null, executed];
  };
  assert.deepEqual(await play(1, 1, 0), ['completed', null, 2], 'three steps of the model');
  assert.deepEqual(await play(1, 1, 1), ['failed', 'step_limit', 3], 'the third step needs a fourth');
  assert.deepEqual(await play(5, 0), ['completed', null, 5], 'calls do not count');
});
