import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ModelCall, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { askStore } from './support/ask-store.ts';
import { ask, calls, play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const inputSchema = { type: 'object' };
const note = defineTool({ name: 'note', description: 'Notes.', inputSchema, execute: () => 'noted '.repeat(40) });
const refund = defineTool({
  ...{ name: 'refund', description: 'Pays back.', inputSchema, needsApproval: true },
  execute: () => 'refunded',
});
/** How often code of the agency was asked for instructions. */
let written = 0;

const agent = (name: string, more: object = {}) =>
  defineAgent({
    name,
    description: `${name} is asked.`,
    instructions: `You are ${name}. Today is {{date}}, and {{member.name}} asks.`,
    files: false,
    ...more,
  });

const office = defineAgency({
  name: 'Office',
  // The tests of long chats rebuild prompts with summaries.
  longChats: 'leave_out',
  agents: [
    agent('Lead', { tools: [note, refund], settings: { temperature: 0.5, toolChoice: 'required' } }),
    agent('Facts', { tools: [note] }),
    agent('Closer', { files: true }),
    agent('Told', {
      instructions: () => {
        written += 1;
        return 'You are Told.';
      },
    }),
    agent('Private', { instructions: 'You are Private. {{user_context.secret}}' }),
  ],
  entryPoints: ['Lead', 'Told', 'Private'],
  flows: [
    { from: 'Lead', to: 'Facts' },
    { from: 'Lead', to: 'Closer', kind: 'handoff' },
  ],
});

type SentItem = ModelCall['request']['prompt'][number];

/** The item in the form of `new_messages`. */
function toItem(item: SentItem): object {
  if (item.kind === 'user') return { type: 'message', role: 'user', content: item.text };
  if (item.kind === 'assistant') {
    return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: item.text, annotations: [] }] };
  }
  return item.kind === 'tool_call'
    ? { type: 'function_call', call_id: item.callId, name: item.name, arguments: item.arguments }
    : { type: 'function_call_output', call_id: item.callId, output: item.output };
}

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('the prompt of every step is what its model was sent', async (t) => {
    cites(
      t,
      'contract-3-step-prompt',
      'contract-8-404-step-not-found',
      'contract-26-prompt',
      'contract-26-prompt-exact',
      'contract-26-message-calls',
    );
    await using rig = await ScriptedServer.start({
      store,
      agencies: { office },
      env: { RUNWIRE_MODEL_WINDOW: '1500' },
    });
    const apiIntegrationId = await rig.integration({ agency: 'office', callerInstructions: true });
    await rig.member(apiIntegrationId, 'ann', { name: 'Ann' });
    const below = `/v2/integrations/${apiIntegrationId}`;
    const turn = async (message: string, more: object = {}) => {
      const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', consumerId: 'ann', message, ...more });
      await reader.whole();
      return String(reader.headers['x-run-id']);
    };
    const made = play(rig, {
      Lead: [
        calls(ask('d1', 'Facts', 'When?'), ['n1', 'note', {}]),
        calls(['r1', 'refund', {}]),
        say('Refunded.'),
        calls(ask('d2', 'Facts', 'Where?')),
        calls(['h1', 'transfer_to_Closer', {}]),
        calls(['n2', 'note', {}], ['n3', 'note', {}]),
        async (call) => void call.fail('model_error', 'It broke.'),
        say('Hello again.'),
        ...Array.from({ length: 3 }, () => say('Well.')),
      ],
      Facts: [calls(['f1', 'note', {}]), say('In May.'), say('There.')],
      Closer: [say('Bye.')],
    });
    const asking = await turn('Please, when?');
    const [question] = (await rig.api.get(`${below}/chats/c1`)).body.pending;
    const answers = [{ questionId: question.questionId, approve: true, reason: 'Fine.' }];
    const continuing = await turn('Yes.', { answers });
    await turn('And where?', { instructions: 'Be short.' });
    await turn('Note all of it.');
    for (let n = 0; n < 4; n += 1) await turn('Long. '.repeat(150)).catch(() => {});
    assert.ok(made.length >= 12, `${made.length} calls`);
    for (const { request } of made) {
      const { runId, step, instructions, prompt, tools, settings } = request;
      const { status, body } = await rig.api.get(`${below}/runs/${runId}/steps/${step}/prompt`);
      const about = `step ${step} of ${JSON.stringify(prompt)}`;
      assert.equal(status, 200, about);
      assert.equal(body.instructions, instructions, about);
      assert.deepEqual(body.messages, prompt.map(toItem), about);
      assert.deepEqual(body.tools, tools, about);
      assert.deepEqual(body.settings, settings, about);
      assert.deepEqual([body.model, body.exact], ['scripted/model', true], about);
      assert.match(body.agencyVersion, /^[0-9a-f]{16}$/);
    }
    const isCut = made.some(
      ({ request }) => request.prompt[0]?.kind === 'user' && request.prompt[0].text.startsWith('Long'),
    );
    assert.ok(isCut, 'turns were left out');
    const { items: steps } = (await rig.api.get(`${below}/runs/${asking}/steps`)).body;
    const { step: ofTool } = steps.find((one: { kind: string }) => one.kind === 'tool');
    for (const step of [ofTool, 99]) {
      const { status, body } = await rig.api.get(`${below}/runs/${asking}/steps/${step}/prompt`);
      assert.deepEqual([status, body.code], [404, 'step_not_found']);
    }
    const { items } = (await rig.api.get(`${below}/chats/c1/messages?limit=200`)).body;
    const find = (runId: string, role: string) =>
      items.find((one: { runId: string; role: string }) => one.runId === runId && one.role === role);
    const call = (step: number, tool: string, status: string, callId: string) => ({
      step,
      tool,
      status,
      agent: 'Lead',
      callId,
    });
    const own = find(asking, 'assistant').calls.filter((one: { agent: string }) => one.agent === 'Lead');
    assert.deepEqual(
      own.map(({ step: _, ...one }: { step: number }) => one).sort(byId),
      [
        call(0, 'send_message', 'completed', 'd1'),
        call(0, 'note', 'completed', 'n1'),
        call(0, 'refund', 'waiting', 'r1'),
      ]
        .map(({ step: _, ...one }) => one)
        .sort(byId),
    );
    const [{ at, ...answer }] = find(continuing, 'user').answers;
    const by = { kind: 'key', id: null, name: 'RUNWIRE_API_KEY' };
    const { questionId } = question;
    const unchanged = { changedArguments: null, remember: null };
    assert.deepEqual(answer, { questionId, tool: 'refund', decision: 'approved', reason: 'Fine.', ...unchanged, by });
    assert.ok(Date.parse(at) > 0);
    assert.deepEqual([find(asking, 'user').answers, find(continuing, 'user').calls], [[], []]);
  });

  test('a prompt runs no code of the agency, and knows no user_context', async (t) => {
    cites(t, 'contract-26-prompt-source', 'contract-26-prompt-exact');
    await using rig = await ScriptedServer.start({ store, agencies: { office } });
    const apiIntegrationId = await rig.integration({ agency: 'office' });
    const read = async (agentName: string) => {
      rig.controller.onCall = (call) => void call.text('Hi').then(() => call.end());
      const reader = await rig.api.complete({
        apiIntegrationId,
        agent: agentName,
        message: 'Hi',
        user_context: { secret: 's3' },
      });
      await reader.whole();
      return rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${reader.headers['x-run-id']}/steps/1/prompt`);
    };
    const told = await read('Told');
    assert.deepEqual([told.body.instructions, told.body.exact, written], [null, false, 1]);
    written = 0;
    const { instructions, exact } = (await read('Private')).body;
    assert.match(instructions, /You are Private\. \{\{user_context\.secret\}\}$/);
    assert.equal(exact, false);
  });

  test('the definition of a version that is not loaded any more shows the prompt', async (t) => {
    cites(t, 'contract-26-prompt-source', 'contract-26-prompt-exact');
    const agency = (text: string) => `name: Desk\nagents:\n  - { name: Clerk, instructions: ${text} }\n`;
    using folder = new AgenciesFolder({ 'desk/agency.yaml': agency('Sell shoes.') });
    const env = { RUNWIRE_AGENCIES_DIR: folder.path, RUNWIRE_AGENCIES_WATCH: 'true' };
    await using rig = await ScriptedServer.start({ store, env });
    rig.controller.onCall = (call) => void call.text('Hi').then(() => call.end());
    const apiIntegrationId = await rig.integration({ agency: 'desk' });
    const below = `/v2/integrations/${apiIntegrationId}`;
    const { sweepDefinitions } = rig.server.server.probes;
    const { dataDir } = rig.server;
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', message: 'Hi' });
    await reader.whole();
    const read = async () => (await rig.api.get(`${below}/runs/${reader.headers['x-run-id']}/steps/1/prompt`)).body;
    const first = await read();
    assert.deepEqual([first.instructions, first.exact], ['Sell shoes.', true]);
    await sweepDefinitions();
    folder.write({ 'desk/agency.yaml': agency('Sell hats.') });
    const versions = async () => {
      const { items } = (await rig.api.get('/v2/agencies')).body;
      return items.find((one: { agency: string }) => one.agency === 'desk').version;
    };
    while ((await versions()) === first.agencyVersion) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(await read(), { ...first, exact: false });

    // As if no node had loaded the version for a day. The run keeps it, until its chat is deleted.
    const age = () =>
      askStore(dataDir, `update agency_definitions set seen_at = 1 where version = '${first.agencyVersion}'`);
    await age();
    assert.equal(await sweepDefinitions(), 0);
    assert.equal((await read()).instructions, 'Sell shoes.');
    await rig.api.delete(`${below}/chats/c1`);
    assert.equal(await sweepDefinitions(), 1);
    const { body } = await rig.api.get(`${below}/runs/${reader.headers['x-run-id']}/steps/1/prompt`);
    assert.equal(body.code, 'chat_not_found');
  });
}

const byId = (one: { callId: string }, other: { callId: string }) => one.callId.localeCompare(other.callId);
