import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency } from '@runwire/agency';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import { cites } from '../requirements/cite.ts';
import { until } from './support/eventually.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { missingBubblewrap } from './support/services.ts';
import { shareUiShop, shopAgent } from './support/ui-shop.ts';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const { rig, at, open, runs, post } = shareUiShop(store);

  test('regenerate and edit replace the end of the chat', async (t) => {
    cites(t, 'compatible-20-ui-forks', 'compatible-20-ui-once');
    const made = play(rig, { Lead: ['One.', 'Two.', 'Two again.', 'Second.', 'First.', 'Last.'].map(say) });
    const before = made.length;
    const chat = open();
    const prompt = (index: number) =>
      made[before + index]?.request.prompt.map((item) => ('text' in item ? item.text : item.kind));
    const stored = async () => {
      const { body } = await rig.api.get(`/v2/integrations/${at.integration}/chats/c/messages`);
      return body.items.map(({ content }: { content: string }) => content).reverse();
    };
    await chat.sendMessage({ text: 'A' });
    await chat.sendMessage({ text: 'B' });
    await chat.regenerate();
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: Two again.']);
    assert.deepEqual(prompt(2), ['A', 'One.', 'B']);
    assert.deepEqual(await stored(), ['A', 'One.', 'B', 'Two again.']);
    // An edit has the old message's id.
    const [, , second] = chat.messages;
    await chat.sendMessage({ text: 'B2', messageId: second?.id ?? '' });
    assert.equal(chat.error, undefined);
    assert.deepEqual(prompt(3), ['A', 'One.', 'B2']);
    const [first] = chat.messages;
    await chat.sendMessage({ text: 'A2', messageId: first?.id ?? '' });
    assert.deepEqual(prompt(4), ['A2']);
    await chat.sendMessage({ text: 'C' });
    assert.deepEqual(await stored(), ['A2', 'First.', 'C', 'Last.']);
    const chats = (await rig.api.get(`/v2/integrations/${at.integration}/chats`)).body.items;
    assert.deepEqual(
      chats.map(({ chatId }: { chatId: string }) => chatId),
      ['c'],
    );
    const ids: string[] = (await rig.api.get(`/v2/integrations/${at.integration}/usage`)).body.items.map(
      (one: { usageRequestId: string }) => one.usageRequestId,
    );
    const edited = new RegExp(`^ui:c:${second?.id}:[0-9a-f]{16}$`);
    assert.deepEqual([ids.length, ids.filter((id) => edited.test(id)).length], [6, 1]);
    // The chat cannot continue after a message that this server did not make.
    const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
    const foreign = { id: `msg_${'0'.repeat(26)}`, role: 'assistant', parts: [] };
    const wrong = await post('', { id: 'c', trigger: 'regenerate-message', messages: [foreign, user] });
    assert.deepEqual([wrong.status, ((await wrong.json()) as { code: string }).code], [404, 'run_not_found']);
  });

  test('regenerate during an answer cancels it, also after an answered question', async (t) => {
    cites(t, 'compatible-20-ui-forks', 'compatible-20-ui-busy');
    const made = play(rig, {
      Lead: [calls(['c1', 'position', {}]), say('Home.'), (call) => call.text('Never en'), say('Next.'), say('Short.')],
    });
    const before = made.length;
    const chat = open({
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolName, toolCallId } }) =>
        void chat.addToolOutput({ tool: toolName, toolCallId, output: 'home' }),
    });
    await chat.sendMessage({ text: 'Where?' });
    const sent = chat.sendMessage({ text: 'And?' });
    await until(() => chat.parts.includes('text streaming: Never en'));
    await chat.stop();
    await sent;
    await chat.regenerate();
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: Next.']);
    // The chat continues after the newest run of the message that two runs made.
    assert.deepEqual(
      made[before + 3]?.request.prompt.map((item) => ('text' in item ? item.text : item.kind)),
      ['Where?', 'tool_call', 'tool_output', 'Home.', 'And?'],
    );
    const statuses = (await runs()).map(({ status }: { status: string }) => status);
    assert.deepEqual(statuses.toSorted(), ['cancelled', 'completed', 'completed', 'completed']);
  });

  test('files of the user are attachments', async (t) => {
    cites(t, 'compatible-20-ui-attachments');
    const made = play(rig, { Lead: [say('A dot.')] });
    const before = made.length;
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const chat = open();
    await chat.sendMessage({ text: 'What is it?', files: [{ type: 'file', mediaType: 'image/png', url }] });
    assert.equal(chat.error, undefined);
    assert.deepEqual(chat.parts, ['text done: A dot.']);
    const [item] = made[before]?.request.prompt ?? [];
    assert.ok(item?.kind === 'user' && item.attachments?.length === 1, JSON.stringify(item));
    const wrong = open({ id: 'd' });
    await wrong.sendMessage({ text: 'And?', files: [{ type: 'file', mediaType: 'image/png', url: 'data:,no' }] });
    assert.match(wrong.error?.message ?? '', /`messages\[0\]\.parts\[0\]\.url` must be base64/);
  });

  test('a file that the run made is shown with its address', async (t) => {
    cites(t, 'compatible-20-ui-files');
    const missing = await missingBubblewrap();
    if (missing !== null) return t.skip(missing);
    const work = defineAgency({ name: 'Work', agents: [shopAgent('Writer', { sandbox: true, files: true })] });
    await using own = await ScriptedServer.start({ store, agencies: { work }, env: { RUNWIRE_SANDBOX: 'auto' } });
    const path = '/app/mnt/notes/a b.txt';
    play(own, { Writer: [calls(['c1', 'write_file', { path, content: 'Hi' }]), say('Written.')] });
    const apiIntegrationId = await own.integration({ agency: 'work', fileAccess: 'all' });
    const chat = open({ api: `${own.server.url}/v2/integrations/${apiIntegrationId}/ai-sdk/chat` });
    await chat.sendMessage({ text: 'Write.' });
    assert.equal(chat.error, undefined);
    const file = chat.lastMessage?.parts.find(({ type }) => type === 'file');
    assert.ok(file?.type === 'file', chat.parts.join('\n'));
    const about = { path, name: 'a b.txt', size: 2, change: 'created' };
    assert.deepEqual([file.mediaType, file.providerMetadata], ['text/plain', { runwire: about }]);
    const answer = await fetch(file.url, { headers: { authorization: `Bearer ${TEST_API_KEY}` } });
    assert.deepEqual([answer.status, await answer.text()], [200, 'Hi']);
  });

  test('a body that useChat would not send is refused by its field', async (t) => {
    cites(t, 'compatible-20-ui-invalid', 'compatible-20-ui-member');
    const user = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
    const good = { id: 'c', messages: [user] };
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ messages: [user] }, /^`id` is missing/],
      [{ ...good, messages: [] }, /^`messages` must have a message/],
      [{ ...good, messages: [{ ...user, role: 'tool' }] }, /^`messages\[0\]\.role` must be/],
      [{ ...good, trigger: 'resume-stream' }, /^`trigger` must be/],
      [
        { ...good, messages: [{ ...user, parts: [{ type: 'text' }] }] },
        /^`messages\[0\]\.parts\[0\]\.text` is missing/,
      ],
      [{ ...good, clientTools: [{ name: 'a b' }] }, /^`clientTools\[0\]\.name` must have/],
      [{ ...good, agent: 'Nobody' }, /^`agent` is not an entry point/],
      [{ ...good, id: 'a\u0000' }, /^`id` must have 1–256 characters/],
      [{ ...good, messages: [{ ...user, id: 'x'.repeat(257) }] }, /^`messages\[0\]\.id` must have 1–256/],
      [{ ...good, user_context: 'x'.repeat(300_000) }, /^`user_context` must be at most/],
    ];
    for (const [body, sentence] of wrong) {
      const answer = await post('', body);
      const { error } = (await answer.json()) as { error: string };
      assert.match(error, sentence);
      assert.deepEqual([answer.status, answer.headers.get('x-agent-run-admitted')], [400, 'false'], error);
    }
    assert.equal((await post('?whenBusy=never', good)).status, 400);
    assert.equal((await runs()).length, 0);
  });
}
