import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ModelCall, STORES, type StoreName } from '@runwire/test-kit';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

const agent = (name: string, tools: NonNullable<Parameters<typeof defineAgent>[0]['tools']> = []) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, tools });

const note = defineTool({
  name: 'note',
  description: 'Notes it.',
  inputSchema: { type: 'object' },
  execute: () => 'noted',
});

/** Lead asks Research and Facts; Research asks Facts; Lead hands over to Closer. */
const team = defineAgency({
  name: 'Team',
  agents: [agent('Lead'), agent('Research'), agent('Facts', [note]), agent('Closer')],
  flows: [
    { from: 'Lead', to: 'Research' },
    { from: 'Lead', to: 'Facts' },
    { from: 'Research', to: 'Facts' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
    { from: 'Closer', to: 'Lead', kind: 'handoff' },
  ],
});

type Turn = (call: ModelCall) => Promise<void>;

const say =
  (text: string): Turn =>
  async (call) => {
    await call.text(text);
    await call.end();
  };

const calls =
  (...made: readonly (readonly [id: string, name: string, given: object])[]): Turn =>
  async (call) => {
    for (const [id, name, given] of made) await call.toolCall(id, name, JSON.stringify(given));
    await call.end();
  };

const ask = (id: string, to: string, message: string, more = {}) =>
  [id, 'send_message', { recipient_agent: to, message, ...more }] as const;

const agentOf = (call: ModelCall) => /^You are (\w+)\./.exec(call.request.instructions)?.[1] ?? '';

/** Each agent plays its turns in their order. */
function play(rig: ScriptedServer, turns: Readonly<Record<string, readonly Turn[]>>): readonly ModelCall[] {
  const played = new Map<string, number>();
  rig.controller.onCall = (call) => {
    const name = agentOf(call);
    const index = played.get(name) ?? 0;
    played.set(name, index + 1);
    const turn = turns[name]?.[index];
    if (turn === undefined) throw new Error(`${name} has no turn ${index + 1}.`);
    void turn(call);
  };
  return rig.controller.calls;
}

const start = (store: StoreName) => ScriptedServer.start({ store, agencies: { team } });

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('an agent asks two others concurrently, and one of them asks a third', async () => {
    await using rig = await start(store);
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const made = play(rig, {
      Lead: [calls(ask('c1', 'Research', 'Find it.'), ask('c2', 'Facts', 'When?')), say('Both agree.')],
      Research: [calls(ask('c3', 'Facts', 'Is it so?', { additional_instructions: 'Be brief.' })), say('It is so.')],
      Facts: [say('In May.'), say('Yes.')],
    });
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c', message: 'Check.' });
    await reader.whole();
    const { new_messages: items, status } = messagesFrame(reader);
    assert.equal(status, 'completed');
    const outputs = Object.fromEntries(
      items.flatMap((item: Record<string, string>) =>
        item.type === 'function_call_output' ? [[item.call_id, item.output]] : [],
      ),
    );
    assert.deepEqual(outputs.c1, 'It is so.');
    assert.deepEqual(new Set([outputs.c2, outputs.c3]), new Set(['In May.', 'Yes.']));
    const brief = made.find((call) => call.request.instructions.includes('Be brief.'));
    assert.equal(brief?.request.instructions, 'You are Facts.\n\nBe brief.');
    assert.deepEqual(brief?.request.prompt, [{ kind: 'user', text: 'Is it so?' }]);
    const chat = await rig.api.get(`/v2/integrations/${apiIntegrationId}/chats/c/messages`);
    assert.deepEqual(chat.body.items.map(({ content }: { content: string }) => content).toSorted(), [
      'Both agree.',
      'Check.',
    ]);
  });
}
