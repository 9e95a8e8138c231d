import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool, type ToolCall } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { eventually } from './support/eventually.ts';
import { calls, play, say, type Turn } from './support/play.ts';
import { ISO_TIME, messagesFrame, ScriptedServer } from './support/scripted-server.ts';

/* The questions of all chats of an owner, and their answers without a stream. */

const refunds: ToolCall[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }, call) => {
    refunds.push(call);
    return `refunded ${cents}`;
  },
});

const lead = defineAgent({ name: 'Lead', instructions: 'You are Lead.', files: false, tools: [refund] });
const shop = defineAgency({ name: 'Shop', agents: [lead] });

const PICK = [{ name: 'pick', description: 'Picks.', inputSchema: { type: 'object' } }];
const asks = (cents: number): Turn => calls([`c${cents}`, 'refund', { cents }]);

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  // With `onDisconnect: cancel` a run without readers would be cancelled after this time.
  const rig = ScriptedServer.shared({ store, agencies: { shop }, limits: { disconnectMs: 200 } });
  let owner: Awaited<ReturnType<typeof rig.owner>>;
  let integration = '';
  let emails = 0;
  beforeEach(async () => {
    refunds.length = 0;
    emails += 1;
    owner = await rig.owner(`${store}-${emails}@example.com`);
    integration = await newIntegration({ clientTools: true, callerInstructions: true });
  });

  const newIntegration = async (fields: object): Promise<string> =>
    (await owner.api.post('/v2/integrations', { agency: 'shop', ...fields })).body.apiIntegrationId;
  const run = async (body: object = {}) => {
    const reader = await owner.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    return messagesFrame(reader);
  };
  const listed = async (query = '') => (await owner.api.get(`/v2/questions${query}`)).body;
  const below = (path: string) => `/v2/integrations/${integration}${path}`;
  const answer = (body: object, chatId = 'c') => owner.api.post(below(`/chats/${chatId}/answers`), body);
  const ended = async (runId: string) => {
    const read = async () => (await owner.api.get(below(`/runs/${runId}`))).body;
    await eventually('the run has ended', async () => (await read()).completedAt !== null);
    return read();
  };

  test('lists the open questions of all integrations and no others, newest first', async (t) => {
    cites(t, 'contract-3-questions', 'contract-26-questions', 'contract-26-questions-pages');
    play(rig, { Lead: [asks(1), asks(2), asks(3)] });
    const first = await run();
    const other = await newIntegration({});
    await owner.api.put(`/v2/integrations/${other}/members/ann`, {});
    const second = await run({ apiIntegrationId: other, consumerId: 'ann', chatId: 'd' });
    const stranger = await rig.integration({ agency: 'shop' });
    await (await rig.api.complete({ apiIntegrationId: stranger, message: 'Go.' })).whole();
    const { items, nextCursor } = await listed();
    assert.equal(nextCursor, null);
    const [question] = second.pending;
    const [{ askedAt }] = items;
    assert.match(askedAt, ISO_TIME);
    assert.deepEqual(items[0], {
      questionId: question.question_id,
      kind: 'approval',
      tool: 'refund',
      arguments: { cents: 2 },
      agent: 'Lead',
      apiIntegrationId: other,
      chatId: 'd',
      consumerId: 'ann',
      runId: second.run_id,
      askedAt,
      state: 'open',
      decision: null,
      reason: null,
      changedArguments: null,
      remember: null,
      answeredBy: null,
    });
    const ids = items.map(({ questionId }: { questionId: string }) => questionId);
    assert.deepEqual(ids, [question.question_id, first.pending[0].question_id]);
    const page = await listed('?limit=1');
    const rest = await listed(`?limit=1&cursor=${page.nextCursor}`);
    assert.deepEqual([...page.items, ...rest.items], items);
    assert.equal(rest.nextCursor, null);
    assert.equal(
      (await owner.api.get(`/v2/questions?state=all&cursor=${page.nextCursor}`)).body.code,
      'invalid_cursor',
    );
    // A question that an earlier version asked is only in its chat, and ends there if such a node settles it.
    const set = (table: string, values: string, where: string) =>
      askStore(rig.server.dataDir, `update ${table} set ${values} where ${where}`);
    await set('asked_questions', 'question_json = null', `question_id = '${question.question_id}'`);
    assert.deepEqual((await listed()).items, items);
    await set('chats', 'questions_json = null, asking_run_id = null', `integration_id = '${other}'`);
    assert.deepEqual((await listed()).items, items.slice(1));
    assert.deepEqual((await listed('?state=all')).items, items.slice(1));
    // A deleted chat and a deleted integration have no questions.
    await owner.api.delete(below('/chats/c'));
    await owner.api.delete(`/v2/integrations/${other}`);
    assert.deepEqual((await listed('?state=all')).items, []);
  });

  test('answers continue the run as its request began it, once', async (t) => {
    cites(
      t,
      'contract-26-answers',
      'contract-26-answers-request',
      'contract-26-answers-repeat',
      'contract-26-answered',
    );
    const made = play(rig, { Lead: [asks(5), say('Paid.')] });
    await owner.api.put(below('/members/ann'), {});
    const asked = await run({ consumerId: 'ann', clientTools: PICK, instructions: 'Be brief.' });
    const [{ question_id: questionId }] = asked.pending;
    const body = {
      answers: [{ questionId, approve: true, reason: 'Fair.' }],
      message: 'Quick.',
      user_context: { till: 7 },
    };
    const both = await Promise.all([answer(body), answer(body)]);
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 201]);
    const [{ body: started }] = both;
    assert.deepEqual(Object.keys(started), ['runId', 'chatId', 'status']);
    assert.deepEqual([started.chatId, both[1]?.body.runId], ['c', started.runId]);
    const { status, continues, consumerId, usageRequestId, message } = await ended(started.runId);
    assert.deepEqual([status, continues, consumerId, message], ['completed', asked.run_id, 'ann', 'Paid.']);
    assert.equal(usageRequestId, `answers:${questionId}`);
    assert.deepEqual(
      refunds.map(({ approval, userContext }) => [approval, userContext]),
      [[{ questionId, reason: 'Fair.' }, { till: 7 }]],
    );
    const { instructions, tools, prompt } = made.at(-1)?.request ?? {};
    assert.match(instructions ?? '', /Be brief\./);
    assert.ok(tools?.some(({ name }) => name === 'pick'));
    assert.deepEqual(prompt?.at(-1), { kind: 'user', text: 'Quick.' });
    const repeated = await answer(body);
    assert.deepEqual([repeated.status, repeated.body], [200, { ...started, status: 'completed' }]);
    const other = await answer({ ...body, message: 'Slow.' });
    assert.deepEqual([other.status, other.body.code], [400, 'usage_request_id_reused']);
    assert.deepEqual((await listed()).items, []);
    const [{ answeredBy, ...item }] = (await listed('?state=answered')).items;
    assert.deepEqual([item.state, item.decision, item.reason], ['answered', 'approved', 'Fair.']);
    const { keyId, name } = (await owner.api.get('/v2/me')).body.key;
    const { at } = answeredBy;
    assert.match(at, ISO_TIME);
    assert.deepEqual(answeredBy, { kind: 'key', id: keyId, name, at });
    const audited = (await owner.api.get('/v2/audit?operation=answerQuestions')).body.items;
    const [{ actor, target, changes }] = audited;
    assert.deepEqual(
      [audited.length, actor, target, changes],
      [
        1,
        { kind: 'key', id: keyId, name },
        `question:${questionId}`,
        { [questionId]: { before: null, after: 'approved' } },
      ],
    );
  });

  test('answers are refused if they do not name exactly the open questions', async (t) => {
    cites(t, 'contract-26-answers-all', 'contract-26-answers-not-pending', 'contract-26-answers-client-token');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 1 }], ['c2', 'refund', { cents: 2 }]), say('No.')] });
    await owner.api.put(below('/members/ann'), {});
    const asked = await run({ consumerId: 'ann' });
    const [one, two] = asked.pending.map(({ question_id: id }: { question_id: string }) => id);
    const refused = async (body: object, chatId = 'c') => {
      const { status, body: refusal } = await answer(body, chatId);
      return [status, refusal.code, refusal.error];
    };
    const missing = (...ids: string[]) => [
      400,
      'invalid_request',
      `\`answers\` must name every open question of the chat; these are missing: ${ids.map((id) => `\`${id}\``).join(', ')}.`,
    ];
    const approve = (questionId: string) => ({ questionId, approve: true });
    assert.deepEqual(await refused({ answers: [] }), missing(one, two));
    assert.deepEqual(await refused({ answers: [approve(two)] }), missing(one));
    const code = async (body: object, chatId?: string) => (await refused(body, chatId)).slice(0, 2);
    assert.deepEqual(await code({ answers: [approve('qst_x')] }), [400, 'question_not_pending']);
    assert.deepEqual(await code({ answers: [approve(one), approve(one)] }), [400, 'invalid_request']);
    assert.deepEqual(await code({ answers: [{ questionId: one, output: 1 }, approve(two)] }), [400, 'invalid_request']);
    assert.deepEqual(await code({ answers: [approve(one), approve(two)] }, 'd'), [404, 'chat_not_found']);
    assert.deepEqual(await code({ answers: [approve(one)], agent: 'Lead' }), [400, 'invalid_request']);
    const usageRequestId = 'schedule:mine';
    assert.deepEqual(await code({ answers: [approve(one)], usageRequestId }), [400, 'invalid_request']);
    const minted = await owner.api.post(below('/client_tokens'), { consumerId: 'ann', can: ['run', 'read', 'answer'] });
    const page = owner.api.as(minted.body.clientToken);
    const answers = [approve(one), approve(two)];
    const forbidden = [await page.get('/v2/questions'), await page.post(below('/chats/c/answers'), { answers })];
    assert.deepEqual(
      forbidden.map(({ status, body }) => [status, body.code]),
      [
        [403, 'token_forbidden'],
        [403, 'token_forbidden'],
      ],
    );
    // A new message leaves both without an answer.
    await run({ consumerId: 'ann', message: 'Never mind.' });
    assert.deepEqual(await code({ answers }), [400, 'question_not_pending']);
    assert.deepEqual(await code({ answers: [] }), [400, 'question_not_pending']);
    assert.equal(refunds.length, 0);
    assert.deepEqual([(await listed()).items, (await listed('?state=answered')).items], [[], []]);
    assert.deepEqual(
      (await listed('?state=all')).items.map(({ state }: { state: string }) => state),
      ['unanswered', 'unanswered'],
    );
  });

  test('`onDisconnect` does not end a run that answers started', async (t) => {
    cites(t, 'contract-26-answers-no-reader');
    integration = await newIntegration({ onDisconnect: 'cancel' });
    const held = Promise.withResolvers<Parameters<Turn>[0]>();
    play(rig, { Lead: [asks(1), async (call) => held.resolve(call)] });
    const asked = await run();
    const { body } = await answer({ answers: [{ questionId: asked.pending[0].question_id, approve: false }] });
    const call = await held.promise;
    await new Promise((resolve) => setTimeout(resolve, 500));
    await call.end();
    assert.equal((await ended(body.runId)).status, 'completed');
  });

  test('`waiting` selects chats with open questions, or those without', async (t) => {
    cites(t, 'contract-26-waiting');
    play(rig, { Lead: [asks(1), say('Hi.'), asks(2), asks(3)] });
    await owner.api.put(below('/members/ann'), {});
    for (const chatId of ['a', 'b', 'c']) await run({ chatId });
    await run({ chatId: 'd', consumerId: 'ann' });
    const chats = async (query: string) =>
      (await owner.api.get(below(`/chats?${query}`))).body.items.map(({ chatId }: { chatId: string }) => chatId);
    assert.deepEqual(await chats('waiting=true'), ['d', 'c', 'a']);
    assert.deepEqual(await chats('waiting=true&sort=updated'), ['d', 'c', 'a']);
    assert.deepEqual(await chats('waiting=true&consumerId=ann'), ['d']);
    assert.deepEqual(await chats('waiting=true&status=running'), []);
    assert.deepEqual(await chats('waiting=false'), ['b']);
    assert.equal((await owner.api.get(below('/chats?waiting=maybe'))).status, 400);
  });
}
