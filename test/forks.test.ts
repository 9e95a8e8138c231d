import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';
import { at, upload } from './support/uploads.ts';

/** The idempotency keys of the refunds that were made. */
const refunds: string[] = [];

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }, { idempotencyKey }) => {
    refunds.push(idempotencyKey);
    return `refunded ${cents}`;
  },
});

const note = defineTool({ name: 'note', description: 'Notes.', inputSchema: z.object({}), execute: () => 'noted' });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [agent('Lead', { tools: { refund, note } }), agent('Billing', { tools: { note } })],
  entryPoints: ['Lead'],
  flows: [{ from: 'Lead', to: 'Billing' }],
});

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    refunds.length = 0;
    integration = await rig.integration({ agency: 'shop' });
    below = `/v2/integrations/${integration}`;
  });

  const post = async (body: object = {}) => {
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { run_id: runId, ...frame } = messagesFrame(reader);
    return { runId, ...frame };
  };
  const fork = async (body: object = {}, chatId = 'c') => {
    const answer = await rig.api.post(`${below}/chats/${chatId}/fork`, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const chat = async (chatId = 'c') => (await rig.api.get(`${below}/chats/${chatId}`)).body;
  const messages = async (chatId = 'c') =>
    (await rig.api.get(`${below}/chats/${chatId}/messages?limit=100`)).body.items.map(
      ({ chatId: _, ...message }: Record<string, unknown>) => message,
    );

  test('a fork has the messages up to a run and names where it began', async (t) => {
    cites(
      t,
      'contract-3-chat-fork',
      'contract-19-fork',
      'contract-19-before',
      'contract-19-forked-from',
      'contract-19-original-runs',
    );
    play(rig, { Lead: [say('One.'), say('Two.'), say('Three.')] });
    const ends = [await post({ message: '1' }), await post({ message: '2' })];
    const [first, second] = ends.map(({ runId }) => runId);
    const whole = await messages();

    const all = await fork({ chatId: 'all', aliasChatId: 'a' });
    const { numMessages, aliasChatId, consumerId, replacedBy, title } = all;
    assert.deepEqual([numMessages, aliasChatId, consumerId, replacedBy, title], [4, 'a', null, null, null]);
    assert.deepEqual(all.forkedFrom, { chatId: 'c', runId: second });
    assert.deepEqual(await messages('all'), whole);
    const short = await fork({ runId: first });
    assert.match(short.chatId, /^chat_/);
    assert.deepEqual(short.forkedFrom, { chatId: 'c', runId: first });
    assert.deepEqual(await messages(short.chatId), whole.slice(2));
    assert.deepEqual(await messages((await fork({ runId: second, before: true })).chatId), whole.slice(2));
    const empty = await fork({ runId: first, before: true });
    assert.deepEqual([empty.numMessages, empty.forkedFrom], [0, { chatId: 'c', runId: null }]);
    assert.equal((await chat()).forkedFrom, null);

    // The runs stay runs of the chat in which they were made.
    assert.deepEqual((await rig.api.get(`${below}/runs?chatId=all`)).body.items, []);
    assert.equal((await rig.api.get(`${below}/usage?limit=10`)).body.items.length, 2);
    const own = await post({ chatId: 'all', message: '3' });
    assert.deepEqual(
      (await rig.api.get(`${below}/runs?chatId=all`)).body.items.map(({ runId }: { runId: string }) => runId),
      [own.runId],
    );
    const deeper = await fork({}, 'all');
    assert.deepEqual(deeper.forkedFrom, { chatId: 'all', runId: own.runId });
    assert.deepEqual((await messages(deeper.chatId)).slice(2), whole);
    const status = (await rig.api.get(`${below}/chat_status?chatId=${short.chatId}`)).body;
    assert.deepEqual([status.run.runId, status.run.message], [first, 'One.']);
  });

  test('a fork that cannot be made is refused', async (t) => {
    cites(t, 'contract-19-fork-refused');
    play(rig, { Lead: [say('One.'), say('Two.')] });
    const { runId } = await post();
    const other = await post({ chatId: 'other' });
    await rig.api.post(`${below}/chats`, { chatId: 'taken', aliasChatId: 'alias' });
    const code = async (body: object, chatId = 'c') => {
      const answer = await rig.api.post(`${below}/chats/${chatId}/fork`, body);
      return [answer.status, answer.body.code];
    };
    assert.deepEqual(await code({ runId: other.runId }), [404, 'run_not_found']);
    assert.deepEqual(await code({ runId: 'run_none' }), [404, 'run_not_found']);
    assert.deepEqual(await code({}, 'none'), [404, 'chat_not_found']);
    assert.deepEqual(await code({ chatId: 'c' }), [409, 'chat_exists']);
    assert.deepEqual(await code({ runId, chatId: 'taken' }), [409, 'chat_exists']);
    assert.deepEqual(await code({ runId, aliasChatId: 'alias' }), [409, 'alias_taken']);
    assert.deepEqual(await code({ before: true }), [400, 'invalid_request']);
    assert.equal((await rig.api.get(`${below}/chats`)).body.items.length, 3);
  });

  test('a busy chat is forked up to a run that has ended', async (t) => {
    cites(t, 'contract-19-busy');
    const release = Promise.withResolvers<void>();
    play(rig, { Lead: [say('One.'), (call) => release.promise.then(() => say('Two.')(call))] });
    const { runId } = await post();
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Wait.' });
    const held = { runId: reader.headers['x-run-id'] };
    assert.deepEqual((await fork()).forkedFrom, { chatId: 'c', runId });
    assert.equal((await fork({ runId: held.runId, before: true })).numMessages, 2);
    const busy = await rig.api.post(`${below}/chats/c/fork`, { runId: held.runId });
    assert.deepEqual([busy.status, busy.body.code, busy.body.runId], [409, 'run_active', held.runId]);
    release.resolve();
    await reader.whole();
    assert.equal((await fork()).numMessages, 4);
  });

  test('a fork sends the prompts that the chat would have sent', async (t) => {
    cites(t, 'contract-19-equal-prompts', 'contract-19-agents-memory');
    const image = { type: 'input_image', image_url: PIXEL, detail: 'low' };
    const made = play(rig, {
      Lead: [
        calls(['n1', 'note', {}], ask('d1', 'Billing', 'Look.')),
        say('One.'),
        say('Two.'),
        calls(ask('d2', 'Billing', 'Again.')),
        say('Three.'),
        calls(ask('d2', 'Billing', 'Again.')),
        say('Three.'),
      ],
      Billing: [calls(['n2', 'note', {}]), say('Looked.'), say('Same.'), say('Same.')],
    });
    await post({ message: 'First', attachments: [image] });
    const { runId } = await post({ message: 'Second' });
    const before = made.length;
    await post({ message: 'Third' });
    const copy = await fork({ runId });
    await post({ chatId: copy.chatId, message: 'Third' });
    const prompts = made.slice(before).map(({ request }) => request.prompt);
    assert.equal(prompts.length, 6);
    assert.deepEqual(prompts.slice(3), prompts.slice(0, 3));
    assert.match(JSON.stringify(prompts[1]), /Looked/, 'the delegated agent remembers');
  });

  test('steps and images are deleted with the last chat that has them', async (t) => {
    cites(t, 'contract-19-last-chat', 'contract-19-own-events');
    const image = { type: 'input_image', image_url: PIXEL, detail: 'low' };
    const play1 = () => [calls(['n1', 'note', {}]), say('One.'), say('Again.'), say('More.')];
    for (const order of ['original first', 'fork first']) {
      const made = play(rig, { Lead: play1() });
      const { runId } = await post({ attachments: [image] });
      const copy = (await fork()).chatId;
      const [gone, left] = order === 'original first' ? ['c', copy] : [copy, 'c'];
      const steps = async () => (await rig.api.get(`${below}/runs/${runId}/steps`)).body.items?.length;
      assert.equal(await steps(), 3, order);
      assert.equal((await rig.api.delete(`${below}/chats/${gone}`)).status, 204);
      const events = (await rig.api.get(`${below}/runs/${runId}/events`)).status;
      assert.equal(events, order === 'original first' ? 404 : 200, order);
      assert.equal(await steps(), 3, order);
      const before = made.length;
      await post({ chatId: left });
      const prompt = JSON.stringify(made.slice(before)[0]?.request.prompt);
      assert.match(prompt, /noted/, order);
      assert.match(prompt, /image/, order);
      assert.equal((await rig.api.delete(`${below}/chats/${left}`)).status, 204);
      assert.equal(await steps(), undefined, order);
    }
  });

  test('questions of the last run are open in the fork, and each chat makes the approved call', async (t) => {
    cites(t, 'contract-19-questions', 'contract-19-own-answers', 'contract-19-fork-key');
    const made = play(rig, {
      Lead: [
        calls(['c1', 'refund', { cents: 5 }], ['n1', 'note', {}]),
        say('Done.'),
        say('Done.'),
        calls(['c2', 'refund', { cents: 7 }]),
        say('More.'),
      ],
    });
    const asking = await post();
    const [question] = asking.pending;
    const early = await fork();
    const answer = (chatId: string, questionId: string, approve = true) =>
      post({ chatId, message: '', answers: [{ questionId, approve }] });
    const answered = await answer('c', question.question_id);
    assert.deepEqual(refunds, [`${asking.runId}/c1`]);
    // Answered in the other chat, and open here.
    const late = await fork({ runId: asking.runId });
    for (const one of [early, late]) {
      const [open] = one.pending;
      const { questionId, ...rest } = open;
      assert.notEqual(questionId, question.question_id);
      assert.deepEqual(rest, {
        kind: 'approval',
        callId: 'c1',
        agent: 'Lead',
        callerAgent: null,
        tool: 'refund',
        arguments: { cents: 5 },
      });
    }
    assert.notEqual(early.pending[0].questionId, late.pending[0].questionId);
    const wrong = await refusal(
      await rig.api.complete({
        apiIntegrationId: integration,
        chatId: early.chatId,
        message: '',
        answers: [{ questionId: question.question_id, approve: true }],
      }),
    );
    assert.equal(wrong.body.code, 'question_not_pending');
    const before = made.length;
    const inFork = await answer(early.chatId, early.pending[0].questionId);
    assert.deepEqual(refunds, [`${asking.runId}/c1`, `${inFork.runId}/c1`]);
    assert.deepEqual(made[before]?.request.prompt, made[before - 1]?.request.prompt);
    assert.deepEqual((await chat(early.chatId)).pending, []);
    const [run] = (await rig.api.get(`${below}/runs?chatId=${early.chatId}`)).body.items;
    assert.equal(run.continues, asking.runId);
    // After its answer nothing is open in a fork, and the chain is one turn there too.
    assert.deepEqual((await fork({ runId: answered.runId })).pending, []);
    const again = await post({ chatId: early.chatId });
    assert.equal(again.pending.length, 1);
    await answer(early.chatId, again.pending[0].question_id);
    assert.equal(refunds.at(-1), `${again.runId}/c2`);
    assert.equal((await chat(late.chatId)).pending.length, 1);
  });

  test('a fork belongs to the same member, and a client token cannot make one', async (t) => {
    cites(t, 'contract-19-consumer', 'contract-19-fork-token');
    play(rig, { Lead: [say('One.'), say('Two.')] });
    await rig.member(integration, 'ann');
    const path = '/app/mnt/shared/made.txt';
    await upload(rig.api, 'made', { apiIntegrationId: integration, ...at(path) });
    await post({ consumerId: 'ann' });
    const { runId } = await post({
      consumerId: 'ann',
      sandboxFiles: [{ name: 'made.txt', path }],
    });
    const copy = await fork({ runId });
    assert.equal(copy.consumerId, 'ann');
    const early = await fork({ runId, before: true });
    const announced = async (chatId: string) => {
      const found = `select count(*) as count from announced_files a join chats c on c.chat_key = a.chat_key
        where c.integration_id = '${integration}' and c.chat_id = '${chatId}'`;
      return Number((await askStore(rig.server.dataDir, found))[0]?.count);
    };
    assert.deepEqual([await announced(copy.chatId), await announced(early.chatId)], [1, 0]);
    const foreign = await rig.api.complete({ apiIntegrationId: integration, chatId: copy.chatId, message: 'Hi' });
    assert.equal(foreign.status, 404);
    const { clientToken } = (await rig.api.post(`${below}/client_tokens`, { consumerId: 'ann' })).body;
    const refused = await rig.api.as(clientToken).post(`${below}/chats/c/fork`, {});
    assert.deepEqual([refused.status, refused.body.code], [403, 'token_forbidden']);
    // A fork and its chat are erased together, so a member that was deleted gets no fork.
    await rig.api.delete(`${below}/members/ann`);
    assert.equal((await rig.api.post(`${below}/chats/c/fork`, {})).body.code, 'member_not_found');
  });

  test('files that the runs of a fork made are announced in it', async (t) => {
    cites(t, 'contract-19-made-files');
    play(rig, { Lead: [calls(['n1', 'note', {}]), say('One.'), say('Two.')] });
    const first = await post();
    await post();
    const path = '/app/mnt/made/a.txt';
    await upload(rig.api, 'made', { apiIntegrationId: integration, ...at(path) });
    // The rows that a command leaves which makes a file: no sandbox is needed for this test.
    const ask = (statement: string) => askStore(rig.server.dataDir, statement);
    const key = `(select chat_key from chats where integration_id = '${integration}' and chat_id = 'c')`;
    await ask(`update files set chat_key = ${key} where integration_id = '${integration}'`);
    const files = `"files":[{"path":"${path}","contentType":"text/plain","size":4,"change":"created"}]`;
    await ask(`update steps set record_json = substr(record_json, 1, length(record_json) - 1) || ',${files}}'
      where run_id = '${first.runId}' and kind = 'tool'`);
    const announced = async (chatId: string) =>
      Number(
        (
          await ask(`select count(*) as count from announced_files a join chats c on c.chat_key = a.chat_key
            where c.integration_id = '${integration}' and c.chat_id = '${chatId}'`)
        )[0]?.count,
      );
    const copy = (await fork()).chatId;
    assert.equal(await announced(copy), 1);
    assert.equal(await announced((await fork({}, copy)).chatId), 1, 'also in a fork of the fork');
    assert.equal(await announced((await fork({ runId: first.runId, before: true })).chatId), 0);
  });
}
