import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type AboutStep, defineAgency, defineAgent, defineTool, delegate, handOff } from '@runwire/agency';
import { type ModelCall, STORES, type StoreName } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ask, calls, getAgent, play, say } from './support/play.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

/* Tools and flows that functions hide from the model in single steps. */

/** What each function was asked about, in order, and what it returns. If a test has no rule, it returns true. */
const asked: { readonly name: string; readonly about: AboutStep }[] = [];
let rules: Readonly<Record<string, (about: AboutStep) => unknown>> = {};

const rule = (name: string) => ({
  isEnabled: (about: AboutStep) => {
    asked.push({ name, about });
    return (rules[name]?.(about) ?? true) as boolean;
  },
});

const made: unknown[] = [];

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object', properties: { plan: { type: 'string' } } },
    execute: (input, { state }) => {
      made.push([name, input]);
      const { plan } = input as { plan?: string };
      if (plan !== undefined) state.set('plan', plan);
      return `${name} is done`;
    },
    ...more,
  });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} helps.`, instructions: `You are ${name}.`, files: false, ...more });

const lead = agent('Lead', {
  tools: [tool('choose'), tool('refund', { ...rule('refund'), needsApproval: true }), tool('look_up', rule('look_up'))],
});
const helper = agent('Helper', { tools: [tool('look_up', rule('helper_look_up'))] });
const plain = agent('Plain', { tools: [tool('choose', rule('plain_choose'))], settings: { toolChoice: 'choose' } });

const shop = defineAgency({
  name: 'Shop',
  agents: [lead, helper, agent('Writer'), agent('Closer'), plain, agent('Alone', { tools: [tool('choose')] })],
  flows: [
    delegate(lead, helper, rule('to_helper')),
    delegate(lead, 'Writer'),
    handOff(lead, 'Closer', rule('to_closer')),
    { from: 'Plain', to: '*', kind: 'handoff', ...rule('plain_to_all') },
  ],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    asked.length = 0;
    made.length = 0;
    rules = {};
    integration = await rig.integration({ agency: 'shop' });
    below = `/v2/integrations/${integration}`;
  });

  const read = async (path: string) => (await rig.api.get(`${below}${path}`)).body;
  const steps = async (runId: string) => (await read(`/runs/${runId}/steps`)).items.toReversed();
  const send = async (turns: Parameters<typeof play>[1], body: object = {}) => {
    const all = play(rig, turns);
    const before = all.length;
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const end = messagesFrame(reader);
    return { end, runId: end.run_id as string, reader, models: all.slice(before) };
  };
  const names = ({ request }: ModelCall) => request.tools.map(({ name }) => name);
  const outputs = (call: ModelCall | undefined) =>
    call?.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  const hidden = async (runId: string) => (await steps(runId)).map((step: { hidden: unknown }) => step.hidden);
  const once = (id: string, name: string, given = {}) => calls([id, name, given]);

  test('a change of the state shows a tool in the next step of the same run', async (t) => {
    cites(t, 'agents-34-enabled', 'agents-34-enabled-about', 'agents-34-enabled-once', 'agents-34-enabled-stored');
    rules = { refund: ({ state }) => state.plan === 'pro', to_closer: () => false, look_up: async () => true };
    await rig.member(integration, 'ann', { name: 'Ann' });
    const { models, runId, end } = await send(
      { Lead: [once('a', 'choose', { plan: 'pro' }), say('Done.')] },
      { consumerId: 'ann', user_context: { shop: 1 } },
    );
    assert.equal(end.status, 'completed');
    assert.deepEqual(models.map(names), [
      ['choose', 'look_up', 'send_message'],
      ['choose', 'refund', 'look_up', 'send_message'],
    ]);
    assert.deepEqual(
      asked.map(({ name }) => name),
      ['refund', 'look_up', 'to_helper', 'to_closer', 'refund', 'look_up', 'to_helper', 'to_closer'],
    );
    const all = await steps(runId);
    const closer = { kind: 'handoff', name: 'Closer' };
    assert.deepEqual(
      all.map((step: { hidden: unknown }) => step.hidden),
      [[{ kind: 'tool', name: 'refund' }, closer], [], [closer]],
    );
    const [first, , , , later] = asked.map(({ about }) => about) as AboutStep[];
    assert.ok(first !== undefined && later !== undefined);
    const { state, date, ...others } = first;
    assert.deepEqual(others, {
      agent: 'Lead',
      member: { consumerId: 'ann', name: 'Ann', metadata: {} },
      userContext: { shop: 1 },
    });
    assert.deepEqual([state, later.state], [{}, { plan: 'pro' }]);
    assert.deepEqual([date.toISOString(), later.date.toISOString()], [all[0].startedAt, all[2].startedAt]);
  });

  test('a function has its own copies and cannot change the state', async (t) => {
    cites(t, 'agents-34-enabled-about');
    rules = {
      refund: ({ state, date }) => {
        (state as Record<string, unknown>).plan = 'changed';
        date.setTime(0);
        return false;
      },
      look_up: ({ state, date }) => state.plan === undefined && date.getTime() > 0,
    };
    const { models, runId } = await send({ Lead: [say('Done.')] });
    assert.deepEqual(names(models[0] as ModelCall).slice(0, 2), ['choose', 'look_up']);
    assert.deepEqual(await read('/chats/c/state'), {});
    assert.deepEqual(await hidden(runId), [[{ kind: 'tool', name: 'refund' }]]);
  });

  test('a call of what is hidden gets the output of an unknown tool, and nothing is executed', async (t) => {
    cites(t, 'agents-34-enabled-hidden');
    rules = { refund: () => false, to_helper: () => false, to_closer: () => false };
    const all = calls(
      ['a', 'refund', { plan: 'no' }],
      ['b', 'transfer_to_Closer', {}],
      ask('c', 'Helper', 'Help.'),
      ask('d', 'Writer', 'Write.'),
    );
    const { models, end } = await send({ Lead: [all, say('Done.')], Writer: [say('Written.')] });
    const [first] = models;
    const sent = first?.request.tools.find(({ name }) => name === 'send_message');
    assert.ok(sent !== undefined);
    const { recipient_agent: to } = (sent.inputSchema as { properties: Record<string, { enum?: unknown }> }).properties;
    assert.deepEqual(to?.enum, ['Writer']);
    assert.doesNotMatch(sent.description, /Helper/);
    assert.deepEqual(outputs(models.at(-1)), [
      'There is no tool `refund`.',
      'There is no tool `transfer_to_Closer`.',
      '`recipient_agent` must be one of `Writer`.',
      'Written.',
    ]);
    assert.deepEqual([made, end.pending], [[], []]);
  });

  test('a wildcard hides each of its flows, and a tool that is hidden is not chosen', async (t) => {
    cites(t, 'agents-34-enabled-hidden');
    rules = { plain_to_all: () => false };
    const { models, runId } = await send({ Plain: [say('Done.')] }, { agent: 'Plain' });
    assert.deepEqual(names(models[0] as ModelCall), ['choose']);
    assert.equal((await hidden(runId))[0].length, 5);
    const choice = (call: ModelCall | undefined) => call?.request.settings?.toolChoice;
    rules = { plain_choose: () => false };
    const free = await send({ Plain: [say('Done.')] }, { agent: 'Plain', chatId: 'free' });
    assert.deepEqual([choice(models[0]), choice(free.models[0])], ['choose', 'auto']);
    rules = { look_up: () => false };
    const alone = await send({ Alone: [say('Done.')] }, { agent: 'Alone', chatId: 'd' });
    assert.deepEqual([names(alone.models[0] as ModelCall), await hidden(alone.runId)], [['choose'], [[]]]);
    assert.deepEqual(
      asked.filter(({ about }) => about.agent === 'Alone'),
      [],
    );
  });

  test('a hidden call stays hidden in a shown prompt and in a rerun, and an approved call is made', async (t) => {
    cites(t, 'agents-34-enabled-stored');
    rules = { look_up: ({ state }) => state.plan === undefined, to_helper: () => false };
    const { end, runId } = await send({ Lead: [once('a', 'choose', { plan: 'pro' }), once('b', 'refund')] });
    const before = asked.length;
    const prompt = async (step: number) => {
      const { body } = await rig.api.get(`${below}/runs/${runId}/steps/${step}/prompt`);
      return [body.exact, body.tools.map(({ name }: { name: string }) => name)];
    };
    assert.deepEqual(await prompt(1), [true, ['choose', 'refund', 'look_up', 'send_message', 'transfer_to_Closer']]);
    assert.deepEqual(await prompt(3), [true, ['choose', 'refund', 'send_message', 'transfer_to_Closer']]);
    assert.equal(asked.length, before, 'a shown prompt asks no function');
    rules = { refund: () => false };
    const [{ question_id: questionId }] = end.pending;
    const answered = await send({ Lead: [say('Paid.')] }, { message: '', answers: [{ questionId, approve: true }] });
    assert.deepEqual(made.at(-1), ['refund', {}], 'the model saw the tool when it made the call');
    assert.deepEqual(names(answered.models[0] as ModelCall).slice(0, 2), ['choose', 'look_up']);
    rules = { look_up: () => false };
    play(rig, { Lead: [once('x', 'look_up'), say('Again.')] });
    const count = asked.length;
    const reader = await rig.api.rerun(integration, runId, { keep: true, afterStep: 2 });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const rerun = await steps(messagesFrame(reader).run_id);
    assert.deepEqual(
      rerun.filter(({ kind }: { kind: string }) => kind === 'model').map((step: { hidden: unknown[] }) => step.hidden),
      [
        [{ kind: 'delegate', name: 'Helper' }],
        [{ kind: 'tool', name: 'look_up' }],
        [{ kind: 'tool', name: 'look_up' }],
      ],
    );
    assert.equal(asked.length, count + 8, 'two new steps ask four functions each');
    assert.deepEqual(outputs(rig.controller.calls.at(-1))?.at(-1), 'There is no tool `look_up`.');
  });

  test('a function that decides nothing fails the run, and in a delegation only the call', async (t) => {
    cites(t, 'agents-34-enabled-error');
    const wrong: readonly [() => unknown, RegExp][] = [
      [() => Promise.reject(new Error('Inside.')), /failed; the log of the server has the reason\.$/],
      [() => 'yes', /returned string instead of true or false\.$/],
      [() => null, /returned null instead of true or false\.$/],
      [() => 1, /returned number instead of true or false\.$/],
    ];
    integration = await rig.metered({ unit: 'tokens', limit: 1_000_000, period: 'day' }, { agency: 'shop' });
    below = `/v2/integrations/${integration}`;
    for (const [index, [answer, sentence]] of wrong.entries()) {
      rules = { refund: async () => answer() };
      const more = { chatId: `w${index}`, consumerId: 'ann', usageRequestId: `u${index}` };
      const { end, runId, models } = await send({}, more);
      assert.equal(end.error.code, 'agency_error');
      assert.match(
        end.error.message,
        /^The function `isEnabled` of the tool `refund` of the agency `shop`, which the agent `Lead` has, /,
      );
      assert.match(end.error.message, sentence);
      assert.doesNotMatch(end.error.message, /Inside|yes/);
      assert.deepEqual(models, []);
      const [step] = await steps(runId);
      assert.deepEqual(
        [step.kind, step.model, step.status, step.error.code],
        ['model', null, 'failed', 'agency_error'],
      );
      assert.equal((await read('/usage')).items[0].charged.amount, 0);
    }
    rules = {
      to_closer: () => {
        throw new Error('Inside.');
      },
    };
    const { end } = await send({}, { chatId: 'flow', consumerId: 'ann', usageRequestId: 'flow' });
    assert.match(end.error.message, /^The function `isEnabled` of the hand-off to `Closer` of the agency `shop`, /);
    rules = {
      helper_look_up: () => {
        throw new Error('Inside.');
      },
    };
    const { models, end: whole } = await send(
      { Lead: [calls(ask('a', 'Helper', 'Help.')), say('Done.')] },
      { chatId: 'd', consumerId: 'ann', usageRequestId: 'd' },
    );
    assert.equal(whole.status, 'completed');
    assert.match(String(outputs(models.at(-1))), /^Helper failed: The function `isEnabled` of the tool `look_up`/);
    assert.deepEqual(models.map(getAgent), ['Lead', 'Lead']);
  });

  test('the agency lists what can be hidden, and an earlier version knows the format of no such run', async (t) => {
    cites(t, 'agents-34-enabled-listed', 'agents-34-enabled-earlier-version');
    const { body } = await rig.api.get('/v2/agencies');
    const { agents, flows } = body.items.find((one: { agency: string }) => one.agency === 'shop');
    assert.deepEqual(
      agents.map(({ name, conditional }: { name: string; conditional: string[] }) => [name, conditional]),
      [
        ['Lead', ['refund', 'look_up']],
        ['Helper', ['look_up']],
        ['Writer', []],
        ['Closer', []],
        ['Plain', ['choose']],
        ['Alone', []],
      ],
    );
    assert.deepEqual(
      flows.map(({ from, to, conditional }: { from: string; to: string; conditional: boolean }) => [
        `${from} ${to}`,
        conditional,
      ]),
      [
        ['Lead Helper', true],
        ['Lead Writer', false],
        ['Lead Closer', true],
        ...['Lead', 'Helper', 'Writer', 'Closer', 'Alone'].map((to) => [`Plain ${to}`, true]),
      ],
    );
    const readFormat = async (runId: string) => {
      const [row] = await askStore(rig.server.dataDir, `select journal_format from runs where run_id = '${runId}'`);
      return Number(row?.journal_format);
    };
    const { runId } = await send({ Lead: [say('Done.')] });
    assert.equal(await readFormat(runId), 14);
    rules = { refund: () => false };
    const asBefore = async (call: ModelCall) => {
      const { runId: id } = call.request;
      await askStore(rig.server.dataDir, `update runs set journal_format = 1 where run_id = '${id}'`);
      await once('a', 'choose')(call);
    };
    const later = await send({ Lead: [asBefore, say('Done.')] }, { chatId: 'later' });
    assert.equal(await readFormat(later.runId), 14, 'a version of the agency with its first function took over');
  });
}
