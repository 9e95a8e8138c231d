import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { pickColumn } from './support/columns.ts';
import { KillableServer } from './support/killable-server.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

/* Runs for evals, as the API starts them. test/evals-command.test.ts has the command. */

const executed: string[] = [];

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: name,
    inputSchema: z.object({ n: z.number().optional() }),
    execute: (input) => {
      executed.push(name);
      return `${name} ${JSON.stringify(input)}`;
    },
    ...more,
  });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const shop = defineAgency({
  name: 'Shop',
  agents: [
    agent('Lead', {
      tools: [tool('buy'), tool('look', { repeatable: true }), tool('refund', { needsApproval: true })],
      settings: { temperature: 0.7, maxOutputTokens: 100 },
    }),
    agent('Billing', { tools: [tool('buy')] }),
  ],
  entryPoints: ['Lead'],
  flows: [
    { from: 'Lead', to: 'Billing' },
    { from: 'Lead', to: 'Billing', kind: 'handoff' },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    executed.length = 0;
    integration = await rig.integration({ agency: 'shop', allowances: { unit: 'runs', limit: 1, period: 'day' } });
    below = `/v2/integrations/${integration}`;
  });

  const evaluate = async (request: object, more: object = {}) => {
    const reader = await rig.api.evaluate(integration, { request: { message: 'Go.', ...request }, ...more });
    if (reader.status !== 200) await reader.over;
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { run_id: runId, ...frame } = messagesFrame(reader);
    return { runId, headers: reader.headers, ...frame };
  };
  const script = (turns: Parameters<typeof play>[1]) => {
    const all = play(rig, turns);
    const before = all.length;
    return (index: number) => all[before + index]?.request;
  };
  const outputs = (frame: { new_messages: readonly { type: string; output?: string }[] }) =>
    frame.new_messages.flatMap(({ type, output }) => (type === 'function_call_output' ? [output] : []));

  test('a run for an eval gets the given outcomes and executes nothing else', async (t) => {
    cites(
      t,
      ...(['contract-3-eval', 'contract-25-run', 'contract-25-tools', 'contract-25-recorded'] as const),
      ...(['contract-25-others', 'contract-25-flows', 'contract-25-free'] as const),
    );
    script({
      Lead: [
        calls(['c1', 'buy', { n: 1 }], ['c2', 'buy', { n: 2 }], ['c3', 'look', {}], ask('c4', 'Billing', 'Hi')),
        calls(['c5', 'refund', { n: 1 }]),
      ],
      Billing: [calls(['d1', 'buy', { n: 1 }]), say('Billed.')],
    });
    const recorded = [
      { agent: 'Lead', tool: 'buy', arguments: '{ "n": 1 }', output: 'recorded' },
      { agent: 'Lead', tool: 'look', arguments: '{}', output: 'not used' },
    ];
    const frame = await evaluate({}, { tools: { look: { output: { seen: true } } }, recorded });
    const NOT = 'Not executed: this is a rerun with recorded tools.';
    assert.deepEqual(outputs(frame).toSorted(), ['recorded', NOT, NOT, 'Billed.', '{"seen":true}'].toSorted());
    assert.deepEqual(executed, []);
    assert.deepEqual(pickColumn(frame.pending, 'tool'), ['refund']);

    const run = (await rig.api.get(`${below}/runs/${frame.runId}`)).body;
    assert.deepEqual([run.rerunOf, run.consumerId, run.status], [null, null, 'completed']);
    assert.deepEqual((await rig.api.get(`${below}/runs?rerunOf=${frame.runId}`)).body.items, []);
    assert.deepEqual((await rig.api.get(`${below}/chats`)).body.items, []);
    const [record] = (await rig.api.get(`${below}/usage?rerun=true`)).body.items;
    assert.deepEqual([record.runId, record.rerun, record.charged], [frame.runId, true, null]);
    assert.deepEqual((await rig.api.get(`${below}/usage?rerun=false`)).body.items, []);
  });

  test('a tool without an outcome is executed if it may be repeated', async (t) => {
    cites(t, 'contract-25-others');
    script({ Lead: [calls(['c1', 'look', { n: 1 }]), say('Done.')] });
    assert.deepEqual(outputs(await evaluate({})), ['look {"n":1}']);
    assert.deepEqual(executed, ['look']);
  });

  test('the request changes model, instructions, history and schema, and can be replayed', async (t) => {
    cites(t, 'contract-25-request', 'contract-25-changes', 'contract-25-run');
    const request = script({ Lead: [say('{"n":1}')] });
    const history = [
      { role: 'user', content: 'Earlier.' },
      { role: 'assistant', content: 'Yes.' },
    ];
    const body = {
      ...{ agent: 'Lead', agency: 'shop', model: 'scripted/model', instructions: 'You are Lead. Be brief.', history },
      user_context: { plan: 'pro' },
      outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    };
    const first = await evaluate(body, { usageRequestId: 'eval-1' });
    const again = await evaluate(body, { usageRequestId: 'eval-1' });
    assert.deepEqual([again.runId, again.headers['x-run-replayed']], [first.runId, 'true']);
    assert.deepEqual(first.output, { n: 1 });
    const asked = request(0);
    assert.equal(asked?.instructions, 'You are Lead. Be brief.');
    assert.deepEqual(
      asked?.prompt.map((item) => ('text' in item ? item.text : item.kind)),
      ['Earlier.', 'Yes.', 'Go.'],
    );
    for (const [changed, code] of [
      [{ agency: 'none' }, 'unknown_agency'],
      [{ agent: 'none' }, 'unknown_agent'],
      [{ model: 'none/x' }, 'invalid_request'],
      [{ outputSchema: { type: 'wrong' } }, 'invalid_request'],
    ] as const) {
      const { status, body: answer } = await refusal(
        await rig.api.evaluate(integration, { request: { message: 'Go.', ...changed } }),
      );
      assert.deepEqual([status, answer.code], [400, code]);
    }
  });

  test('a run for an eval keeps its outcomes after a takeover', async (t) => {
    cites(t, 'contract-25-tools', 'contract-25-recorded');
    await using server = await KillableServer.start({ store });
    await server.metered();
    const { controller } = server;
    const recorded = [{ agent: 'Clerk', tool: 'echo', arguments: '{"n":1}', output: 'recorded' }];
    const reader = await server.api.evaluate('mine', { request: { message: 'Do it' }, recorded });
    const echo = async (call: Awaited<ReturnType<typeof controller.nextCall>>, id: string) => {
      await call.toolCall(id, 'echo', '{"n":1}');
      await call.end();
      return controller.nextCall();
    };
    const held = await echo(await controller.nextCall(), 'x');
    await server.process.kill();
    await reader.over;
    await server.startAgain();
    const repeated = await controller.nextCall();
    assert.deepEqual(repeated.request.prompt, held.request.prompt);
    const last = await echo(repeated, 'y');
    const outputs = last.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    assert.deepEqual(outputs, ['recorded', 'recorded']);
    await last.end();
    await (await server.api.events(String(reader.headers['x-run-id']), 0, 'mine')).whole();
  });

  test('no client token can start a run for an eval', async (t) => {
    cites(t, 'contract-25-token');
    await rig.member(integration, 'ann');
    const { clientToken } = (await rig.api.post(`${below}/client_tokens`, { consumerId: 'ann' })).body;
    const foreign = await rig.api.as(clientToken).post(`${below}/evals/run`, { request: { message: 'Go.' } });
    assert.deepEqual([foreign.status, foreign.body.code], [403, 'token_forbidden']);
  });

  test('an agent that is alone has no tools and no settings, in its prompt too', async (t) => {
    cites(t, 'contract-25-alone');
    const request = script({ Lead: [say('0.5')] });
    const { runId } = await evaluate({ alone: true });
    const { tools, settings } = request(0) ?? {};
    assert.deepEqual([tools, settings], [[], { temperature: 0 }]);
    const prompt = (await rig.api.get(`${below}/runs/${runId}/steps/1/prompt`)).body;
    assert.deepEqual([prompt.tools, prompt.settings.temperature, prompt.exact], [[], 0, true]);
  });
}
