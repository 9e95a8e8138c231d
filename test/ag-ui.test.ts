import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { type BaseEvent, HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName, TEST_API_KEY } from '@runwire/test-kit';
import { z } from 'zod';
import { ask, calls, play, say, type Turn } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays money back.',
  inputSchema: z.object({ cents: z.number().int() }),
  needsApproval: true,
  execute: ({ cents }, { approval }) => `refunded ${cents} ${approval?.reason ?? ''}`,
});
const clock = defineTool({ name: 'clock', description: 'Time.', inputSchema: z.object({}), execute: () => '12:00' });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', { tools: { refund, clock } }),
    agent('Billing', { tools: [refund, clock] }),
    agent('Clerk'),
    agent('Closer'),
  ],
  entryPoints: ['Lead', 'Closer'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Billing', to: 'Clerk' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

const think =
  (thought: string, text: string): Turn =>
  async (call) => {
    await call.reasoning(thought);
    await call.text(text);
    await call.end();
  };

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  beforeEach(async () => {
    integration = await rig.integration({ agency: 'shop', clientTools: true });
  });

  const page = (threadId = randomUUID(), path = '') => {
    const url = `${rig.server.url}/v2/integrations/${integration}/ag-ui${path}`;
    return new HttpAgent({ url, threadId, headers: { Authorization: `Bearer ${TEST_API_KEY}` } });
  };

  /** Runs the agent, whose client verifies every event, and returns them. */
  async function run(client: HttpAgent, message: string | null, parameters: RunAgentParameters = {}) {
    if (message !== null) client.addMessage({ id: randomUUID(), role: 'user', content: message });
    const events: BaseEvent[] = [];
    const { newMessages, result } = await client.runAgent(parameters, {
      onEvent: ({ event }) => {
        events.push(event);
      },
    });
    return { events, newMessages, result, end: events.at(-1) as BaseEvent };
  }

  test('smoke', async () => {
    play(rig, { Lead: [think('Hm.', 'Hello'), calls(['c1', 'clock', {}]), say('Noon')] });
    const client = page();
    const first = await run(client, 'Hi', { runId: 'r1' });
    console.log(JSON.stringify(first, null, 1));
    const second = await run(client, 'Time?');
    console.log(JSON.stringify(second.events), JSON.stringify(second.newMessages));
  });
  test('agents', async () => {
    play(rig, {
      Lead: [calls(ask('d1', 'Billing', 'Do')), say('Done')],
      Billing: [calls(['c2', 'clock', {}], ask('d2', 'Clerk', 'x')), say('I did.')],
      Clerk: [say('clerk')],
    });
    const client = page();
    const first = await run(client, 'Hi', { runId: 'r1' });
    for (const e of first.events) console.log(JSON.stringify(e));
  });
  test('approval in a delegated agent', async () => {
    play(rig, {
      Lead: [calls(ask('d1', 'Billing', 'Do'), ['p1', 'pos', {}], ['c9', 'clock', {}]), say('Done')],
      Billing: [calls(['c2', 'refund', { cents: 3 }]), say('I did.')],
      Clerk: [say('clerk')],
    });
    const client = page();
    const tools = [{ name: 'pos', description: 'x', parameters: { type: 'object', properties: {} } }];
    const first = await run(client, 'Hi', { runId: 'r1', tools });
    for (const e of first.events) console.log(JSON.stringify(e));
    const [i] = client.pendingInterrupts;
    const pos = first.events.find((e) => e.toolCallName === 'pos');
    client.addMessage({ id: 'out', role: 'tool', toolCallId: String(pos.toolCallId), content: 'here' });
    const second = await run(client, null, {
      runId: 'r2',
      tools,
      resume: [{ interruptId: i.id, status: 'resolved', payload: { approved: true, reason: 'ok' } }],
    });
    for (const e of second.events) console.log(JSON.stringify(e));
    console.log(JSON.stringify(client.messages, null, 1));
  });
}
