import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { refunds, team } from './support/openai-team.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* Requests of compatible APIs that continue in the middle of a chat. */

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team } });
  let below = '';
  let integration = '';
  beforeEach(async () => {
    refunds.length = 0;
    integration = await rig.integration({ agency: 'team' });
    below = `/v2/integrations/${integration}`;
  });
  const chats = async () =>
    (await rig.api.get(`${below}/chats`)).body.items.map(({ chatId }: { chatId: string }) => chatId);
  const chat = async (chatId: string) => (await rig.api.get(`${below}/chats/${chatId}`)).body;
  const texts = async (chatId: string) =>
    (await rig.api.get(`${below}/chats/${chatId}/messages`)).body.items
      .map(({ content }: { content: string }) => content)
      .reverse();
  const respond = async (input: unknown, previous: string | null = null, more: object = {}) =>
    (await rig.api.post(`${below}/openai/v1/responses`, {
      input,
      ...(previous === null ? {} : { previous_response_id: previous }),
      ...more,
    })) as { status: number; body: { id: string; output: { type: string; id: string }[] } };
  /** Posts like `useChat`, and reads the whole answer. */
  const ui = async (messages: readonly object[], more: object = {}, query = '') => {
    const answer = await fetch(`${rig.server.url}${below}/ai-sdk/chat${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'c', trigger: 'submit-message', messages, ...more }),
    });
    const text = await answer.text();
    return { status: answer.status, runId: answer.headers.get('x-run-id') ?? '', headers: answer.headers, text };
  };
  const said = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] });
  const answered = (runId: string, text: string) => ({
    id: `msg_${runId.slice('run_'.length)}`,
    role: 'assistant',
    parts: [{ type: 'text', text }],
    metadata: { runId },
  });

  test('a request after an earlier run continues in a fork', async (t) => {
    cites(t, 'contract-19-after-run', 'contract-19-after-unknown', 'contract-19-one-transaction');
    const made = play(rig, { Lead: [say('One.'), say('Two.'), say('Other two.'), say('Three.'), say('More.')] });
    const first = await respond('1');
    const second = await respond('2', first.body.id);
    assert.equal((await chats()).length, 1);
    const other = await respond('2', first.body.id);
    assert.equal(other.status, 200, JSON.stringify(other.body));
    assert.deepEqual(made.at(-1)?.request.prompt, made.at(-2)?.request.prompt);
    const third = await respond('3', other.body.id);
    assert.equal(third.status, 200);
    const all = await chats();
    assert.equal(all.length, 2);
    const [fork, original] = all;
    assert.deepEqual(await texts(fork), ['1', 'One.', '2', 'Other two.', '3', 'Three.']);
    assert.deepEqual(await texts(original), ['1', 'One.', '2', 'Two.']);
    assert.equal((await chat(fork)).forkedFrom.chatId, original);
    for (const id of ['resp_none', 'resp_']) assert.equal((await respond('x', id)).status, 404, id);
    await rig.member(integration, 'ann');
    assert.equal((await respond('x', second.body.id, { user: 'ann' })).status, 404, 'another member');
    const refused = await respond('x', first.body.id, { model: 'Nobody' });
    assert.equal(refused.status, 404);
    assert.equal((await chats()).length, 2);
    assert.equal((await respond('4', second.body.id)).status, 200);
    assert.deepEqual((await texts(original)).slice(-2), ['4', 'More.']);
  });

  test('answers name the questions as they were asked', async (t) => {
    cites(t, 'contract-19-known-ids');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 5 }]), say('Done.'), say('Again.')] });
    const asking = await respond('Refund.');
    const request = asking.body.output.find(({ type }: { type: string }) => type === 'mcp_approval_request');
    const approve = [{ type: 'mcp_approval_response', approval_request_id: request?.id, approve: true }];
    const answered = await respond(approve, asking.body.id);
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    const again = await respond(approve, asking.body.id);
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.equal(refunds.length, 2);
    assert.equal((await chats()).length, 2);
  });

  test('an open question finds its chat', async (t) => {
    cites(t, 'contract-19-find-asking');
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 5 }]), say('Done.')] });
    const asking = await respond('Refund.');
    const request = asking.body.output.find(({ type }) => type === 'mcp_approval_request');
    const answered = await respond([
      { type: 'mcp_approval_response', approval_request_id: request?.id, approve: true },
    ]);
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    assert.deepEqual(refunds, [5]);
    assert.equal((await chats()).length, 1);
  });

  test('an edit continues in a fork that takes over the id', async (t) => {
    cites(t, 'contract-19-replaced', 'contract-19-replay', 'contract-19-delete-replaced', 'contract-19-replace-busy');
    const waiting = Promise.withResolvers<void>();
    const made = play(rig, {
      Lead: [
        say('One.'),
        say('Two.'),
        say('Edited.'),
        say('Again.'),
        (call) => waiting.promise.then(() => say('!')(call)),
      ],
    });
    const one = await ui([said('m1', '1')]);
    const begin = [said('m1', '1'), answered(one.runId, 'One.')];
    const two = await ui([...begin, said('m2', '2')]);
    assert.equal(two.status, 200, two.text);
    await rig.api.patch(`${below}/chats/c`, { title: 'Mine', metadata: { a: 1 } });
    const [createdAt] = [(await chat('c')).createdAt];
    const edited = await ui([...begin, said('m2', '2, better')], { messageId: 'm2' });
    assert.equal(edited.status, 200, edited.text);
    assert.deepEqual(await texts('c'), ['1', 'One.', '2, better', 'Edited.']);
    const now = await chat('c');
    const old = now.forkedFrom.chatId;
    assert.deepEqual([now.title, now.metadata, now.createdAt, now.replacedBy], ['Mine', { a: 1 }, createdAt, null]);
    assert.deepEqual([(await chat(old)).replacedBy, await texts(old)], ['c', ['1', 'One.', '2', 'Two.']]);
    assert.deepEqual(await chats(), ['c']);
    assert.equal((await rig.api.get(`${below}/runs/${two.runId}`)).body.chatId, old);

    const repeated = await ui([...begin, said('m2', '2')]);
    assert.deepEqual([repeated.runId, repeated.headers.get('x-run-replayed')], [two.runId, 'true']);

    // The newest answer is made again: nothing but it is replaced.
    const regenerated = await ui([...begin, said('m2', '2, better')], { trigger: 'regenerate-message' });
    assert.equal(regenerated.status, 200, regenerated.text);
    assert.deepEqual(made.at(-1)?.request.prompt, made.at(-2)?.request.prompt);
    assert.deepEqual(await texts('c'), ['1', 'One.', '2, better', 'Again.']);
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Wait.' });
    const refused = await ui([said('m1', '1, better')], { messageId: 'm1' }, '?whenBusy=refuse');
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /run_active/);
    waiting.resolve();
    await reader.whole();
    assert.deepEqual(await chats(), ['c']);
    const gone = [old, (await chat('c')).forkedFrom.chatId];
    assert.equal((await rig.api.delete(`${below}/chats/c`)).status, 204);
    for (const chatId of gone) assert.equal((await rig.api.get(`${below}/chats/${chatId}`)).status, 404, chatId);
    assert.equal((await rig.api.get(`${below}/runs/${one.runId}/steps`)).status, 404);
  });
}
