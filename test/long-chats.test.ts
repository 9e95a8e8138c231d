import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent, defineTool } from '@runwire/agency';
import { type ModelCall, Rig, STORES, type StoreName, testAgency } from '@runwire/test-kit';
import { cites } from '../requirements/cite.ts';
import { askStore } from './support/ask-store.ts';
import { until } from './support/eventually.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { answerWithFacts, findFacts, isSummaryCall, sentText } from './support/summarizing-model.ts';

const WINDOW = 2000;
/** About 100 tokens. */
const padded = (text: string) => text.padEnd(400, '.');

const firstText = ({ request }: ModelCall) => {
  const [first] = request.prompt;
  return first?.kind === 'user' ? first.text : '';
};

const agent = (more: object) => defineAgent({ name: 'Clerk', instructions: 'You are Clerk.', files: false, ...more });
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  inputSchema: { type: 'object' },
  needsApproval: true,
  execute: () => 'paid',
});
const agencies = {
  test: testAgency,
  plain: { ...testAgency, longChats: 'leave_out' as const },
  short: { ...testAgency, limits: { steps: 1 } },
  shop: defineAgency({ name: 'Shop', agents: [agent({ tools: [pay] })] }),
};
const env = { RUNWIRE_MODEL_WINDOW: `${WINDOW}` };

