import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ModelCall, STORES, type StoreName, testAgency } from '@runwire/test-kit';
import { askStore } from './support/ask-store.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';
import { answerWithFacts, findFacts, isSummaryCall, sentText } from './support/summarizing-model.ts';

const WINDOW = 2000;
/** About 100 tokens. */
const padded = (text: string) => text.padEnd(400, '.');

const firstText = ({ request }: ModelCall) => {
  const [first] = request.prompt;
  return first?.kind === 'user' ? first.text : '';
};

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('later prompts begin with a summary of the oldest turns', async () => {
    await using rig = await ScriptedServer.start({ store, env: { RUNWIRE_MODEL_WINDOW: `${WINDOW}` } });
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const { calls } = rig.controller;
    answerWithFacts(rig.controller, () => padded('Noted.'));
    let summaries = 0;
    let shownBefore = '';
    for (let turn = 1; turn <= 16; turn += 1) {
      const first = calls.length;
      const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', message: padded(`FACT-${turn} `) });
      const frames = await reader.whole();
      assert.equal(messagesFrame(reader).status, 'completed');
      const made = calls.slice(first);
      const answered = made.at(-1) as ModelCall;
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
    assert.match(firstText(calls.at(-1) as ModelCall), /^The beginning of this conversation .*\n\nFacts: FACT-1 /);
  });

  test('turns are left out if the summary fails, and if the agency says so', async () => {
    const agencies = { test: testAgency, plain: { ...testAgency, longChats: 'leave_out' as const } };
    await using rig = await ScriptedServer.start({ store, agencies, env: { RUNWIRE_MODEL_WINDOW: `${WINDOW}` } });
    const ends: ((call: ModelCall) => Promise<void>)[] = [
      (call) => call.fail('model_error', 'No.'),
      (call) => call.end(),
      async (call) => {
        await call.text(' \n');
        await call.end();
      },
    ];
    let asked = 0;
    rig.controller.onCall = async (call) => {
      if (isSummaryCall(call)) return ends[asked++ % ends.length]?.(call);
      await call.text(padded('Yes.'));
      await call.end();
    };
    for (const agency of ['test', 'plain']) {
      const apiIntegrationId = await rig.integration({ agency });
      asked = 0;
      let left = '';
      for (let turn = 1; turn <= 9; turn += 1) {
        const reader = await rig.api.complete({ apiIntegrationId, chatId: 'c1', message: padded(`${turn}`) });
        left = (await reader.whole()).map(({ data }) => data).find((data) => data.includes('history_')) ?? '';
        assert.equal(messagesFrame(reader).status, 'completed');
      }
      assert.match(left, /history_left_out/);
      assert.equal(asked > 2, agency === 'test', `${asked} calls`);
      assert.equal(
        (await askStore(rig.server.dataDir, 'select summary_run_id from chats where summary_run_id is not null'))
          .length,
        0,
      );
      if (agency === 'plain') continue;
      const { body } = await rig.api.get(`/v2/integrations/${apiIntegrationId}/runs`);
      const { body: steps } = await rig.api.get(
        `/v2/integrations/${apiIntegrationId}/runs/${body.items[0].runId}/steps`,
      );
      const failed = steps.items.find(({ kind }: { kind: string }) => kind === 'summary');
      assert.deepEqual([failed.status, failed.error.code], ['failed', 'model_error']);
    }
  });
}
