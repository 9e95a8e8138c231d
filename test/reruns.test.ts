import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { STORES, type StoreName } from '@runwire/test-kit';
import { z } from 'zod';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { pickColumn, toRows } from './support/columns.ts';
import { eventually } from './support/eventually.ts';
import { KillableServer } from './support/killable-server.ts';
import { ask, calls, play, say } from './support/play.ts';
import { messagesFrame, refusal, ScriptedServer } from './support/scripted-server.ts';

/** The calls that were executed. */
const executed: string[] = [];

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: name,
    inputSchema: z.object({ n: z.number().optional(), m: z.number().optional() }),
    execute: (input, { userContext }) => {
      executed.push(`${name} ${JSON.stringify(input)}`);
      return `${name} ${executed.length}${userContext === undefined ? '' : JSON.stringify(userContext)}`;
    },
    ...more,
  });

const agent = (name: string, more: object = {}) =>
  defineAgent({ name, description: `${name} is asked.`, instructions: `You are ${name}.`, files: false, ...more });

const tools = {
  buy: tool('buy'),
  look: tool('look', { repeatable: true }),
  refund: tool('refund', { needsApproval: true }),
};

const shop = defineAgency({
  name: 'Shop',
  agents: [agent('Lead', { tools }), agent('Billing', { tools: { buy: tools.buy } })],
  entryPoints: ['Lead', 'Billing'],
  flows: [{ from: 'Lead', to: 'Billing' }],
});

