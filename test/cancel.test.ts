import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { hookStore, type Model, STORES, type StoreName } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { DEFAULT_LIMITS } from '../packages/server/src/config/limits.ts';
import { cites } from '../requirements/cite.ts';
import { toRows } from './support/columns.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { checkStory } from './support/story.ts';

const cancelPath = (integration: string, runId: string) => `/v2/integrations/${integration}/runs/${runId}/cancel`;

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  /** What the server waits for before it stores a run's end. */
  let beforeEnd: () => Promise<unknown> = async () => {};
  const wrapStore = hookStore({
    transact: async (name, transact) => {
      if (name === 'end') await beforeEnd();
      return await transact();
    },
  });
  const rig = ScriptedServer.shared({ store, wrapStore });

  // The server stores no end of a run, and so answers no cancel, before the provider has seen its connection closed.
  test('answers a cancel after the provider has seen its connection closed', async (t) => {
    cites(t, 'contract-6-cancel', 'contract-6-cancel-kept');
    const allowances = { unit: 'tokens', limit: 1_000_000, period: 'lifetime' };
    const integration = await rig.metered(allowances, { agency: 'test' });
    const cancel = (runId: string) => rig.api.post(cancelPath(integration, runId));
    const rounds = scale(1, 50);
    for (let n = 1; n <= rounds; n += 1) {
      const body = { apiIntegrationId: integration, consumerId: 'ann', chatId: `c${n}` };
      const { reader, call, runId } = await rig.hold({ ...body, usageRequestId: `u${n}` });
      await call.text('Half of ');
      await call.text('an answer');
      await reader.untilText('an answer');
      const { used: before } = await rig.allowance(integration);
      const closed = `round ${n}: provider sees its connection closed before the cancel is answered`;
      beforeEnd = () => call.closed;
      const answers = Promise.all([cancel(runId), cancel(runId)]);
      await within(closed, 5_000, call.closed);
      beforeEnd = async () => {};
      const [one, other] = (await within('answers to the cancel', WAIT_MS, answers)).map((answer) => answer.body);
      expectEqual('first cancel', [one.status, one.cancelled], ['cancelled', true]);
      expectEqual('concurrent second cancel', other, one);
      await reader.whole();

      // Partial text is kept and charged.
      const charged = (await rig.allowance(integration)).used - before;
      expectAtLeast('tokens charged for partial text', charged, Math.ceil('Half of an answer'.length / 4));
      const seen = (runId: string, { frames }: typeof reader) =>
        checkStory({ api: () => rig.api, integration, model: rig.controller }, { runId, seen: frames });
      const story = await seen(runId, reader);
      expectEqual('partial text', [story.run.status, story.run.message], ['cancelled', 'Half of an answer']);
      expectEqual('charged', [one.usage.total_tokens, story.charged], [charged, { unit: 'tokens', amount: charged }]);

      // A cancel of an old run does not stop its chat's newer run.
      const next = await rig.hold({ ...body, usageRequestId: `u${n}-next` });
      const late = await cancel(runId);
      expectEqual('cancel of the old run again', [late.status, late.body], [200, one]);
      expectEqual('provider of the newer run is closed', next.call.isClosed, false);
      await next.finish('Whole.');
      const { run: newer } = await seen(next.runId, next.reader);
      expectEqual('newer run', [newer.status, newer.message], ['completed', 'Whole.']);
      count({ rounds: 1, cancelled: 1, charged });
    }
  });

  test('answers after the run has stopped, with its partial text stored', async (t) => {
    cites(
      t,
      'contract-3-cancel',
      'contract-6-cancel',
      'contract-6-cancel-kept',
      'contract-6-cancel-cancelled',
      'contract-5-cancelled',
      'contract-6-message-status',
    );
    const integration = await rig.metered({ unit: 'runs', limit: 9, period: 'day' }, { agency: 'test' });
    const below = `/v2/integrations/${integration}`;
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const { reader, call, runId } = await rig.hold(body);
    await call.text('First. ');
    await call.toolCall('call_1', 'echo', '{}');
    await call.end();
    const second = await rig.controller.nextCall();
    await second.text('Then I');
    await reader.untilText('Then I');
    const answer = await rig.api.post(cancelPath(integration, runId));

    await second.closed;
    assert.equal(answer.status, 200);
    const { usage, ...rest } = answer.body;
    assert.deepEqual(rest, { runId, chatId: 'c1', status: 'cancelled', cancelled: true });
    assert.equal(usage.request_count, 2);
    const { body: status } = await rig.api.get(`${below}/chat_status?usageRequestId=u1`);
    assert.deepEqual(
      [status.status, status.activeRunId, status.run.status, status.run.message, status.run.error],
      ['idle', null, 'cancelled', 'First. Then I', null],
    );
    assert.deepEqual(status.run.usage, usage);
    const { body: run } = await rig.api.get(`${below}/runs/${runId}`);
    assert.equal(run.cancelRequested, 'immediate');
    const [said] = (await rig.api.get(`${below}/chats/c1/messages`)).body.items;
    assert.deepEqual([said.role, said.status, said.content], ['assistant', 'cancelled', 'First. Then I']);
    assert.equal((await rig.allowance(integration)).used, 1, 'what was used is charged');

    const frames = await reader.whole();
    const messages = messagesFrame(reader);
    assert.deepEqual([messages.status, messages.cancelled, messages.error], ['cancelled', true, null]);
    assert.deepEqual(toRows(messages.new_messages, 'type', 'status'), [
      ['message', undefined],
      ['message', 'completed'],
      ['function_call', 'completed'],
      ['function_call_output', undefined],
      ['message', 'incomplete'],
    ]);
    assert.equal(frames.at(-1)?.event, 'end');
  });

  test('cancels exactly one run of a member, chat or integration', async (t) => {
    cites(t, 'contract-3-cancel', 'contract-8-404-run-not-found');
    const [integration, elsewhere] = [await rig.integration(), await rig.integration()];
    const one = await rig.hold({ apiIntegrationId: integration, chatId: 'c1' });
    const two = await rig.hold({ apiIntegrationId: integration, chatId: 'c2' });
    for (const path of [cancelPath(elsewhere, one.runId), cancelPath(integration, 'run_nowhere')]) {
      const { status, body } = await rig.api.post(path);
      assert.deepEqual([status, body.code], [404, 'run_not_found']);
    }
    await one.call.text('alive');
    await one.reader.untilText('alive');
    assert.equal((await rig.api.post(cancelPath(integration, one.runId))).body.status, 'cancelled');
    await one.call.closed;
    const next = await rig.hold({ apiIntegrationId: integration, chatId: 'c1' });
    // A second cancel of the previous run of this chat does not stop the new run.
    assert.equal((await rig.api.post(cancelPath(integration, one.runId))).status, 200);
    for (const { reader, call } of [two, next]) {
      assert.equal(call.isClosed, false);
      await call.text('whole');
      await call.end();
      await reader.whole();
      assert.equal(messagesFrame(reader).status, 'completed');
    }
  });

  test('repeats the same answer, also for a run that had ended before', async (t) => {
    cites(t, 'contract-6-cancel-cancelled', 'contract-6-run-states');
    const integration = await rig.integration();
    const held = await rig.hold({ apiIntegrationId: integration });
    await held.call.text('Hi');
    await held.reader.untilText('"Hi"');
    const path = cancelPath(integration, held.runId);
    const answers = await Promise.all([rig.api.post(path), rig.api.post(path), rig.api.post(path)]);
    answers.push(await rig.api.post(path));
    for (const { status, body } of answers) {
      assert.deepEqual([status, body], [200, answers[0]?.body]);
      assert.deepEqual([body.status, body.cancelled], ['cancelled', true]);
    }
    await held.reader.whole();
    assert.equal(held.reader.frames.filter(({ event }) => event === 'end').length, 1);

    const completed = await rig.answer({ apiIntegrationId: integration, chatId: 'c1' });
    const failed = await rig.hold({ apiIntegrationId: integration });
    await failed.call.fail('model_error', 'No.');
    await failed.reader.whole();
    for (const [expected, { runId }] of Object.entries({ completed, failed })) {
      const before = (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;
      const { status, body } = await rig.api.post(cancelPath(integration, runId));
      assert.deepEqual([status, body.status, body.cancelled, body.usage], [200, expected, false, before.usage]);
      assert.deepEqual((await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body, before);
    }
  });

  test('accepts no body, an empty body or a mode, and refuses another mode', async (t) => {
    cites(t, 'contract-3-cancel-mode');
    const integration = await rig.integration();
    for (const body of [undefined, {}, { mode: 'immediate' }]) {
      const { call, runId } = await rig.hold({ apiIntegrationId: integration });
      const answer = await rig.api.post(cancelPath(integration, runId), body);
      assert.deepEqual([answer.status, answer.body.status], [200, 'cancelled'], JSON.stringify(body));
      await call.closed;
    }
    const { reader, call, runId } = await rig.hold({ apiIntegrationId: integration });
    for (const body of [{ mode: 'later' }, { mode: null }, { mod: 'immediate' }]) {
      const answer = await rig.api.post(cancelPath(integration, runId), body);
      assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], JSON.stringify(body));
    }
    await call.end();
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed', 'a refused cancel stops nothing');
  });

  test('`after_step` lets the step finish, and `immediate` replaces it', async (t) => {
    cites(t, 'contract-3-cancel-mode', 'contract-6-cancel');
    const integration = await rig.integration({ agency: 'test' });
    const getRun = async (runId: string) => (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;
    const asked = async (runId: string, mode: string) => {
      while ((await getRun(runId)).cancelRequested !== mode) await new Promise(setImmediate);
    };
    const calls = rig.controller.calls.length;
    const polite = await rig.hold({ apiIntegrationId: integration });
    const answer = rig.api.post(cancelPath(integration, polite.runId), { mode: 'after_step' });
    await asked(polite.runId, 'after_step');
    await polite.call.text('I may end this');
    await polite.reader.untilText('I may end this');
    await polite.call.toolCall('call_1', 'echo', '{}');
    await polite.call.end();
    assert.deepEqual([(await answer).status, (await answer).body.status], [200, 'cancelled']);
    await polite.reader.whole();
    assert.equal(polite.reader.answer, 'I may end this');
    assert.equal(messagesFrame(polite.reader).new_messages.at(-1).type, 'function_call', 'the tool was not called');
    assert.equal(rig.controller.calls.length - calls, 1);

    const hasty = await rig.hold({ apiIntegrationId: integration });
    const [first, second] = [{ mode: 'after_step' }, { mode: 'immediate' }];
    const waiting = rig.api.post(cancelPath(integration, hasty.runId), first);
    await asked(hasty.runId, 'after_step');
    assert.equal((await rig.api.post(cancelPath(integration, hasty.runId), second)).body.status, 'cancelled');
    assert.equal((await waiting).body.status, 'cancelled');
    assert.equal((await getRun(hasty.runId)).cancelRequested, 'immediate');

    // The step in progress is the last one, so nothing is left to cancel.
    const last = await rig.hold({ apiIntegrationId: integration });
    const late = rig.api.post(cancelPath(integration, last.runId), first);
    await asked(last.runId, 'after_step');
    await last.call.end();
    assert.deepEqual([(await late).body.status, (await late).body.cancelled], ['completed', false]);
  });

  test('answers 202 `cancelling` while the model does not stop', async (t) => {
    cites(t, 'contract-6-cancel-202', 'contract-6-cancel-cancelled', 'contract-6-reservation-ends');
    assert.equal(DEFAULT_LIMITS.cancelPatienceMs, 10_000);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const model: Model = {
      id: 'deaf/model',
      async call(_request, output, signal) {
        output.text('I hear nothing');
        await released;
        signal.throwIfAborted();
        return { usage: null };
      },
    };
    await using own = await ScriptedServer.start({ store, model, limits: { cancelPatienceMs: 50 } });
    const integration = await own.metered({ unit: 'runs', limit: 1, period: 'day' });
    const body = { apiIntegrationId: integration, consumerId: 'ann', usageRequestId: 'u1', chatId: 'c1' };
    const reader = await own.api.complete(body);
    const runId = String(reader.headers['x-run-id']);
    await reader.untilText('I hear nothing');
    for (let times = 0; times < 2; times += 1) {
      const { status, body: said } = await own.api.post(cancelPath(integration, runId));
      assert.equal(status, 202);
      assert.deepEqual(said, { runId, chatId: 'c1', status: 'cancelling', cancelled: false, usage: null });
    }
    const { body: status } = await own.api.get(`/v2/integrations/${integration}/chat_status?chatId=c1`);
    assert.deepEqual([status.status, status.activeRunId], ['running', runId]);
    assert.equal((await own.allowance(integration)).reserved, 1);
    release();
    await reader.whole();
    const { status: code, body: said } = await own.api.post(cancelPath(integration, runId));
    assert.deepEqual([code, said.status, said.cancelled], [200, 'cancelled', true]);
    assert.deepEqual([(await own.allowance(integration)).reserved, (await own.allowance(integration)).used], [0, 1]);
  });

  test('does not wait for a tool that ignores the abort; asks no model again', async (t) => {
    cites(t, 'contract-6-cancel');
    const entered = Promise.withResolvers<void>();
    const agency = defineAgency({
      name: 'Stubborn',
      agents: [
        defineAgent({
          name: 'Mule',
          description: 'Stands still.',
          instructions: 'Stand still.',
          tools: [
            defineTool({
              name: 'stand',
              description: 'Stands still.',
              inputSchema: { type: 'object' },
              execute: () => {
                entered.resolve();
                return new Promise(() => {});
              },
            }),
          ],
        }),
      ],
    });
    await using own = await ScriptedServer.start({ store, agencies: { stubborn: agency } });
    const integration = await own.integration({ agency: 'stubborn' });
    const { reader, call, runId } = await own.hold({ apiIntegrationId: integration, chatId: 'c1' });
    await call.toolCall('call_1', 'stand', '{}');
    await call.end();
    await entered.promise;
    const answer = await own.api.post(cancelPath(integration, runId));
    assert.deepEqual([answer.status, answer.body.status], [200, 'cancelled']);
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'cancelled');
    assert.equal(own.controller.calls.length, 1);
    const next = await own.hold({ apiIntegrationId: integration, chatId: 'c1' });
    const [, made, closed] = next.call.request.prompt;
    assert.deepEqual(
      [made?.kind, closed?.kind],
      ['tool_call', 'tool_output'],
      'no tool call is left open in the history',
    );
    assert.match(closed?.kind === 'tool_output' ? closed.output : '', /outcome of this call was known/);
    await next.finish();
  });

  test('does not wait for instructions or a check of `output` that never return', async (t) => {
    cites(t, 'contract-6-cancel');
    const entered = { writer: Promise.withResolvers<void>(), checker: Promise.withResolvers<void>() };
    const never = (by: keyof typeof entered) => {
      entered[by].resolve();
      return new Promise<never>(() => {});
    };
    const output = {
      '~standard': {
        version: 1,
        vendor: 'test',
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
        validate: () => never('checker'),
      },
    } as const;
    const writer = defineAgent({ name: 'Writer', instructions: () => never('writer') });
    const checker = defineAgent({ name: 'Checker', instructions: 'Check.', output });
    const agencies = {
      writer: defineAgency({ name: 'Writer', agents: [writer] }),
      checker: defineAgency({ name: 'Checker', agents: [checker] }),
    };
    await using own = await ScriptedServer.start({ store, agencies });
    own.controller.onCall = async (call) => {
      await call.text('{}');
      await call.end();
    };
    for (const agency of ['writer', 'checker'] as const) {
      const apiIntegrationId = await own.integration({ agency });
      const reader = await own.api.complete({ apiIntegrationId, message: 'Hi' });
      await entered[agency].promise;
      const { body } = await own.api.post(cancelPath(apiIntegrationId, String(reader.headers['x-run-id'])));
      assert.equal(body.status, 'cancelled', agency);
      await reader.whole();
    }
  });
}
