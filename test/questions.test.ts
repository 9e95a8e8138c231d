import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool, type ToolCall } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { tool } from 'ai';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

interface Question {
  readonly questionId: string;
  readonly tool: string;
  readonly callId: string;
}

/** The refunds that were made: the tool's calls. */
const refunds: { readonly cents: number; readonly call: ToolCall }[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }, call) => {
    refunds.push({ cents, call });
    return `refunded ${cents}`;
  },
});

const position = defineTool({
  name: 'position',
  description: 'Tells where the user is.',
  inputSchema: z.object({ exact: z.boolean() }),
});

/** The AI SDK's own tool. */
const discount = tool({
  description: 'Gives a discount.',
  inputSchema: z.object({ percent: z.number() }),
  needsApproval: ({ percent }) => {
    if (percent < 0) throw new Error('negative');
    return percent > 10;
  },
  execute: ({ percent }) => `${percent} % off`,
});

/** Its schema throws. */
const broken = defineTool({
  name: 'broken',
  description: 'Cannot check its input.',
  inputSchema: z.object({ json: z.string().transform((text) => JSON.parse(text)) }),
  needsApproval: true,
  execute: () => 'done',
});

const note = defineTool({ name: 'note', description: 'Notes.', inputSchema: z.object({}), execute: () => 'noted' });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', { tools: { refund, position, discount, note, broken }, approval: ['note'] }),
    agent('Billing', { tools: [refund] }),
    agent('Strict', { tools: { discount }, approval: ['discount'] }),
    agent('Clerk', { tools: [refund] }),
    agent('Closer'),
  ],
  entryPoints: ['Lead', 'Closer', 'Strict'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Billing', to: 'Clerk' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  beforeEach(async () => {
    refunds.length = 0;
    integration = await rig.integration({ agency: 'shop' });
  });

  const post = async (body: object = {}) => {
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    if (reader.status === 200) await reader.whole();
    return reader;
  };
  const frame = async (body: object = {}) => messagesFrame(await post(body));
  const chat = async (id = 'c') => (await rig.api.get(`/v2/integrations/${integration}/chats/${id}`)).body;
  const pending = async (): Promise<readonly Question[]> => (await chat()).pending;
  const getRun = async (runId: string) => (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;
  const outputsIn = (prompt: readonly { readonly kind: string; readonly output?: string }[]) =>
    prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));

  test('a run ends with a question, and the next one makes the approved call once', async (t) => {
    cites(
      t,
      'agents-14-run-ends',
      'agents-14-run-item',
      'agents-14-pending',
      'agents-14-answers',
      'agents-14-approved-once',
      'agents-14-continues-field',
      'agents-14-replay',
    );
    const made = play(rig, {
      Lead: [calls(['c1', 'refund', { cents: 5 }], ['c2', 'discount', { percent: 5 }]), say('Done.'), say('Yes.')],
    });
    const before = made.length;
    const asking = await post();
    const end = messagesFrame(asking);
    assert.equal(end.status, 'completed');
    const [question] = end.pending;
    assert.match(question.question_id, /^qst_/);
    const shown = { kind: 'approval', call_id: 'c1', agent: 'Lead', callerAgent: null, tool: 'refund' };
    assert.deepEqual(question, { question_id: question.question_id, ...shown, arguments: { cents: 5 } });
    const items = asking.frames.flatMap(({ data }) => (data.includes('tool_approval_item') ? [JSON.parse(data)] : []));
    assert.deepEqual(items, [
      {
        data: {
          type: 'run_item_stream_event',
          agent: 'Lead',
          callerAgent: null,
          name: 'tool_approval_requested',
          item: {
            type: 'tool_approval_item',
            question_id: question.question_id,
            raw_item: { type: 'function_call', call_id: 'c1', name: 'refund', arguments: '{"cents":5}' },
          },
        },
      },
    ]);
    assert.deepEqual([refunds.length, (await chat()).status], [0, 'idle']);
    const open = await pending();
    assert.deepEqual((await getRun(end.run_id)).pending, open);

    const answers = [{ questionId: question.question_id, approve: true, reason: 'Fair.' }];
    const answered = await frame({ message: '', answers, usageRequestId: 'answer' });
    assert.deepEqual([answered.status, answered.pending], ['completed', []]);
    assert.deepEqual(
      refunds.map(({ cents, call: { idempotencyKey, approval } }) => ({ cents, idempotencyKey, approval })),
      [
        {
          cents: 5,
          idempotencyKey: `${end.run_id}/c1`,
          approval: { questionId: question.question_id, reason: 'Fair.' },
        },
      ],
    );
    const run = await getRun(answered.run_id);
    assert.deepEqual([run.continues, run.pending, run.message], [end.run_id, [], 'Done.']);
    assert.deepEqual((await getRun(end.run_id)).pending, []);
    const prompt = made[before + 1]?.request.prompt ?? [];
    assert.deepEqual(
      prompt.map((item) => (item.kind === 'tool_output' ? item.output : item.kind)),
      ['user', 'tool_call', 'tool_call', 'refunded 5', '5 % off'],
    );
    // A replay makes nothing again, and a second answer finds no question.
    assert.equal((await post({ message: '', answers, usageRequestId: 'answer' })).headers['x-run-replayed'], 'true');
    const late = await refusal(await post({ message: '', answers, usageRequestId: 'late' }));
    assert.deepEqual([late.status, late.body.code], [400, 'question_not_pending']);
    assert.equal(refunds.length, 1);
    // The next turn shows the chain as one turn, as the model saw it.
    await post({ message: 'Sure?' });
    assert.deepEqual(made.at(-1)?.request.prompt, [
      ...prompt,
      { kind: 'assistant', text: 'Done.' },
      { kind: 'user', text: 'Sure?' },
    ]);
    const listSteps = async (runId: string) =>
      (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}/steps`)).body.items;
    assert.equal((await listSteps(end.run_id)).length, 3);
    const steps = await listSteps(answered.run_id);
    assert.deepEqual(
      steps.map(({ kind, tool: name }: { kind: string; tool: string }) => [kind, name]),
      [
        ['model', null],
        ['tool', 'refund'],
      ],
    );
  });

  test('a declined, a forgotten and an ignored question do not make the call', async (t) => {
    cites(t, 'agents-14-declined');
    const refunded = ['c1', 'c2', 'c0'].map((id, index) => [id, 'refund', { cents: index + 1 }] as const);
    const made = play(rig, {
      Lead: [calls(...refunded), say('Ok.'), calls(['c3', 'refund', { cents: 3 }]), say('Later.')],
    });
    await post();
    const [first, second] = await pending();
    const answers = [
      { questionId: first?.questionId, approve: false, reason: 'Too much.' },
      { questionId: second?.questionId, approve: false, reason: ' ' },
    ];
    await post({ message: '', answers });
    assert.deepEqual(outputsIn(made.at(-1)?.request.prompt ?? []), [
      'Declined by the user: Too much.',
      'Declined by the user.',
      'Declined by the user.',
    ]);
    await post({ message: 'Again.' });
    assert.equal((await pending()).length, 1);
    await post({ message: 'Forget it.' });
    const prompt = made.at(-1)?.request.prompt ?? [];
    assert.deepEqual(prompt.slice(-2), [
      { kind: 'tool_output', callId: 'c3', output: 'Not answered: the user sent a new message' },
      { kind: 'user', text: 'Forget it.' },
    ]);
    assert.deepEqual([await pending(), refunds.length], [[], 0]);
  });

  test('only the caller runs a tool without `execute`, and its output may be anything', async (t) => {
    cites(t, 'agents-14-caller-tools', 'agents-14-output', 'agents-14-continues');
    const made = play(rig, {
      Lead: [calls(['c1', 'position', { exact: true }]), calls(['c2', 'position', { exact: false }]), say('There.')],
    });
    const end = await frame();
    assert.deepEqual([end.pending[0].kind, end.pending[0].tool], ['tool', 'position']);
    const next = await frame({
      message: '',
      answers: [{ questionId: end.pending[0].question_id, output: { lat: 1 } }],
    });
    const answer = { questionId: next.pending[0].question_id, output: 'No signal.', failed: true };
    const last = await frame({ message: 'Hurry.', answers: [answer] });
    assert.equal(last.status, 'completed');
    const prompt = made.at(-1)?.request.prompt ?? [];
    assert.deepEqual(
      prompt.map((item) => (item.kind === 'tool_output' ? item.output : 'text' in item ? item.text : item.callId)),
      ['Go.', 'c1', '{"lat":1}', 'c2', 'No signal.', 'Hurry.'],
    );
  });

  test('a request may bring tools, if the integration allows it', async (t) => {
    cites(t, 'agents-14-client-tools', 'agents-14-client-tool-names');
    const tools = [{ name: 'pick', description: 'Picks.', inputSchema: { type: 'object', required: ['n'] } }];
    const request = { apiIntegrationId: integration, chatId: 'c', message: 'Go.' };
    const asked = async (clientTools: object[]) =>
      (await refusal(await rig.api.complete({ ...request, clientTools }))).body.error;
    assert.match(await asked(tools), /`clientTools` is not allowed by this integration/);
    await rig.api.patch(`/v2/integrations/${integration}`, { clientTools: true });
    assert.match(
      await asked([{ ...tools[0], name: 'refund' }]),
      /`clientTools\[0\].name` is `refund`, a tool of the agents/,
    );
    assert.match(await asked([...tools, ...tools]), /is the name of another one too; rename one of them/);
    assert.match(await asked([{ ...tools[0], inputSchema: { type: 'strange' } }]), /is not a valid JSON Schema/);
    for (const inputSchema of [{}, { type: 'string' }, { anyOf: [{ type: 'object' }, { type: 'null' }] }]) {
      assert.match(
        await asked([{ ...tools[0], inputSchema }]),
        /^`clientTools\[0\].inputSchema` is not an object; write/,
      );
    }
    const made = play(rig, { Lead: [calls(['c1', 'pick', {}], ['c2', 'pick', { n: 1 }]), say('Picked.')] });
    const end = await frame({ clientTools: tools });
    assert.ok(made.at(-1)?.request.tools.some(({ name }) => name === 'pick'));
    assert.deepEqual(
      end.pending.map(({ call_id: id }: { call_id: string }) => id),
      ['c2'],
    );
    await post({ message: '', answers: [{ questionId: end.pending[0].question_id, output: 'two' }] });
    const [wrong, output] = outputsIn(made.at(-1)?.request.prompt ?? []);
    assert.match(wrong ?? '', /The arguments are wrong/);
    assert.equal(output, 'two');
    assert.ok(made.at(-1)?.request.tools.every(({ name }) => name !== 'pick'));
  });

  test('a pattern in a schema of the request cannot stop the node', async () => {
    await rig.api.patch(`/v2/integrations/${integration}`, { clientTools: true });
    const text = { type: 'string', pattern: '^(a+)+$' };
    const inputSchema = { type: 'object', properties: { text: { $ref: '#/definitions/text' } }, definitions: { text } };
    const direct = { type: 'object', properties: { text }, patternProperties: { '^(a+)+$': {} } };
    const clientTools = [
      { name: 'pick', description: 'Picks.', inputSchema },
      { name: 'choose', description: 'Chooses.', inputSchema: direct },
    ];
    const slow = `${'a'.repeat(40)}!`;
    play(rig, {
      Lead: [
        calls(
          ['c1', 'pick', { text: slow }],
          ['c2', 'choose', { text: slow, [slow]: 1 }],
          ['c3', 'choose', { text: 1 }],
        ),
      ],
    });
    const end = await frame({ clientTools });
    assert.deepEqual(
      end.pending.map(({ call_id: id }: { call_id: string }) => id),
      ['c1', 'c2'],
    );
  });

  test('a question inside a nested delegation stops the run there, and its answer continues there', async (t) => {
    cites(t, 'agents-14-continues');
    const made = play(rig, {
      Lead: [calls(ask('c1', 'Billing', 'Pay.'), ['c2', 'discount', { percent: 1 }]), say('Paid.')],
      Billing: [calls(ask('c3', 'Clerk', 'Pay 9.')), say('It is paid.')],
      Clerk: [calls(['c4', 'refund', { cents: 9 }]), say('Paid 9.')],
    });
    const before = made.length;
    const end = await frame();
    const { agent: name, callerAgent, tool: asked } = end.pending[0];
    assert.deepEqual([name, callerAgent, asked], ['Clerk', 'Billing', 'refund']);
    await frame({ message: 'Quick.', answers: [{ questionId: end.pending[0].question_id, approve: true }] });
    assert.equal(refunds.length, 1);
    assert.equal(made.length - before, 6);
    assert.deepEqual(
      made
        .at(-1)
        ?.request.prompt.map((item) => ('text' in item ? item.text : 'output' in item ? item.output : item.name)),
      ['Go.', 'send_message', 'discount', 'It is paid.', '1 % off', 'Quick.'],
    );
  });

  test('after a hand-off the question is asked of the next agent', async (t) => {
    cites(t, 'agents-14-continues');
    const made = play(rig, {
      Lead: [calls(['c1', 'refund', { cents: 4 }], ['c2', 'transfer_to_Closer', {}])],
      Closer: [say('Closed.')],
    });
    const end = await frame();
    const { status } = await frame({
      message: '',
      answers: [{ questionId: end.pending[0].question_id, approve: true }],
    });
    assert.deepEqual([status, refunds.length], ['completed', 1]);
    assert.match(made.at(-1)?.request.instructions ?? '', /You are Closer/);
  });

  test('a function decides by the input whether a call needs approval', async (t) => {
    cites(t, 'agents-14-needs-approval');
    const all = [5, 50, -1].map((percent, index) => [`c${index}`, 'discount', { percent }] as const);
    play(rig, { Lead: [calls(...all, ['n', 'note', {}], ['w', 'refund', { cents: 'x' }])] });
    const end = await frame();
    assert.deepEqual(end.pending.map(({ call_id: id }: { call_id: string }) => id).toSorted(), ['c1', 'c2', 'n']);
  });

  test('`approval` of the agent counts also if a function decides otherwise', async (t) => {
    cites(t, 'agents-14-approval-list');
    play(rig, { Strict: [calls(['c1', 'discount', { percent: 1 }])] });
    const end = await frame({ agent: 'Strict' });
    assert.deepEqual(
      end.pending.map(({ call_id: id, kind }: { call_id: string; kind: string }) => [id, kind]),
      [['c1', 'approval']],
    );
  });

  test('a check of arguments that throws fails the call and not the run', async () => {
    const made = play(rig, { Lead: [calls(['c1', 'broken', { json: '{' }]), say('It failed.')] });
    const end = await frame();
    assert.deepEqual([end.status, end.pending], ['completed', []]);
    assert.match(outputsIn(made.at(-1)?.request.prompt ?? []).at(-1) ?? '', /^The tool failed: .*JSON/);
  });

  test('answers are refused if they fit no open question of the chat', async (t) => {
    cites(t, 'agents-14-not-pending', 'agents-14-wrong-answers', 'contract-8-400-question-not-pending');
    play(rig, {
      Lead: [
        calls(['c1', 'refund', { cents: 1 }], ['c2', 'position', { exact: true }]),
        calls(['d1', 'refund', { cents: 2 }]),
      ],
    });
    await rig.member(integration, 'ann');
    await post();
    const [approval, client] = await pending();
    await post({ chatId: 'other' });
    const refused = async (body: object) => {
      const { status, body: answer } = await refusal(await post({ message: '', ...body }));
      return [status, answer.code];
    };
    const answer = { questionId: approval?.questionId, approve: true };
    const notPending = [400, 'question_not_pending'];
    const invalid = [400, 'invalid_request'];
    assert.deepEqual(await refused({ answers: [{ ...answer, questionId: 'qst_x' }] }), notPending);
    assert.deepEqual(await refused({ chatId: 'other', answers: [answer] }), notPending);
    assert.deepEqual(await refused({ chatId: 'new', answers: [answer] }), notPending);
    assert.deepEqual(await refused({ consumerId: 'ann', answers: [answer] }), [404, 'chat_not_found']);
    assert.deepEqual(await refused({ answers: [answer, answer] }), invalid);
    assert.deepEqual(await refused({ answers: [{ ...answer, questionId: client?.questionId }] }), invalid);
    assert.deepEqual(await refused({ answers: [{ questionId: approval?.questionId, output: 'x' }] }), invalid);
    assert.deepEqual(await refused({ answers: [{ questionId: approval?.questionId }] }), invalid);
    assert.deepEqual(await refused({ answers: [{ ...answer, failed: true }] }), invalid);
    assert.deepEqual(await refused({ answers: [answer], agent: 'Closer' }), invalid);
    assert.deepEqual([refunds.length, (await pending()).length], [0, 2]);
    await rig.api.delete(`/v2/integrations/${integration}/chats/c`);
    assert.deepEqual(await refused({ answers: [answer] }), notPending);
  });
}