const other = defineAgency({ name: 'Other', agents: [agent('Lead', { tools: { buy: tools.buy } })] });

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const NOT_EXECUTED = 'Not executed: this is a rerun with recorded tools.';

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies: { shop, other } });
  let integration = '';
  let below = '';
  beforeEach(async () => {
    executed.length = 0;
    integration = await rig.integration({ agency: 'shop' });
    below = `/v2/integrations/${integration}`;
  });

  const post = async (body: object = {}) => {
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Go.', ...body });
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { run_id: runId, ...frame } = messagesFrame(reader);
    return { runId, ...frame };
  };
  const rerun = async (of: string, body: object = {}) => {
    const reader = await rig.api.rerun(integration, of, body);
    if (reader.status !== 200) await reader.over;
    assert.equal(reader.status, 200, reader.text);
    await reader.whole();
    const { run_id: runId, ...frame } = messagesFrame(reader);
    return { runId, headers: reader.headers, ...frame };
  };
  const refused = async (of: string, body: object = {}) => refusal(await rig.api.rerun(integration, of, body));
  const run = async (runId: string) => (await rig.api.get(`${below}/runs/${runId}`)).body;
  const steps = async (runId: string) =>
    (await rig.api.get(`${below}/runs/${runId}/steps?limit=100`)).body.items.reverse();
  /** Returns what the models were asked in this test. */
  const script = (turns: Parameters<typeof play>[1]) => {
    const all = play(rig, turns);
    const before = all.length;
    return (index: number) => all[index < 0 ? all.length + index : before + index]?.request;
  };
  const outputs = (frame: { new_messages: readonly { type: string; call_id?: string; output?: string }[] }) =>
    frame.new_messages.flatMap(({ type, output }) => (type === 'function_call_output' ? [output] : []));

  test('a rerun keeps steps, gets recorded outcomes and leaves the chat alone', async (t) => {
    cites(
      t,
      'contract-24-rerun',
      'contract-3-rerun',
      'contract-24-fork',
      'contract-24-keep',
      'contract-24-rerun-of',
      'contract-24-kept',
      'contract-24-recorded',
      'contract-24-not-executed',
    );
    const request = script({
      Lead: [
        say('Earlier.'),
        calls(['b1', 'buy', { n: 1, m: 2 }], ['b2', 'buy', { n: 2 }]),
        calls(['b3', 'buy', { n: 3 }]),
        say('Done.'),
        // The rerun from the beginning.
        calls(['x1', 'buy', { m: 2, n: 1 }], ['x2', 'buy', { n: 9 }]),
        say('Again.'),
        // The rerun after the first model step, and the one after both outcomes.
        calls(['y1', 'buy', { n: 3 }]),
        say('More.'),
        say('Most.'),
      ],
    });
    await post({ message: 'First' });
    const original = await post({ message: 'Second' });
    assert.equal(executed.length, 3);
    const before = (await rig.api.get(`${below}/chats/c/messages`)).body;

    const whole = await rerun(original.runId);
    assert.equal(executed.length, 3);
    assert.deepEqual(outputs(whole), ['buy 1', NOT_EXECUTED]);
    assert.deepEqual(request(4)?.prompt, request(1)?.prompt);
    assert.equal(whole.headers['x-agent-run-admitted'], 'true');
    assert.equal(whole.headers['x-run-id'], whole.runId);
    const record = await run(whole.runId);
    assert.deepEqual([record.rerunOf, record.message], [{ runId: original.runId, afterStep: 0 }, 'Again.']);
    assert.equal((await run(original.runId)).rerunOf, null);

    const partly = await rerun(original.runId, { afterStep: 1, keep: true });
    assert.equal(executed.length, 3);
    assert.deepEqual(request(6)?.prompt, request(2)?.prompt, 'the model sees the kept step and the recorded outcomes');
    assert.deepEqual(outputs(partly), ['buy 1', 'buy 2', 'buy 3']);
    assert.deepEqual(toRows(await steps(partly.runId), 'step', 'kind', 'callId'), [
      [1, 'model', null],
      [2, 'tool', 'b1'],
      [3, 'tool', 'b2'],
      [4, 'model', null],
      [5, 'tool', 'y1'],
      [6, 'model', null],
    ]);
    const last = await rerun(original.runId, { afterStep: 5 });
    assert.equal(executed.length, 3);
    assert.deepEqual(request(8)?.prompt, request(3)?.prompt);
    assert.equal((await run(last.runId)).usage.request_count, 1, 'kept steps are no usage');

    const list = (await rig.api.get(`${below}/runs?rerunOf=${original.runId}`)).body.items;
    assert.deepEqual(pickColumn(list, 'runId'), [last.runId, partly.runId, whole.runId]);
    assert.deepEqual((await rig.api.get(`${below}/chats/c/messages`)).body, before);
    const chats = (await rig.api.get(`${below}/chats`)).body.items;
    assert.deepEqual(pickColumn(chats, 'chatId').sort(), ['c', (await run(partly.runId)).chatId].sort());
  });

  test('equal calls get the outcomes in their order, and repeatable tools are executed', async (t) => {
    cites(t, 'contract-24-nth', 'contract-24-repeatable', 'contract-24-live');
    const buy = (id: string) => calls([id, 'buy', { n: 1 }]);
    play(rig, {
      Lead: [
        ...[buy('a'), buy('b'), say('Done.')],
        ...[buy('a'), buy('b'), buy('c'), calls(['d', 'look', { n: 5 }]), say('Again.')],
        ...[buy('a'), say('Live.')],
      ],
    });
    const { runId } = await post();
    assert.deepEqual(outputs(await rerun(runId)), ['buy 1', 'buy 2', 'buy 2', 'look 3']);
    assert.deepEqual(executed, ['buy {"n":1}', 'buy {"n":1}', 'look {"n":5}']);
    assert.deepEqual(outputs(await rerun(runId, { tools: 'live' })), ['buy 4']);
  });

  test('a delegation is kept with its outcome, and begins again without it', async (t) => {
    cites(t, 'contract-24-new', 'contract-24-flows');
    const request = script({
      Lead: [calls(ask('d1', 'Billing', 'Look.')), say('Done.'), say('Kept.'), say('New.')],
      Billing: [calls(['n1', 'buy', { n: 1 }]), say('Looked.'), calls(['n2', 'buy', { n: 1 }]), say('Looked again.')],
    });
    const original = await post();
    const all = await steps(original.runId);
    assert.deepEqual(toRows(all, 'step', 'tool', 'loop'), [
      [1, null, null],
      [2, null, 'd1'],
      [3, 'buy', 'd1'],
      [4, null, 'd1'],
      [5, 'send_message', null],
      [6, null, null],
    ]);
    const kept = await rerun(original.runId, { afterStep: 5 });
    assert.deepEqual(request(4)?.prompt, request(3)?.prompt);
    assert.equal(request(5), undefined);
    assert.deepEqual(pickColumn(await steps(kept.runId), 'step'), [1, 2, 3, 4, 5, 6]);
    const again = await rerun(original.runId, { afterStep: 1 });
    assert.equal(executed.length, 1, 'the delegated agent gets recorded outcomes too');
    assert.match(JSON.stringify(again.new_messages), /Looked again/);
    assert.equal((await refused(original.runId, { afterStep: 3 })).body.code, 'invalid_request');
  });

  test('another message, agent, agency, model, context and other instructions', async (t) => {
    cites(t, 'contract-24-changes', 'contract-24-model', 'contract-24-instructions', 'contract-24-context');
    const request = script({
      Lead: [
        calls(['b', 'buy', { n: 1 }]),
        say('Done.'),
        calls(['l', 'look', {}]),
        say('One.'),
        say('Two.'),
        say('Three.'),
      ],
      Billing: [say('Four.')],
    });
    const original = await post({ user_context: { secret: 1 } });
    const context = await rerun(original.runId, { message: 'Other.', user_context: { plan: 'pro' } });
    assert.deepEqual(outputs(context), ['look 2{"plan":"pro"}']);
    assert.match(JSON.stringify(request(2)?.prompt), /Other\./);
    await rerun(original.runId, { agency: 'other' });
    assert.equal(request(4)?.tools.length, 1);
    const told = await rerun(original.runId, { afterStep: 2, instructions: 'You are Lead. Be brief.' });
    assert.equal(request(5)?.instructions, 'You are Lead. Be brief.');
    const prompt = async (step: number) => (await rig.api.get(`${below}/runs/${told.runId}/steps/${step}/prompt`)).body;
    assert.deepEqual(
      [(await prompt(1)).instructions, (await prompt(3)).instructions],
      ['You are Lead.', 'You are Lead. Be brief.'],
    );
    const asked = await rerun(original.runId, { agent: 'Billing', model: 'scripted/model' });
    assert.equal((await run(asked.runId)).agent, 'Billing');
    for (const [body, code] of [
      [{ agency: 'none' }, 'unknown_agency'],
      [{ agent: 'None' }, 'unknown_agent'],
      [{ model: 'none/none' }, 'invalid_request'],
      [{ afterStep: 2, message: 'No.' }, 'invalid_request'],
    ] as const)
      assert.equal((await refused(original.runId, body)).body.code, code);
  });

  test('a run that asked asks again, and a run that answered has its answers', async (t) => {
    cites(t, 'contract-24-answers', 'contract-24-asks', 'contract-24-inputs');
    const request = script({
      Lead: [
        calls(['c1', 'refund', { n: 5 }]),
        say('Paid.'),
        calls(['c2', 'refund', { n: 5 }]),
        calls(['c3', 'refund', { n: 6 }]),
        say('No.'),
        say('Paid again.'),
      ],
    });
    const asking = await post();
    const [question] = asking.pending;
    const answers = [{ questionId: question.question_id, approve: true }];
    const answered = await post({ message: '', answers });
    assert.deepEqual(executed, ['refund {"n":5}']);
    const open = await rerun(asking.runId);
    assert.equal(open.pending.length, 1, 'the outcome of the run that continued it does not count');
    assert.deepEqual(outputs(await rerun(asking.runId)), [NOT_EXECUTED]);
    const again = await rerun(answered.runId);
    assert.deepEqual(outputs(again), ['refund 1']);
    assert.deepEqual(executed, ['refund {"n":5}']);
    assert.equal((await run(again.runId)).continues, asking.runId);
    assert.deepEqual(request(-1)?.prompt, request(1)?.prompt);
    assert.deepEqual((await rig.api.get(`${below}/chats/c`)).body.pending, []);
  });

  test('a rerun is charged to no member and is split apart in the usage', async (t) => {
    cites(
      t,
      'contract-24-free',
      'contract-24-no-limits',
      'contract-24-usage-list',
      'contract-24-usage-summary',
      'contract-24-replay',
    );
    integration = await rig.metered({ unit: 'runs', limit: 1, period: 'day' }, { agency: 'shop', maxRunsPerMember: 1 });
    below = `/v2/integrations/${integration}`;
    play(rig, { Lead: [say('One.'), say('Two.')] });
    const { runId } = await post({ consumerId: 'ann', usageRequestId: 'u1' });
    await rig.api.delete(`${below}/members/ann`);
    const again = await rerun(runId, { usageRequestId: 'u2' });
    const replay = await rerun(runId, { usageRequestId: 'u2' });
    assert.deepEqual([replay.runId, replay.headers['x-run-replayed']], [again.runId, 'true']);
    assert.equal((await refused(runId, { usageRequestId: 'u2', keep: true })).body.code, 'usage_request_id_reused');
    assert.equal((await refused(runId, { usageRequestId: 'u1' })).body.code, 'usage_request_id_reused');
    assert.equal((await run(again.runId)).consumerId, 'ann');
    const usage = async (query: string) => (await rig.api.get(`${below}/usage${query}`)).body.items;
    assert.deepEqual(toRows(await usage(''), 'runId', 'rerun', 'charged'), [
      [again.runId, true, null],
      [runId, false, { unit: 'runs', amount: 1 }],
    ]);
    assert.deepEqual(pickColumn(await usage('?rerun=true'), 'runId'), [again.runId]);
    assert.deepEqual(pickColumn(await usage('?rerun=false'), 'runId'), [runId]);
    for (const groupBy of ['hour', 'day', 'consumer', 'agent', 'model']) {
      const summary = async (more: string) =>
        pickColumn((await rig.api.get(`${below}/usage/summary?groupBy=${groupBy}${more}`)).body.items, 'runs');
      assert.deepEqual([await summary(''), await summary('&rerun=true')], [[1], [1]], groupBy);
    }
    await rig.member(integration, 'ann');
    assert.equal((await rig.allowance(integration)).used, 1);
  });

  test('a rerun has the attachments, client tools and instructions of the run', async (t) => {
    cites(t, 'contract-24-attachments', 'contract-8-400-attachment-unavailable');
    await rig.api.patch(below, { clientTools: true, callerInstructions: true });
    const request = script({ Lead: [say('One.'), say('Two.')] });
    const { runId } = await post({
      attachments: [{ type: 'input_image', image_url: PIXEL, detail: 'low' }],
      clientTools: [{ name: 'locate', description: 'Where.', inputSchema: { type: 'object' } }],
      instructions: 'Be brief.',
    });
    await rig.api.patch(below, { clientTools: false, callerInstructions: false });
    await rerun(runId);
    const sent = (index: number) => {
      const { prompt, tools: shown, instructions } = request(index) ?? {};
      return JSON.stringify({ prompt, shown, instructions });
    };
    assert.match(sent(0), /image.*locate.*Be brief/);
    assert.equal(sent(1), sent(0));
    await askStore(
      rig.server.dataDir,
      `update attachments set blob_key = null, url = 'https://files.example/a.png?sig=1', url_key = 'k' where run_id = '${runId}'`,
    );
    const { status, body } = await refused(runId);
    assert.deepEqual([status, body.code], [400, 'attachment_unavailable']);
    assert.match(body.error, /`https:\/\/files\.example\/a\.png`/);
  });

  test('an active rerun leaves the member its runs, and an erasure of the member erases it', async (t) => {
    cites(t, 'contract-24-no-limits', 'contract-24-deleted');
    await rig.api.patch(below, { maxRunsPerMember: 1 });
    await rig.member(integration, 'ann');
    const release = Promise.withResolvers<void>();
    play(rig, { Lead: [say('One.'), (call) => release.promise.then(() => say('Two.')(call)), say('Three.')] });
    const { runId } = await post({ consumerId: 'ann' });
    const reader = await rig.api.rerun(integration, runId, { keep: true });
    assert.equal((await post({ consumerId: 'ann' })).status, 'completed');
    release.resolve();
    await reader.whole();
    const again = messagesFrame(reader).run_id;
    await rig.api.delete(`${below}/members/ann?erase=true`);
    await eventually('the chat of the rerun is erased', async () => (await run(again)).chatDeleted);
    const answer = await refused(runId);
    assert.deepEqual([answer.status, answer.body.code], [404, 'chat_not_found']);
  });

  test('a rerun resumes after kill -9 with the same prompts and recorded outcomes', async (t) => {
    cites(t, 'contract-24-kept', 'contract-24-nth');
    await using server = await KillableServer.start({ store });
    await server.metered();
    const { controller } = server;
    const echo = async (call: Awaited<ReturnType<typeof controller.nextCall>>, id: string) => {
      await call.toolCall(id, 'echo', '{"n":1}');
      await call.end();
      return controller.nextCall();
    };
    const body = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: 'u1', message: 'Do it' };
    const { reader, call, runId } = await server.hold(body);
    const second = await echo(call, 'call_1');
    const third = await echo(second, 'call_2');
    await third.end();
    await reader.whole();
    const used = async () => (await server.api.get('/v2/integrations/mine/members/ann')).body.allowance.used;
    const before = await used();

    const again = await server.api.rerun('mine', runId, { afterStep: 2 });
    const id = String(again.headers['x-run-id']);
    const first = await controller.nextCall();
    assert.deepEqual(first.request.prompt, second.request.prompt);
    const held = await echo(first, 'x');
    await server.process.kill();
    await again.over;
    await server.startAgain();
    const repeated = await controller.nextCall();
    assert.deepEqual(repeated.request.prompt, held.request.prompt);
    const last = await echo(repeated, 'y');
    const keys = last.request.prompt.flatMap((item) =>
      item.kind === 'tool_output' ? [(JSON.parse(item.output) as { key: string }).key] : [],
    );
    assert.deepEqual(keys, [`${runId}/call_1`, `${runId}/call_2`, `${runId}/call_2`]);
    await last.text('Done.');
    await last.end();
    await (await server.api.events(id, 0, 'mine')).whole();
    const { body: record } = await server.api.get(`/v2/integrations/mine/runs/${id}`);
    const { status, attempt, rerunOf, usage, firstTokenMs } = record;
    assert.deepEqual([status, attempt, rerunOf], ['completed', 2, { runId, afterStep: 2 }]);
    assert.ok(usage.request_count >= 3 && usage.request_count <= 4, 'without the kept step');
    assert.ok(firstTokenMs > 0);
    assert.equal(await used(), before);
  });

  test('a takeover keeps steps, and ends a rerun whose original was deleted', async (t) => {
    cites(t, 'contract-24-takeover', 'contract-24-kept');
    // Each original stores two steps. Then the steps that the first rerun keeps are stored, and those of the second one are not.
    await using server = await KillableServer.start({ store, killAt: 'step.before-commit', killAfter: 6 });
    await server.metered();
    const { controller } = server;
    const record = async (chatId: string) => {
      const caller = { apiIntegrationId: 'mine', consumerId: 'ann', usageRequestId: chatId };
      const { reader, call, runId } = await server.hold({ ...caller, chatId, message: 'Do it' });
      await call.toolCall('call_1', 'echo', '{"n":1}');
      await call.end();
      await (await controller.nextCall()).end();
      await reader.whole();
      return runId;
    };
    const startRerun = async (runId: string, body: object = {}) => {
      const reader = await server.api.rerun('mine', runId, { afterStep: 2, ...body });
      const { prompt } = (await controller.nextCall()).request;
      return { id: String(reader.headers['x-run-id']), prompt };
    };
    const steps = async (runId: string) =>
      pickColumn((await server.api.get(`/v2/integrations/mine/runs/${runId}/steps`)).body.items, 'step');
    const [deleted, other] = [await record('deleted'), await record('other')];
    const orphan = await startRerun(deleted, { keep: true });
    await eventually('the kept steps are stored', async () => (await steps(orphan.id)).length === 2);
    assert.equal((await server.api.delete('/v2/integrations/mine/chats/deleted')).status, 204);
    const kept = await startRerun(other);
    await server.process.gone;

    await server.startAgain();
    const again = await controller.nextCall();
    assert.deepEqual(again.request.prompt, kept.prompt);
    assert.deepEqual(await steps(kept.id), [2, 1]);
    await again.end();
    await (await server.api.events(kept.id, 0, 'mine')).whole();
    assert.deepEqual(await steps(kept.id), [3, 2, 1]);
    const { body } = await server.api.get(`/v2/integrations/mine/runs/${orphan.id}`);
    assert.deepEqual([body.status, body.error.code], ['failed', 'run_interrupted']);
    assert.match(body.error.message, /the chat of the run that it repeats was deleted\./);
  });

  test('refuses what cannot be run again', async (t) => {
    cites(t, 'contract-24-after-step', 'contract-24-active', 'contract-24-deleted', 'contract-24-token');
    const release = Promise.withResolvers<void>();
    play(rig, {
      Lead: [calls(['b', 'buy', { n: 1 }]), say('Done.'), (call) => release.promise.then(() => say('Late.')(call))],
    });
    const { runId } = await post();
    const code = async (of: string, body: object = {}) => {
      const answer = await refused(of, body);
      assert.equal(answer.admitted, 'false');
      return [answer.status, answer.body.code];
    };
    assert.deepEqual(await code('run_none'), [404, 'run_not_found']);
    assert.deepEqual(await code(runId, { afterStep: 3 }), [400, 'invalid_request']);
    assert.deepEqual(await code(runId, { afterStep: 4 }), [400, 'invalid_request']);
    const reader = await rig.api.complete({ apiIntegrationId: integration, chatId: 'c', message: 'Wait.' });
    assert.deepEqual(await code(String(reader.headers['x-run-id'])), [409, 'run_active']);
    release.resolve();
    await reader.whole();
    await rig.member(integration, 'ann');
    const { clientToken } = (await rig.api.post(`${below}/client_tokens`, { consumerId: 'ann' })).body;
    const foreign = await rig.api.as(clientToken).post(`${below}/runs/${runId}/rerun`, {});
    assert.deepEqual([foreign.status, foreign.body.code], [403, 'token_forbidden']);
    await rig.api.delete(`${below}/chats/c`);
    assert.deepEqual(await code(runId), [404, 'chat_not_found']);
  });

  test('compares two runs, step by step', async (t) => {
    cites(t, 'contract-24-compare', 'contract-24-alignment', 'contract-3-compare');
    play(rig, {
      Lead: [
        calls(['a', 'buy', { n: 1, m: 2 }]),
        calls(['b', 'buy', { n: 2 }]),
        say('Done.'),
        calls(['x', 'buy', { m: 2, n: 1 }]),
        calls(['y', 'look', { n: 2 }]),
        calls(['z', 'look', { n: 3 }]),
        say('Again.'),
      ],
    });
    const original = await post();
    const again = await rerun(original.runId);
    const compared = await rig.api.get(`${below}/runs/${original.runId}/compare?with=${again.runId}`);
    assert.equal(compared.status, 200, JSON.stringify(compared.body));
    const { runs, steps: pairs, text, usage } = compared.body;
    assert.deepEqual(pickColumn(runs, 'runId'), [original.runId, again.runId]);
    assert.deepEqual(text, { left: 'Done.', right: 'Again.' });
    assert.deepEqual([usage.left.request_count, usage.right.request_count], [3, 4]);
    const shown = pairs.map((pair: Record<'left' | 'right' | 'change', { tool: string | null } | null>) => [
      pair.left?.tool,
      pair.right?.tool,
      pair.change,
    ]);
    assert.deepEqual(shown, [
      [null, null, 'equal'],
      ['buy', 'buy', 'equal'],
      [null, null, 'equal'],
      ['buy', 'look', 'changed'],
      [undefined, null, 'added'],
      [undefined, 'look', 'added'],
      [null, null, 'equal'],
    ]);
    assert.equal((await rig.api.get(`${below}/runs/${original.runId}/compare?with=run_none`)).status, 404);
  });

  for (const limits of [{ comparedSteps: 2 }, { comparedBytes: 500 }]) {
    test(`compares no run with more than ${JSON.stringify(limits)}`, async (t) => {
      cites(t, 'contract-24-compare-bounds');
      await using small = await ScriptedServer.start({ store, agencies: { shop }, limits });
      const apiIntegrationId = await small.integration({ agency: 'shop' });
      play(small, { Lead: [calls(['a', 'look', { n: 1 }]), say('One.'), say('Two.')] });
      const runIds: string[] = [];
      for (const chatId of ['long', 'short']) {
        const reader = await small.api.complete({ apiIntegrationId, chatId, message: 'Go.' });
        await reader.whole();
        runIds.push(messagesFrame(reader).run_id);
      }
      const [long, short] = runIds;
      const path = `/v2/integrations/${apiIntegrationId}/runs/${short}/compare?with=`;
      assert.equal((await small.api.get(`${path}${short}`)).status, 200);
      const { status, body } = await small.api.get(`${path}${long}`);
      assert.deepEqual([status, body.code], [400, 'invalid_request']);
      assert.match(body.message ?? body.error, new RegExp(`${long} is too long to be compared`));
    });
  }
}
