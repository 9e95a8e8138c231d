import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool, type ToolCall } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { calls, play, say, type Turn } from './support/play.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

/* What an approval may do besides: change the arguments of the call, and allow the tool for the chat. */

const refunds: { readonly cents: number; readonly call: ToolCall }[] = [];

const refundTool = (more: object) =>
  defineTool({
    name: 'refund',
    description: 'Pays money back.',
    inputSchema: z.object({ cents: z.number().int().max(1000) }),
    needsApproval: true,
    ...more,
    execute: ({ cents }, call) => {
      refunds.push({ cents, call });
      return `refunded ${cents}`;
    },
  });

const agent = (name: string, more: object) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', { tools: [refundTool({ editable: true, remember: true })] }),
    agent('Strict', { tools: [refundTool({})] }),
    agent('Clerk', {
      ...{ tools: [refundTool({}), 'read_file'], approval: ['read_file'] },
      ...{ editable: ['refund', 'read_file'], remember: ['read_file'] },
    }),
  ],
});

const pays = (id: string, cents: number): Turn => calls([id, 'refund', { cents }]);

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  beforeEach(async () => {
    refunds.length = 0;
    integration = await rig.integration({ agency: 'shop' });
  });

  const below = (path: string) => `/v2/integrations/${integration}${path}`;
  const get = async (path: string) => (await rig.api.get(below(path))).body;
  const post = async (body: object = {}) => {
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    if (reader.status === 200) await reader.whole();
    return reader;
  };
  const run = async (body: object = {}) => messagesFrame(await post(body));
  const approve = (asked: Awaited<ReturnType<typeof run>>, more: object = {}, body: object = {}) => {
    const [{ question_id: questionId }] = asked.pending;
    return post({ message: '', ...body, answers: [{ questionId, approve: true, ...more }] });
  };
  const refused = async (asked: Awaited<ReturnType<typeof run>>, more: object, body: object = {}) => {
    const { status, body: answer } = await refusal(await approve(asked, more, body));
    return [status, answer.code, answer.error];
  };
  const outputs = (made: ReturnType<typeof play>) =>
    made.at(-1)?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));

  test('an approved call is made once with changed arguments, and the model learns them', async (t) => {
    cites(
      t,
      'agents-33-arguments',
      'agents-33-allowed',
      'agents-33-output',
      'agents-33-step',
      'contract-26-changed-arguments',
    );
    const made = play(rig, { Lead: [pays('c1', 900), say('Done.'), say('Yes.')] });
    const asked = await run();
    const [question] = asked.pending;
    assert.deepEqual([question.editable, question.rememberable, question.arguments], [true, true, { cents: 900 }]);
    const [listed] = (await rig.api.get('/v2/questions')).body.items;
    assert.deepEqual([listed.editable, listed.rememberable, listed.changedArguments], [true, true, null]);
    const answer = { arguments: { cents: 500 }, reason: 'Half.' };
    const end = messagesFrame(await approve(asked, answer, { usageRequestId: `${integration}-a` }));
    assert.deepEqual(
      refunds.map(({ cents, call: { idempotencyKey, approval } }) => [cents, idempotencyKey, approval?.reason]),
      [[500, `${asked.run_id}/c1`, 'Half.']],
    );
    const output = 'A person changed the arguments to {"cents":500}.\nrefunded 500';
    assert.deepEqual(outputs(made), [output]);
    const replayed = await approve(asked, answer, { usageRequestId: `${integration}-a` });
    assert.equal(replayed.headers['x-run-replayed'], 'true');
    assert.equal(refunds.length, 1);
    const step = (await get(`/runs/${end.run_id}/steps`)).items.find(({ kind }: { kind: string }) => kind === 'tool');
    assert.deepEqual([step.arguments, step.shownArguments], [{ cents: 500 }, { cents: 900 }]);
    const [item] = (await rig.api.get('/v2/questions?state=answered')).body.items;
    assert.deepEqual([item.arguments, item.changedArguments, item.remember], [{ cents: 900 }, { cents: 500 }, null]);
    const sent = (await get('/chats/c/messages')).items.find(
      ({ answers }: { answers: object[] }) => answers.length > 0,
    );
    assert.deepEqual(sent.answers[0].changedArguments, { cents: 500 });
    // The next turn shows the call as the model wrote it, and its output as it read it.
    await post({ message: 'Sure?' });
    const [, call] = made.at(-1)?.request.prompt ?? [];
    assert.deepEqual([call?.kind === 'tool_call' && call.arguments, outputs(made)], ['{"cents":900}', [output]]);
  });

  test('what the tool does not allow is refused, and the question stays open', async (t) => {
    cites(t, 'agents-33-refused');
    play(rig, { Lead: [pays('c1', 900)], Strict: [pays('c2', 900)] });
    const open = await run();
    const invalid = async (asked: typeof open, more: object, sentence: RegExp, body: object = {}) => {
      const [status, code, error] = await refused(asked, more, body);
      assert.deepEqual([status, code], [400, 'invalid_request']);
      assert.match(String(error), sentence);
    };
    const changed = { arguments: { cents: 5 } };
    await invalid(
      open,
      { arguments: { cents: 'x' } },
      /^`answers\[0\].arguments` is not what the tool `refund` accepts/,
    );
    await invalid(open, { arguments: { cents: 2000 } }, /is not what the tool `refund` accepts: .*cents/);
    await invalid(open, { ...changed, approve: false }, /has `arguments`, which belongs to `approve: true`/);
    await invalid(open, { remember: 'chat', approve: false }, /has `remember`, which belongs to `approve: true`/);
    await invalid(open, { remember: 'ever' }, /remember/);
    await invalid(open, { arguments: [] }, /arguments/);
    const strict = await run({ chatId: 'd', agent: 'Strict' });
    assert.deepEqual(Object.keys(strict.pending[0]).includes('editable'), false);
    await invalid(strict, changed, /the tool `refund` has no `editable`/, { chatId: 'd' });
    await invalid(strict, { remember: 'chat' }, /the tool `refund` has no `remember`/, { chatId: 'd' });
    assert.deepEqual([refunds.length, (await get('/chats/c')).pending.length], [0, 1]);
    assert.equal((await get('/chats/d')).pending.length, 1);
  });

  test('an agent lists the tools whose calls may be changed, also built-in ones', async (t) => {
    cites(t, 'agents-33-lists');
    play(rig, { Clerk: [calls(['c1', 'read_file', { path: '/app/mnt/a.txt' }], ['c2', 'refund', { cents: 1 }])] });
    const { pending } = await run({ agent: 'Clerk' });
    const allowed = pending.map(({ tool, editable, rememberable }: Record<string, unknown>) => [
      tool,
      editable,
      rememberable,
    ]);
    assert.deepEqual(allowed.toSorted(), [
      ['read_file', true, true],
      ['refund', true, undefined],
    ]);
    const { items } = (await rig.api.get('/v2/agencies')).body;
    const { agents } = items.find(({ agency }: { agency: string }) => agency === 'shop');
    const lists = agents.map(({ name, editable, remember }: Record<string, unknown>) => [name, editable, remember]);
    assert.deepEqual(lists, [
      ['Lead', ['refund'], ['refund']],
      ['Strict', [], []],
      ['Clerk', ['refund', 'read_file'], ['read_file']],
    ]);
    const ids = new Map(pending.map((one: Record<string, string>) => [one.tool, one.question_id]));
    const wrong = [{ questionId: ids.get('read_file'), approve: true, arguments: { path: 1 } }];
    const { body } = await refusal(await post({ message: '', answers: wrong }));
    assert.match(body.error, /is not what the tool `read_file` accepts/);
  });

  test('an answer allows a tool for its chat, until the approval is removed', async (t) => {
    cites(
      t,
      'agents-33-remember',
      'agents-33-remember-agent',
      'agents-33-remember-fork',
      'contract-9-approvals',
      'contract-9-remove-approvals',
    );
    play(rig, {
      Lead: [
        pays('c1', 1),
        pays('c2', 2),
        say('Both.'),
        pays('c3', 3),
        say('Third.'),
        ...[4, 5, 6].map((n) => pays(`c${n}`, n)),
      ],
      Strict: [pays('s1', 7), say('No.')],
    });
    const made = () => refunds.map(({ cents }) => cents);
    const asked = await run();
    assert.deepEqual((await get('/chats/c')).approvals, []);
    // A later call of the same run does not ask.
    const end = messagesFrame(await approve(asked, { remember: 'chat' }));
    assert.deepEqual([end.pending, made()], [[], [1, 2]]);
    assert.equal(refunds[1]?.call.approval, null);
    const { approvals } = await get('/chats/c');
    const [{ tool, by, at }] = approvals;
    assert.deepEqual([approvals.length, tool, by.kind, Object.keys(by)], [1, 'refund', 'key', ['kind', 'id', 'name']]);
    assert.ok(Date.parse(at) > 0);
    const [item] = (await rig.api.get('/v2/questions?state=answered')).body.items;
    assert.deepEqual([item.remember, item.answeredBy], ['chat', { ...by, at }]);
    assert.deepEqual((await get('/chats')).items[0].approvals, approvals);
    // Neither does a later run. Agents whose tool does not allow it, other chats and forks ask.
    assert.deepEqual([(await run({ message: 'Again.' })).pending, made()], [[], [1, 2, 3]]);
    assert.equal((await run({ agent: 'Strict' })).pending.length, 1);
    await run({ message: 'Never mind.' });
    assert.equal((await run({ chatId: 'd' })).pending.length, 1);
    const { body: fork } = await rig.api.post(below('/chats/c/fork'), { runId: end.run_id });
    assert.deepEqual(fork.approvals, []);
    assert.equal((await run({ chatId: fork.chatId })).pending.length, 1);
    const patch = (body: object) => rig.api.patch(below('/chats/c'), body);
    assert.deepEqual((await patch({ title: 'T' })).body.approvals, approvals);
    assert.deepEqual((await patch({ approvals })).body.approvals, approvals);
    const added = await patch({ approvals: [{ tool: 'other' }] });
    assert.deepEqual([added.status, added.body.code], [400, 'invalid_request']);
    assert.deepEqual((await patch({ approvals: [] })).body.approvals, []);
    assert.equal((await run()).pending.length, 1);
    assert.deepEqual(made(), [1, 2, 3]);
  });
}
