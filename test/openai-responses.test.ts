import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { APIError } from 'openai';
import type { Response } from 'openai/resources/responses/responses';
import { cites } from '../requirements/cite.ts';
import { until } from './support/eventually.ts';
import { everything } from './support/openai-runs.ts';
import { clientAt, eventTypes, openaiClient, readAll, shownItems, team } from './support/openai-team.ts';
import { calls, play, say, type Turn } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The official client, unchanged, against the Responses API. */

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team }, limits: { heartbeatMs: 50 } });
  /** Plays the turns. Returns the calls of the model since then. */
  const playHere = (turns: Parameters<typeof play>[1]) => {
    const before = rig.controller.calls.length;
    const all = play(rig, turns);
    return () => all.slice(before);
  };
  const open = (fields: object = {}) => openaiClient(rig, fields);
  const refused = async (request: Promise<unknown>) => {
    const error = await request.then(
      () => assert.fail('not refused'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof APIError, String(error));
    return error;
  };

  test('streams one text', async (t) => {
    cites(t, 'compatible-20-responses-stream', 'compatible-20-responses-numbers');
    const { client } = await open();
    play(rig, { Lead: [say('Hello.')] });
    const stream = client.responses.stream({ model: 'Lead', input: 'Hi' });
    const { events, response } = await readAll(stream);
    assert.equal((await stream.finalResponse()).output_text, 'Hello.');
    assert.deepEqual(eventTypes(events), [
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    const numbers = events.map(({ sequence_number: number }) => number);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((one, other) => one - other),
      'the numbers grow',
    );
    assert.deepEqual(numbers.slice(0, 2), [2, 3]);
    assert.equal(response.status, 'completed');
  });

  test('all steps of a run are one response', async (t) => {
    cites(
      t,
      'compatible-20-responses-one',
      'compatible-20-responses-server-tools',
      'compatible-20-responses-delegated',
      'compatible-20-responses-object',
    );
    const { client, id } = await open();
    const made = playHere(everything);
    const stream = client.responses.stream({ input: 'Do it all.' });
    const { events, response } = await readAll(stream);
    assert.equal((await stream.finalResponse()).output_text, 'All is "said"\nand done.');
    assert.equal(made().length, 7);
    assert.deepEqual(shownItems(response), [
      ['reasoning', 'Let me think.'],
      ['mcp_call', 'clock', '{}', '12:00'],
      ['mcp_call', 'clock', '{}', '12:00'],
      ['mcp_call', 'send_message', JSON.stringify({ recipient_agent: 'Writer', message: 'Write it.' }), 'Written.'],
      ['mcp_call', 'breaks', '{}', 'The tool failed: it broke'],
      ['mcp_call', 'transfer_to_Closer', '{}', 'Transfer completed. You are Closer. Please continue the task.'],
      ['message', 'completed', 'All is "said"\nand done.'],
    ]);
    const added = events.flatMap((event) => (event.type === 'response.output_item.added' ? [event.output_index] : []));
    assert.deepEqual(
      added,
      response.output.map((_, index) => index),
    );
    assert.equal(response.usage?.total_tokens, 7 * 15);
    const read = await client.responses.retrieve(response.id);
    assert.deepEqual({ ...read, output_text: null }, { ...response, output_text: null });
    const { body } = await rig.api.get(`/v2/integrations/${id}/runs/${response.id.replace('resp_', 'run_')}`);
    assert.equal(body.chatId, response.conversation?.id);
  });

  test('a plain answer is the same object, after white space', async (t) => {
    cites(t, 'compatible-20-responses-plain');
    const { baseURL, apiKey, client } = await open();
    play(rig, {
      Lead: [
        async (call) => {
          await new Promise((resolve) => setTimeout(resolve, 200));
          await say('Late.')(call);
        },
      ],
    });
    const answer = await fetch(`${baseURL}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: 'Hi' }),
    });
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(answer.headers.get('x-agent-run-admitted'), 'true');
    const text = await answer.text();
    assert.match(text, /^\n\n+\{/);
    const response = JSON.parse(text) as Response;
    assert.deepEqual(shownItems(response), [['message', 'completed', 'Late.']]);
    assert.deepEqual(await client.responses.retrieve(response.id), { ...response, output_text: 'Late.' });
  });

  test('a plain answer ends in time, although the run is active', async (t) => {
    cites(t, 'compatible-20-responses-plain-long');
    const { client } = await open();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    play(rig, {
      Lead: [
        async (call) => {
          await call.text('Half ');
          await ended;
          await say('whole.')(call);
        },
      ],
    });
    const response = await client.responses.create({ input: 'Hi' });
    assert.equal(response.status, 'in_progress');
    assert.deepEqual(shownItems(response), [['message', 'in_progress', 'Half ']]);
    end();
    const { response: whole } = await readAll(await client.responses.retrieve(response.id, { stream: true }));
    assert.deepEqual(shownItems(whole), [['message', 'completed', 'Half whole.']]);
  });

  test('the same Idempotency-Key is the same run, streamed or plain', async (t) => {
    cites(t, 'compatible-20-openai-idempotency');
    const { client, posts } = await open();
    const made = playHere({ Lead: [say('Once.')] });
    const options = { headers: { 'Idempotency-Key': 'k1' } };
    const first = await client.responses.create({ input: 'Hi' }, options);
    const second = await client.responses.create({ input: 'Hi' }, options);
    const third = await readAll(await client.responses.create({ input: 'Hi', stream: true }, options));
    assert.deepEqual(second, first);
    assert.equal(third.response.id, first.id);
    assert.equal(made().length, 1);
    assert.deepEqual(
      posts.map(({ headers }) => headers.get('x-run-replayed')),
      [null, 'true', 'true'],
    );
    const error = await refused(client.responses.create({ input: 'Other' }, options));
    assert.deepEqual([error.status, error.code], [400, 'usage_request_id_reused']);
  });

  test('a failed run is an answer with status 200', async (t) => {
    cites(t, 'compatible-20-responses-failed');
    const { client, posts } = await open();
    const fails: Turn = async (call) => {
      await call.text('Half');
      await call.fail('model_error', 'The provider broke.');
    };
    play(rig, { Lead: [fails, fails] });
    const { events, response } = await readAll(await client.responses.create({ input: 'Hi', stream: true }));
    assert.deepEqual(eventTypes(events).slice(-2), ['output_item.done', 'failed']);
    assert.deepEqual([response.status, response.error?.code], ['failed', 'model_error']);
    assert.deepEqual(shownItems(response), [['message', 'incomplete', 'Half']]);
    const plain = await client.responses.create({ input: 'Hi' });
    assert.equal(plain.status, 'failed');
    assert.deepEqual(
      posts.map(({ status }) => status),
      [200, 200],
    );
  });

  test('a cancelled run ends with `response.incomplete`', async (t) => {
    cites(t, 'compatible-20-responses-cancel');
    const { client } = await open();
    play(rig, { Lead: [(call) => call.text('Half')] });
    const stream = await client.responses.create({ input: 'Hi', stream: true });
    const iterator = stream[Symbol.asyncIterator]();
    let responseId = '';
    for (let isDelta = false; !isDelta; ) {
      const { value } = await iterator.next();
      if (value.type === 'response.created') responseId = value.response.id;
      isDelta = value.type === 'response.output_text.delta';
    }
    const cancelled = await client.responses.cancel(responseId);
    assert.deepEqual([cancelled.status, shownItems(cancelled)], ['cancelled', [['message', 'incomplete', 'Half']]]);
    const { response } = await readAll({ [Symbol.asyncIterator]: () => iterator });
    assert.deepEqual({ ...response, output_text: null }, { ...cancelled, output_text: null });
  });

  test('a background response is answered immediately', async (t) => {
    cites(t, 'compatible-20-responses-background');
    const { client } = await open();
    const { promise: isAnswered, resolve: goOn } = Promise.withResolvers<void>();
    const answer: Turn = async (call) => {
      await isAnswered;
      await say('Done.')(call);
    };
    play(rig, { Lead: [answer] });
    const begun = await client.responses.create({ input: 'Hi', background: true });
    assert.deepEqual([begun.status, begun.background], ['in_progress', true]);
    goOn();
    await until(async () => (await client.responses.retrieve(begun.id)).status === 'completed');
    const done = await client.responses.retrieve(begun.id);
    assert.deepEqual([done.output_text, done.background], ['Done.', true]);
  });

  test('continues after any event with the same events', async (t) => {
    cites(t, 'compatible-20-responses-resume');
    const { client } = await open();
    play(rig, everything);
    const { events, response } = await readAll(await client.responses.create({ input: 'Hi', stream: true }));
    for (const [index, { sequence_number: number }] of events.entries()) {
      const rest = [];
      const query = { stream: true, starting_after: number } as const;
      for await (const event of await client.responses.retrieve(response.id, query)) rest.push(event);
      assert.deepEqual(rest, events.slice(index + 1), `after ${number}`);
    }
    const again = await readAll(await client.responses.retrieve(response.id, { stream: true }));
    assert.deepEqual(again.events, events);
  });

  test('refuses in the shape of the API, and names the fields that are not used', async (t) => {
    cites(
      t,
      'compatible-20-openai-errors',
      'compatible-20-openai-retry',
      'compatible-20-openai-ignored',
      'compatible-20-openai-unsupported',
    );
    const { client, posts } = await open();
    const unknown = await refused(client.responses.create({ model: 'gpt-9', input: 'Hi' }));
    assert.deepEqual([unknown.status, unknown.code, unknown.type], [404, 'model_not_found', 'invalid_request_error']);
    for (const field of [
      { prompt: { id: 'p' } },
      { top_logprobs: 2 },
      { tools: [{ type: 'web_search' as const }] },
      { tool_choice: 'required' as const },
    ]) {
      const error = await refused(client.responses.create({ input: 'Hi', ...field }));
      assert.deepEqual([error.status, error.code], [400, 'unsupported_field'], JSON.stringify(field));
      assert.match(error.message, new RegExp(Object.keys(field)[0] ?? ''));
    }
    const both = await refused(client.responses.create({ input: 'Hi', conversation: 'c', previous_response_id: 'r' }));
    assert.deepEqual([both.status, both.code], [400, 'invalid_request']);
    assert.ok(posts.every(({ headers }) => headers.get('x-should-retry') === 'false'));
    assert.ok(posts.every(({ headers }) => headers.get('x-agent-run-admitted') === 'false'));
    play(rig, { Lead: [say('Hi.')] });
    await client.responses.create({
      temperature: 0.5,
      input: 'Hi',
      text: { verbosity: 'low', format: { type: 'text' } },
      reasoning: { effort: 'low' },
      instructions: 'Be kind.',
    });
    assert.equal(
      posts.at(-1)?.headers.get('x-runwire-ignored'),
      'temperature, text.verbosity, reasoning, instructions',
    );
    assert.equal(posts.length, 7, 'no refusal was posted again');
  });

  test('lists and reads models: the entry points', async (t) => {
    cites(t, 'compatible-20-openai-models', 'compatible-20-openai-model');
    const { client, id } = await open();
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names, ['Lead', 'Closer']);
    assert.equal((await client.models.retrieve('Closer')).id, 'Closer');
    assert.equal((await client.models.retrieve(id)).id, id);
    assert.equal((await refused(client.models.retrieve('Writer'))).code, 'model_not_found');
    play(rig, { Closer: [say('Bye.')], Lead: [say('Hi.')] });
    assert.equal((await client.responses.create({ model: 'Closer', input: 'Hi' })).model, 'Closer');
    assert.equal((await client.responses.create({ model: id, input: 'Hi' })).model, 'Lead');
  });

  test('a deleted response is not found, and its run remains', async (t) => {
    cites(t, 'compatible-20-responses-delete', 'compatible-20-responses-input-items');
    const { client, id } = await open();
    play(rig, { Lead: [say('Hi.')] });
    const { id: responseId } = await client.responses.create({ input: 'Hello' });
    const items = [];
    for await (const item of client.responses.inputItems.list(responseId)) items.push(item);
    assert.equal(items.length, 1);
    assert.deepEqual((items[0] as { content: unknown }).content, [{ type: 'input_text', text: 'Hello' }]);
    await client.responses.delete(responseId);
    assert.equal((await refused(client.responses.retrieve(responseId))).status, 404);
    assert.equal((await refused(client.responses.cancel(responseId))).status, 404);
    assert.equal((await refused(client.responses.delete(responseId))).status, 404);
    const { body } = await rig.api.get(`/v2/integrations/${id}/runs/${responseId.replace('resp_', 'run_')}`);
    assert.equal(body.status, 'completed');
  });

  test('a conversation is a chat', async (t) => {
    cites(t, 'compatible-20-conversations', 'compatible-20-responses-chat');
    const { client, id } = await open();
    const made = playHere({ Lead: [say('One.'), say('Two.')] });
    const { id: conversation } = await client.conversations.create({ metadata: { topic: 'a' } });
    await client.responses.create({ conversation, input: 'First' });
    await client.responses.create({ conversation: { id: conversation }, input: 'Second' });
    assert.equal(made()[1]?.request.prompt.length, 3);
    assert.deepEqual((await client.conversations.retrieve(conversation)).metadata, { topic: 'a' });
    assert.deepEqual((await client.conversations.update(conversation, { metadata: { topic: 'b' } })).metadata, {
      topic: 'b',
    });
    const texts = [];
    for await (const item of client.conversations.items.list(conversation, { limit: 3 })) {
      texts.push(item.type === 'message' ? (item.content[0] as { text: string }).text : item.type);
    }
    assert.deepEqual(texts, ['Two.', 'Second', 'One.', 'First']);
    const { body } = await rig.api.get(`/v2/integrations/${id}/chats/${conversation}`);
    assert.equal(body.numMessages, 4);
    await client.conversations.delete(conversation);
    assert.equal((await refused(client.conversations.retrieve(conversation))).status, 404);
    const gone = await refused(client.responses.create({ conversation, input: 'Third' }));
    assert.deepEqual([gone.status, gone.code], [404, 'chat_not_found']);
  });

  test('`previous_response_id` continues the chat, or a fork of it', async (t) => {
    cites(t, 'compatible-20-responses-previous');
    const { client, id } = await open();
    const made = playHere({ Lead: ['One.', 'Two.', 'Three.', 'Four.'].map((text) => say(text)) });
    const first = await client.responses.create({ input: 'First' });
    const second = await client.responses.create({ input: 'Second', previous_response_id: first.id });
    assert.equal(second.conversation?.id, first.conversation?.id);
    assert.equal(second.previous_response_id, first.id);
    const other = await client.responses.create({ input: 'Other', previous_response_id: first.id });
    assert.notEqual(other.conversation?.id, first.conversation?.id);
    const further = await client.responses.create({ input: 'More', previous_response_id: other.id });
    assert.equal(further.conversation?.id, other.conversation?.id);
    const texts = (index: number) =>
      made()[index]?.request.prompt.flatMap((item) => ('text' in item ? [item.text] : []));
    assert.deepEqual(texts(2), ['First', 'One.', 'Other']);
    assert.deepEqual(texts(3), ['First', 'One.', 'Other', 'Three.', 'More']);
    const { body } = await rig.api.get(`/v2/integrations/${id}/chats/${other.conversation?.id}`);
    assert.equal(body.forkedFrom.chatId, first.conversation?.id);
    const unknown = await refused(client.responses.create({ input: 'Hi', previous_response_id: 'resp_none' }));
    assert.deepEqual([unknown.status, unknown.code], [404, 'run_not_found']);
  });

  test('earlier items become the history of a transient chat', async (t) => {
    cites(t, 'compatible-20-responses-history');
    const { client, id } = await open({ callerInstructions: true });
    const made = playHere({ Lead: [calls(['c1', 'clock', {}]), say('Noon.'), say('Still noon.'), say('Short.')] });
    const first = await client.responses.create({ input: 'Time?', store: false });
    assert.equal((first as unknown as { store: boolean }).store, false);
    const { response } = await readAll(
      await client.responses.create({
        stream: true,
        input: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'Time?' },
          ...(first.output as never[]),
          { role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
        ],
      }),
    );
    assert.deepEqual(shownItems(response), [['message', 'completed', 'Still noon.']]);
    const { request } = made()[2] ?? {};
    assert.match(request?.instructions ?? '', /Be brief\.$/);
    assert.deepEqual(
      request?.prompt.map((item) => [
        item.kind,
        'text' in item ? item.text : 'output' in item ? item.output : item.name,
      ]),
      [
        ['user', 'Time?'],
        ['tool_call', 'clock'],
        ['tool_output', '12:00'],
        ['assistant', 'Noon.'],
        ['user', 'And now?'],
      ],
    );
    const { body } = await rig.api.get(`/v2/integrations/${id}/chats`);
    assert.deepEqual(body.items, [], 'transient chats are not listed');
    const { id: conversation } = await client.conversations.create({
      items: [
        { type: 'message', role: 'user', content: 'Hello' },
        { type: 'message', role: 'assistant', content: 'Hi there.' },
      ],
    });
    await client.responses.create({ conversation, input: 'Say it shorter.' });
    assert.equal(made()[3]?.request.prompt.length, 3);
  });

  test('a busy chat is refused once', async () => {
    const { client, posts } = await open();
    const { id: conversation } = await client.conversations.create({});
    posts.length = 0;
    play(rig, { Lead: [(call) => call.text('Half')] });
    const begun = await client.responses.create({ conversation, input: 'Hi', background: true });
    const busy = await refused(client.responses.create({ conversation, input: 'Again' }));
    assert.deepEqual([busy.status, busy.code], [409, 'run_active']);
    assert.equal((busy.error as { runId?: string }).runId, begun.id.replace('resp_', 'run_'));
    assert.equal(posts.length, 2);
    await client.responses.cancel(begun.id);
  });

  test('a client token starts and reads, and does not see what the backend sent', async (t) => {
    cites(t, 'compatible-20-openai-member', 'compatible-20-openai-tokens');
    const { client, id, baseURL, posts } = await open({ callerInstructions: true });
    play(rig, { Lead: [say('One.'), say('Two.')] });
    await rig.member(id, 'ann');
    const backend = await client.responses.create({
      input: 'Hi',
      instructions: 'Be brief.',
      metadata: { order: '7' },
      safety_identifier: 'ann',
    });
    assert.deepEqual([backend.instructions, backend.metadata], ['Be brief.', { order: '7' }]);
    assert.equal(backend.safety_identifier, 'ann');
    const { body } = await rig.api.post(`/v2/integrations/${id}/client_tokens`, {
      consumerId: 'ann',
      can: ['run', 'read'],
      expiresInSeconds: 600,
    });
    const page = clientAt(baseURL, body.clientToken, posts);
    posts.length = 0;
    const own = await page.responses.create({ input: 'Hi', safety_identifier: 'bob', user: 'bob' });
    assert.equal(own.output_text, 'Two.');
    assert.equal(posts[0]?.headers.get('x-runwire-ignored'), 'safety_identifier, user');
    assert.equal((await refused(page.models.list().then(() => {}))).code, 'token_forbidden');
  });

  test('structured output and what a request brought are returned', async (t) => {
    cites(t, 'compatible-20-responses-returned');
    const { client } = await open();
    play(rig, { Lead: [say('{"city":"Rome"}')] });
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const format = { type: 'json_schema' as const, name: 'place', schema, strict: false };
    const response = await client.responses.create({ input: 'Where?', text: { format } });
    assert.equal(response.output_text, '{"city":"Rome"}');
    assert.equal((response.text?.format as { name?: string } | undefined)?.name, 'place');
    assert.deepEqual((await client.responses.retrieve(response.id)).text, response.text);
  });
}
