import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { openaiClient, readAll, refunds, shownItems, team } from './support/openai-team.ts';
import { calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/* The official client, unchanged, answers what a response asks: calls of its own tools, and approvals. */

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { team } });
  /** Plays the turns. Returns the calls of the model since then. */
  const playHere = (turns: Parameters<typeof play>[1]) => {
    const before = rig.controller.calls.length;
    const all = play(rig, turns);
    return () => all.slice(before);
  };
  const open = (fields: object = {}) => openaiClient(rig, fields);

  test('outputs continue the chat that asked, by the ids of the calls alone', async (t) => {
    cites(t, 'compatible-20-responses-stateless');
    const { client, id } = await open({ clientTools: true });
    const made = playHere({ Lead: [calls(['c1', 'where', {}]), say('There.'), say('Imported.')] });
    const tools = [{ type: 'function' as const, name: 'where', parameters: { type: 'object' }, strict: false }];
    const asked = await client.responses.create({ input: 'Where?', tools });
    const call = asked.output[0];
    assert.ok(call?.type === 'function_call');
    const input = [
      { role: 'user' as const, content: 'Where?' },
      call,
      { type: 'function_call_output' as const, call_id: call.call_id, output: 'Here' },
    ];
    const next = await client.responses.create({ input, tools });
    assert.equal(next.conversation?.id, asked.conversation?.id);
    assert.deepEqual(shownItems(next), [['message', 'completed', 'There.']]);
    // The question is answered, so the same items are history now.
    const again = await client.responses.create({ input, tools });
    assert.notEqual(again.conversation?.id, asked.conversation?.id);
    assert.deepEqual(
      made()[2]?.request.prompt.map(({ kind }) => kind),
      ['user', 'tool_call', 'tool_output'],
    );
    assert.equal((await rig.api.get(`/v2/integrations/${id}/runs`)).body.items.length, 3);
  });

  test('a tool of the caller', async (t) => {
    cites(t, 'compatible-20-responses-function-call');
    const { client } = await open({ clientTools: true });
    const made = playHere({ Lead: [calls(['c1', 'clock', {}], ['c2', 'where', { exact: true }]), say('There.')] });
    const where = { type: 'object', properties: { exact: { type: 'boolean' } }, required: ['exact'] };
    const tools = [{ type: 'function' as const, name: 'where', parameters: where, strict: true }];
    const stream = client.responses.stream({ input: 'Where?', tools });
    const { response } = await readAll(stream);
    assert.deepEqual(shownItems(response).sort(), [
      ['function_call', 'where', '{"exact":true}'],
      ['mcp_call', 'clock', '{}', '12:00'],
    ]);
    const call = response.output.find(({ type }) => type === 'function_call');
    assert.ok(call?.type === 'function_call');
    const conversation = response.conversation?.id ?? '';
    const input = [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'Here' }];
    const next = await client.responses.create({ conversation, input, tools });
    assert.deepEqual(shownItems(next), [['message', 'completed', 'There.']]);
    assert.deepEqual(
      made()[1]?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : [])),
      ['12:00', 'Here'],
    );
    const items = [];
    for await (const item of client.responses.inputItems.list(next.id)) items.push(item);
    assert.deepEqual(
      items.map((item) => [item.type, 'call_id' in item ? item.call_id : '', 'output' in item ? item.output : '']),
      [['function_call_output', call.call_id, 'Here']],
    );
  });

  test('an approval', async (t) => {
    cites(t, 'compatible-20-responses-approval');
    const { client } = await open();
    refunds.length = 0;
    play(rig, { Lead: [calls(['c1', 'refund', { cents: 5 }]), say('Paid.')] });
    const asked = await client.responses.create({ input: 'Refund!' });
    assert.deepEqual(shownItems(asked), [['mcp_approval_request', 'refund', '{"cents":5}']]);
    const request = asked.output[0];
    assert.ok(request?.type === 'mcp_approval_request');
    assert.deepEqual(refunds, []);
    const response = await client.responses.create({
      conversation: asked.conversation?.id ?? '',
      input: [{ type: 'mcp_approval_response', approval_request_id: request.id, approve: true }],
    });
    assert.deepEqual(shownItems(response), [
      ['mcp_call', 'refund', '{"cents":5}', 'refunded 5'],
      ['message', 'completed', 'Paid.'],
    ]);
    assert.deepEqual(refunds, [5]);
    assert.deepEqual((await client.responses.retrieve(response.id)).output, response.output);
  });
}