const SUMMARIES = "select count(*) as count from steps where kind = 'summary'";

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  const rig = ScriptedServer.shared({ store, agencies, env });
  const countSummaries = async () => Number((await askStore(rig.server.dataDir, SUMMARIES))[0]?.count);

  /** Sends a message, and returns the calls of its run besides. */
  const post = async (apiIntegrationId: string, message: string, more: object = {}) => {
    const first = rig.controller.calls.length;
    const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', message, ...more });
    const frames = await reader.whole();
    const runId = String(reader.headers['x-run-id']);
    return { reader, frames, runId, calls: rig.controller.calls.slice(first) };
  };

  test('later prompts begin with a summary of the oldest turns', async (t) => {
    cites(
      t,
      'contract-31-summary',
      'contract-31-half',
      'contract-31-stable',
      'contract-31-item',
      'contract-31-step',
      'contract-31-charged',
    );
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const calls = rig.controller.calls;
    answerWithFacts(rig.controller, () => padded('Noted.'));
    let summaries = 0;
    let shownBefore = '';
    let answered: ModelCall | undefined;
    for (let turn = 1; turn <= 16; turn += 1) {
      const { reader, frames, runId, calls: made } = await post(apiIntegrationId, padded(`FACT-${turn} `));
      assert.equal(messagesFrame(reader).status, 'completed');
      answered = made.at(-1) as ModelCall;
      assert.deepEqual(made.map(isSummaryCall), made.length === 1 ? [false] : [true, false]);
      const items = frames.filter(({ data }) => data.includes('history_')).map(({ data }) => JSON.parse(data).data);
      const [item] = items;
      if (made.length === 2) {
        summaries += 1;
        const { turns } = item.item.raw_item;
        assert.deepEqual(items, [
          {
            type: 'run_item_stream_event',
            agent: 'Clerk',
            callerAgent: null,
            name: 'history_summarized',
            item: { type: 'history_summarized_item', raw_item: { type: 'history_summarized', turns } },
          },
        ]);
        const shown = answered.request.prompt.filter(({ kind }) => kind === 'user').length - 2;
        assert.equal(turns + shown, turn - 1, 'every turn is in the summary or in the prompt');
        // Turns of 200 tokens and the summary share half of the 1 000 tokens.
        assert.ok(shown >= 1 && shown <= 2, `${shown} turns`);
        const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${runId}/steps`);
        const [answer, summary] = body.items;
        assert.deepEqual([answer.kind, answer.summary, summary.kind, summary.step], ['model', null, 'summary', 1]);
        assert.deepEqual(summary.summary, { turns, text: firstText(answered).split('\n\n').at(-1) });
      } else {
        assert.deepEqual(items, []);
        assert.ok(JSON.stringify(answered.request.prompt).startsWith(shownBefore), 'begins as the turn before');
      }
      const facts = Array.from({ length: turn }, (_, index) => `FACT-${index + 1}`);
      assert.deepEqual(findFacts(sentText(answered)), facts, 'no fact is lost');
      shownBefore = JSON.stringify(answered.request.prompt).slice(0, -1);
      const { usage } = messagesFrame(reader);
      assert.equal(usage.request_count, made.length, 'the summary is charged');
    }
    assert.ok(summaries >= 3 && summaries <= 7, `${summaries} summaries`);
    assert.equal(calls.filter(isSummaryCall).length, summaries);
    assert.match(firstText(answered as ModelCall), /^The beginning of this conversation .*\n\nFacts: FACT-1 /);
  });

  test('turns are left out if the summary fails, and by the setting of the agency', async (t) => {
    cites(t, 'contract-31-failed', 'contract-31-leave-out', 'contract-31-charged');
    const ends: ((call: ModelCall) => Promise<void>)[] = [
      (call) => call.fail('model_error', 'No.'),
      (call) => call.end(),
      async (call) => {
        await call.text(' \n');
        await call.end();
      },
    ];
    const known = await countSummaries();
    for (const agency of ['test', 'plain', 'short']) {
      const apiIntegrationId = await rig.integration({ agency });
      let asked = 0;
      rig.controller.onCall = async (call) => {
        if (!isSummaryCall(call)) {
          await call.text(padded('Yes.'));
          return call.end();
        }
        asked += 1;
        return ends[asked % ends.length]?.(call);
      };
      let last = await post(apiIntegrationId, padded('1'));
      for (let turn = 2; turn <= 9; turn += 1) {
        last = await post(apiIntegrationId, padded(`${turn}`));
        assert.equal(messagesFrame(last.reader).status, 'completed');
      }
      assert.match(
        last.frames.map(({ data }) => data).find((data) => data.includes('history_')) ?? '',
        /history_left_out/,
      );
      assert.equal(asked > 2, agency === 'test', `${agency}: ${asked} calls`);
      assert.equal(await countSummaries(), known);
      if (agency !== 'test') continue;
      const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${last.runId}/steps`);
      const failed = body.items.find(({ kind }: { kind: string }) => kind === 'summary');
      assert.deepEqual([failed.status, failed.error.code, failed.summary], ['failed', 'model_error', null]);
    }
  });

  test('a summary belongs to the runs after it, also of forks and reruns', async (t) => {
    cites(
      t,
      'contract-31-stored',
      'contract-31-old-prompts',
      'contract-31-fork',
      'contract-31-rerun',
      'contract-31-deleted',
    );
    const known = await countSummaries();
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    await rig.member(apiIntegrationId, 'ann');
    const below = `/v2/integrations/${apiIntegrationId}`;
    const ann = { consumerId: 'ann' };
    answerWithFacts(rig.controller, () => padded('Noted.'));
    const runs = [];
    for (let turn = 1; turn <= 5; turn += 1) runs.push(await post(apiIntegrationId, padded(`FACT-${turn} `), ann));
    rig.controller.onCall = async (call) => {
      if (!isSummaryCall(call)) return call.fail('model_error', 'No.');
      await call.text('Facts: FACT-1');
      await call.end();
    };
    const failed = await post(apiIntegrationId, padded('FACT-6 '), ann);
    assert.deepEqual([failed.calls.map(isSummaryCall), messagesFrame(failed.reader).status], [[true, false], 'failed']);
    rig.controller.answerAll(padded('Noted.'));
    const later = await post(apiIntegrationId, 'And?', ann);
    assert.deepEqual(later.calls.map(isSummaryCall), [false]);
    assert.match(firstText(later.calls[0] as ModelCall), /Facts: FACT-1$/);

    for (const { runId, calls } of [...runs, later]) {
      const { body: steps } = await rig.api.get(`${below}/runs/${runId}/steps`);
      const { step } = steps.items.find(({ kind }: { kind: string }) => kind === 'model');
      const { body } = await rig.api.get(`${below}/runs/${runId}/steps/${step}/prompt`);
      assert.equal(body.exact, true);
      const shown = (calls.at(-1) as ModelCall).request.prompt.map((item) => ('text' in item ? item.text : ''));
      const rebuilt = body.messages.map(({ content }: { content: string | { text: string }[] }) =>
        typeof content === 'string' ? content : content[0]?.text,
      );
      assert.deepEqual(rebuilt, shown);
    }
    const { body: refused } = await rig.api.get(`${below}/runs/${failed.runId}/steps/1/prompt`);
    assert.equal(refused.code, 'step_not_found');

    for (const [before, hasSummary] of [
      [false, true],
      [true, false],
    ] as const) {
      const { body } = await rig.api.post(`${below}/chats/c1/fork`, { runId: failed.runId, before });
      const { calls } = await post(apiIntegrationId, 'Then?', { ...ann, chatId: body.chatId });
      assert.deepEqual(calls.map(isSummaryCall), hasSummary ? [false] : [true, false]);
      assert.equal(calls.length === 1, firstText(calls.at(-1) as ModelCall).endsWith('Facts: FACT-1'));
    }

    const first = rig.controller.calls.length;
    const rerun = await rig.api.rerun(apiIntegrationId, failed.runId, { keep: true });
    await rerun.whole();
    const again = rig.controller.calls.slice(first);
    assert.deepEqual(
      again.map(({ request }) => request.prompt),
      [failed.calls.at(-1)?.request.prompt],
    );
    const rerunId = String(rerun.headers['x-run-id']);
    const { body: kept } = await rig.api.get(`${below}/runs/${rerunId}/steps`);
    assert.deepEqual(
      kept.items.map(({ kind }: { kind: string }) => kind),
      ['model', 'summary'],
    );
    assert.equal(messagesFrame(rerun).usage.request_count, 1, 'the summary is not charged again');

    assert.equal(await countSummaries(), known + 3);
    assert.equal((await rig.api.delete(`${below}/chats/c1`)).status, 204);
    assert.equal(await countSummaries(), known + 3, 'a fork has the run');
    assert.equal((await rig.api.delete(`${below}/members/ann?erase=true`)).status, 202);
    await until(async () => (await rig.api.get(`${below}/members/ann/erasure`)).body.status === 'erased');
    assert.equal(await countSummaries(), known);
    const left = 'select count(*) as count from chats where summary_run_id is not null and deleted_at is not null';
    assert.equal(Number((await askStore(rig.server.dataDir, left))[0]?.count), 0);
  });

  test('a takeover does not ask for the summary again', async (t) => {
    cites(t, 'contract-31-takeover');
    await using other = await Rig.scaled({ store, env });
    await other.prepare({ apiIntegrationId: 'long', agency: 'test' });
    answerWithFacts(other.model, () => padded('Noted.'));
    const body = (turn: number) => ({ apiIntegrationId: 'long', chatId: 'c1', message: padded(`FACT-${turn} `) });
    for (let turn = 1; turn <= 5; turn += 1) await (await other.api().complete(body(turn))).whole();
    const asked: boolean[] = [];
    const answering = Promise.withResolvers<void>();
    other.model.onCall = async (call) => {
      asked.push(isSummaryCall(call));
      if (!isSummaryCall(call)) return answering.resolve();
      await call.text('Facts: FACT-1');
      await call.end();
    };
    const reader = await other.api().complete(body(6));
    await answering.promise;
    await other.server().kill();
    other.model.answerAll('Again.');
    const server = await other.add();
    const { frames } = await other.follow(reader, { servers: () => [server] });
    assert.deepEqual(asked, [true, false]);
    assert.equal(other.model.calls.filter(isSummaryCall).length, 1);
    assert.equal(frames.filter(({ data }) => data.includes('history_summarized')).length, 1);
    assert.match(firstText(other.model.calls.at(-1) as ModelCall), /Facts: FACT-1$/);
  });

  test('a chain of questions is summed up as one turn, and continues without a summary', async (t) => {
    cites(t, 'contract-31-chain', 'contract-31-continues');
    const apiIntegrationId = await rig.integration({ agency: 'shop' });
    rig.controller.onCall = async (call) => {
      const last = call.request.prompt.at(-1);
      if (isSummaryCall(call)) await call.text('Facts: FACT-1');
      else if (last?.kind === 'user' && last.text.startsWith('Do it')) await call.text(padded('Paid.'));
      else await call.toolCall('', 'pay', '{}');
      await call.end();
    };
    let summaries = 0;
    for (let turn = 1; turn <= 7; turn += 1) {
      const asks = await post(apiIntegrationId, padded(`FACT-${turn} `));
      const [{ question_id: questionId }] = messagesFrame(asks.reader).pending;
      const answers = [{ questionId, approve: true }];
      const continued = await post(apiIntegrationId, padded('Do it. '), { answers });
      assert.equal(messagesFrame(continued.reader).status, 'completed');
      assert.deepEqual(continued.calls.map(isSummaryCall), [false]);
      assert.equal(firstText(continued.calls[0] as ModelCall), firstText(asks.calls.at(-1) as ModelCall));
      if (asks.calls.length === 1) continue;
      summaries += 1;
      const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs/${asks.runId}/steps`);
      const { summary } = body.items.find(({ kind }: { kind: string }) => kind === 'summary');
      assert.equal(summary.turns % 2, 0, 'each chain has two messages of the user');
      assert.match(sentText(asks.calls[0] as ModelCall), /User: FACT.*\nCall of pay: \{\}\nOutput: paid\nUser: Do it/);
    }
    assert.equal(summaries, 1);
  });
}
