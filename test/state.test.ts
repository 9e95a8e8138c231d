import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type CallState, defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

/** What a test makes of the next calls, by the tool's argument. */
const work = new Map<string, (state: CallState) => unknown>();

const use = defineTool({
  name: 'use',
  description: 'Uses the state.',
  inputSchema: z.object({ do: z.string() }),
  execute: async ({ do: name }, { state }) => (await work.get(name)?.(state)) ?? 'nothing',
});

const agent = (name: string, more: object = {}) =>
  defineAgent({
    name,
    description: `${name} helps.`,
    instructions: `You are ${name}. Plan {{state.plan}}.`,
    files: false,
    tools: [use],
    ...more,
  });

const keeper = defineAgency({
  name: 'Keeper',
  agents: [
    agent('Lead'),
    agent('Helper'),
    agent('Writer', { instructions: ({ state }: { state: object }) => `You are Writer. ${JSON.stringify(state)}` }),
  ],
  flows: ['Lead -> Helper', 'Lead -> Writer'],
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { keeper } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    work.clear();
    integration = await rig.integration({ agency: 'keeper' });
    below = `/v2/integrations/${integration}`;
  });

  const send = async (turns: Parameters<typeof play>[1], body: object = {}) => {
    const all = play(rig, turns);
    const before = all.length;
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { run_id: runId, new_messages: items } = messagesFrame(reader);
    const outputs = items.flatMap((one: { type: string; output?: string }) =>
      one.type === 'function_call_output' ? [one.output] : [],
    );
    return { runId, outputs, instructions: all.slice(before).map(({ request }) => request.instructions) };
  };
  const state = async (chat = 'c') => (await rig.api.get(`${below}/chats/${chat}/state`)).body;
  const patch = (body: unknown, chat = 'c') => rig.api.patch(`${below}/chats/${chat}/state`, body);
  const steps = async (runId: string) => (await rig.api.get(`${below}/runs/${runId}/steps`)).body.items.reverse();
  /** One call of the tool. */
  const once = (id: string, name = id) => calls([id, 'use', { do: name }]);

  test('a call changes the state of its chat, and the next run sees it', async (t) => {
    cites(
      t,
      'contract-3-chat-state',
      'agents-34-call',
      'agents-34-get',
      'agents-34-own',
      'agents-34-read',
      'agents-34-instructions',
      'agents-34-step',
    );
    work.set('put', ({ get, set }) => {
      assert.equal(get('cart'), undefined);
      const cart = ['pen'];
      set('cart', cart);
      cart.push('later');
      (get('cart') as string[]).push('copy');
      set('plan', 'pro');
      set('gone', 1);
      set('gone', undefined);
      set('__proto__', { constructor: 'é\u0000💡' });
      return JSON.stringify([get('cart'), get('gone') === undefined, get('__proto__')]);
    });
    const first = await send({ Lead: [once('a', 'put'), say('Done.')] });
    assert.deepEqual(first.outputs, [JSON.stringify([['pen'], true, { constructor: 'é\u0000💡' }])]);
    assert.deepEqual(
      first.instructions,
      ['You are Lead. Plan .', 'You are Lead. Plan .'],
      'the start of the run counts',
    );
    const expected = JSON.parse('{"cart":["pen"],"plan":"pro","__proto__":{"constructor":"é\\u0000💡"}}');
    assert.deepEqual(await state(), expected);
    const [, call] = await steps(first.runId);
    assert.deepEqual(call.stateChanges, { set: expected, removed: ['gone'] });
    assert.equal((await steps(first.runId))[0].stateChanges, null);
    work.set('read', ({ get }) => JSON.stringify(get('cart')));
    const second = await send({ Lead: [once('b', 'read'), say('Done.')] });
    assert.deepEqual([second.outputs, second.instructions[0]], [['["pen"]'], 'You are Lead. Plan pro.']);
    assert.deepEqual(await state(), expected, 'a call that changes nothing');
    assert.deepEqual((await rig.api.get(`${below}/chats/none/state`)).status, 404);
    const empty = await rig.api.post(`${below}/chats`, { chatId: 'new' });
    assert.deepEqual([empty.status, await state('new')], [201, {}]);
  });

  test('calls of one answer see the state before them, and the later one wins', async (t) => {
    cites(t, 'agents-34-parallel', 'agents-34-failed', 'agents-34-delegated');
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    work.set('slow', async ({ get, set }) => {
      await ended;
      set('who', 'slow');
      set('slow', true);
      return String(get('fast'));
    });
    work.set('fast', ({ set }) => {
      set('who', 'fast');
      set('fast', true);
      setTimeout(end, 20);
    });
    work.set('fails', ({ set }) => {
      set('failed', true);
      throw new Error('no');
    });
    work.set('reads', ({ get }) => String(get('who')));
    const three = calls(['s', 'use', { do: 'slow' }], ['f', 'use', { do: 'fast' }], ['x', 'use', { do: 'fails' }]);
    const { outputs } = await send({
      Lead: [three, calls(ask('h', 'Helper', 'Read.')), say('Done.')],
      Helper: [once('r', 'reads'), say('It is read.')],
    });
    assert.deepEqual(outputs.toSorted(), ['It is read.', 'The tool failed: no', 'nothing', 'slow', 'undefined']);
    assert.deepEqual(await state(), { fast: true, slow: true, who: 'slow' });
  });

  test('the state is limited, also by many calls together', async (t) => {
    cites(t, 'agents-34-limit');
    const half = 'x'.repeat(40_000);
    work.set('a', ({ set }) => set('a', half));
    work.set('b', ({ set }) => set('b', half));
    work.set('c', ({ set }) => set('c', half + half));
    work.set('deep', ({ set }) => set('deep', JSON.parse('['.repeat(65) + ']'.repeat(65))));
    work.set('function', ({ set }) => set('f', () => {}));
    work.set('many', ({ set }) => {
      for (let index = 0; index < 100_000; index += 1) set(`k${index}`, index);
    });
    const names = ['a', 'b', 'c', 'deep', 'function', 'many'];
    const { outputs } = await send({
      Lead: [calls(...names.map((name) => [name, 'use', { do: name }] as const)), say('Done.')],
    });
    assert.equal(outputs.filter((output: string) => output === 'nothing').length, 1, 'only one of a and b fits');
    assert.match(
      String(outputs),
      /The tool failed: The state of the chat would have \d+ bytes as JSON, and at most 65536/,
    );
    assert.match(String(outputs), /`deep` in the state is nested deeper than 64 levels/);
    assert.match(String(outputs), /`f` in the state must be JSON, but it is a function/);
    assert.equal(Object.keys(await state()).length, 1);
  });

  test('callers change the state by a merge patch', async (t) => {
    cites(t, 'contract-3-patch-chat-state', 'agents-34-patch', 'agents-34-busy', 'agents-34-instructions');
    work.set('put', ({ set }) => set('plan', 'free'));
    await send({ Lead: [once('a', 'put'), say('Done.')] });
    const changed = await patch({ plan: 'pro', cart: { pen: 1, none: null }, none: null });
    assert.deepEqual([changed.status, changed.body], [200, { plan: 'pro', cart: { pen: 1 } }]);
    assert.deepEqual((await patch({ cart: { pen: null, ink: [null] } })).body, { plan: 'pro', cart: { ink: [null] } });
    assert.deepEqual((await patch({})).body, await state());
    const large = await patch({ big: 'x'.repeat(70_000) });
    assert.deepEqual([large.status, large.body.code], [400, 'invalid_request']);
    assert.match(large.body.error, /would have 70045 bytes as JSON, and at most 65536 are allowed/);
    assert.equal((await patch([])).status, 400);
    const written = await send({
      Lead: [calls(ask('w', 'Writer', 'Write.')), say('Done.')],
      Writer: [say('Written.')],
    });
    assert.deepEqual(written.instructions.slice(0, 2), [
      'You are Lead. Plan pro.',
      'You are Writer. {"plan":"pro","cart":{"ink":[null]}}',
    ]);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    work.set('hold', async ({ set }) => {
      set('plan', 'held');
      begun.resolve();
      await held.promise;
    });
    const running = send({ Lead: [once('h', 'hold'), say('Done.')] });
    await begun.promise;
    assert.deepEqual((await patch({ plan: 'x' })).body.code, 'run_active');
    assert.equal((await state()).plan, 'pro', 'the call has not ended');
    held.resolve();
    await running;
    assert.equal((await state()).plan, 'held');
  });

  test('a call that is cut by the end of its run changes nothing', async (t) => {
    cites(t, 'agents-34-commit');
    const begun = Promise.withResolvers<void>();
    work.set('cut', async ({ set }) => {
      set('plan', 'lost');
      begun.resolve();
      await new Promise(() => {});
    });
    work.set('put', ({ set }) => set('plan', 'pro'));
    const running = send({ Lead: [once('a', 'put'), once('b', 'cut')] });
    await begun.promise;
    const { activeRunId } = (await rig.api.get(`${below}/chats/c`)).body;
    await rig.api.post(`${below}/runs/${activeRunId}/cancel`, { mode: 'immediate' });
    const { runId } = await running;
    assert.deepEqual(await state(), { plan: 'pro' });
    const changed = (await steps(runId)).map((step: { stateChanges: unknown }) => step.stateChanges !== null);
    assert.deepEqual(changed, [false, true, false, false]);
  });

  test('the state is deleted with its chat', async (t) => {
    cites(t, 'agents-34-deleted');
    await rig.api.post(`${below}/chats`, { chatId: 'c' });
    await patch({ plan: 'pro' });
    const rows = async () =>
      askStore(
        rig.server.dataDir,
        `select position from chat_states where chat_key in (select chat_key from chats where integration_id = '${integration}')`,
      );
    assert.equal((await rows()).length, 1);
    assert.equal((await rig.api.delete(`${below}/chats/c`)).status, 204);
    assert.equal((await rows()).length, 0);
    await rig.api.post(`${below}/chats`, { chatId: 'c' });
    assert.deepEqual(await state(), {}, 'another chat with the id');
  });

  test('a fork begins with the state at its end, and a rerun with the state of its run', async (t) => {
    cites(t, 'agents-34-fork', 'agents-34-rerun');
    work.set('one', ({ set }) => set('n', 1));
    work.set('two', ({ get, set }) => {
      set('n', Number(get('n')) + 1);
      set('m', get('n'));
    });
    const first = await send({ Lead: [once('a', 'one'), say('Done.')] });
    await patch({ n: 10 });
    const second = await send({ Lead: [once('b', 'two'), say('Done.')] });
    await patch({ n: 100 });
    assert.deepEqual(await state(), { n: 100, m: 11 });
    const fork = async (from: string, body: object) => {
      const { status, body: chat } = await rig.api.post(`${below}/chats/${from}/fork`, body);
      assert.equal(status, 201);
      return chat.chatId as string;
    };
    assert.deepEqual(await state(await fork('c', { runId: first.runId })), { n: 1 });
    const whole = await fork('c', { runId: second.runId });
    assert.deepEqual(await state(whole), { n: 11, m: 11 });
    assert.deepEqual(await state(await fork('c', { runId: second.runId, before: true })), { n: 10 });
    assert.deepEqual(await state(await fork(whole, { runId: first.runId })), { n: 1 }, 'a fork of a fork');

    work.clear();
    const rerun = async (body: object, turns: Parameters<typeof play>[1]) => {
      play(rig, turns);
      const reader = await rig.api.rerun(integration, second.runId, { keep: true, ...body });
      assert.equal(reader.status, 200, reader.text);
      await reader.whole();
      return (await rig.api.get(`${below}/runs/${messagesFrame(reader).run_id}`)).body.chatId as string;
    };
    assert.deepEqual(await state(await rerun({}, { Lead: [once('x', 'two'), say('Again.')] })), { n: 11, m: 11 });
    assert.deepEqual(await state(await rerun({}, { Lead: [say('Nothing.')] })), { n: 10 });
    assert.deepEqual(await state(await rerun({ afterStep: 2 }, { Lead: [say('Again.')] })), { n: 11, m: 11 });
    assert.deepEqual(await state(), { n: 100, m: 11 }, 'the chat itself');
  });
}
