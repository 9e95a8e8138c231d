import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import {
  hookStore,
  STORES,
  type Store,
  type StoreName,
  StoreUnavailable,
  scriptedModel,
  testAgency,
} from '@runwire/test-kit';
import { type RawBuilder, sql } from 'kysely';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { modelWindow } from '../packages/server/src/domain/model/model-window.ts';
import { raw } from '../packages/server/src/store/queries/raw.ts';
import { statement } from '../packages/server/src/store/statement.ts';
import { cites } from '../requirements/cite.ts';
import { messagesFrame, ScriptedServer } from './support/scripted-server.ts';

/** Without summaries. */
const agencies = { test: { ...testAgency, longChats: 'leave_out' as const } };

const question = (turn: number) => `Question ${turn}?`.padEnd(200, '.');
const answer = (turn: number) => `Answer ${turn}.`.padEnd(200, '.');
const toCall = (turn: number) => (turn % 3 === 1 && turn < 5000 ? `call_${turn}` : null);

/** The part of a turn that the model receives. Every third turn called a tool. */
function turnItems(turn: number): object[] {
  const callId = toCall(turn);
  const call = { kind: 'tool_call', callId, name: 'echo', arguments: '{}' };
  const called = callId === null ? [] : [call, { kind: 'tool_output', callId, output: 'e'.repeat(100) }];
  return [{ kind: 'user', text: question(turn) }, ...called, { kind: 'assistant', text: answer(turn) }];
}

/** Adds turns to the only chat as if they had been run; its first turn already exists. */
async function growChat(store: Store, turns: number): Promise<void> {
  const padded = (text: string) => sql`substr(${sql.raw(text)} || '${sql.raw('.'.repeat(200))}', 1, 200)`;
  const said = { user: padded(`'Question ' || turn || '?'`), assistant: padded(`'Answer ' || turn || '.'`) };
  const all = sql`with recursive t(turn) as (select 1 union all select turn + 1 from t where turn < ${sql.raw(`${turns - 1}`)})`;
  const messages = (role: 'user' | 'assistant', place: number) =>
    sql`${all} insert into messages
      (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
      select 'msg_${sql.raw(role)}_' || turn, chats.chat_key, turn * 2 + ${sql.raw(`${place}`)}, 'run_' || turn,
        '${sql.raw(role)}', 'completed', 'Clerk', '"' || ${said[role]} || '"', 0 from t cross join chats`;
  const steps = (step: number, kind: 'model' | 'tool', output: RawBuilder<unknown>, where: string) =>
    sql`${all} insert into steps
      (run_id, step, attempt, kind, agent, status, first_event_id, last_event_id, record_json, started_at, completed_at)
      select 'run_' || turn, ${sql.raw(`${step}`)}, 1, '${sql.raw(kind)}', 'Clerk', 'completed', 1, 1,
        '{"output":[{' || ${output} || '}]}', 0, 0 from t where ${sql.raw(where)}`;
  const call = sql`'"kind":"tool_call","callId":"call_' || turn || '","name":"echo","text":"{}"'`;
  const output = sql`'"kind":"tool_output","callId":"call_' || turn || '","text":"${sql.raw('e'.repeat(100))}"'`;
  const text = sql`'"kind":"message","text":"' || ${said.assistant} || '"'`;
  await store.transact('account', async (tx) => {
    const queries = [
      messages('user', 1),
      messages('assistant', 2),
      steps(1, 'model', call, 'turn % 3 = 1'),
      steps(2, 'tool', output, 'turn % 3 = 1'),
      steps(3, 'model', text, '1 = 1'),
      sql`update chats set num_messages = ${sql.raw(`${turns * 2}`)}, text_bytes = ${sql.raw(`${turns * 400}`)}`,
    ];
    for (const [place, query] of queries.entries()) {
      await tx.run(
        statement(`grow chat ${place}`, (db, _: object) => raw(db, query)),
        {},
      );
    }
  });
}

/** Counts the rows that are read outside of transactions. */
const countingRows = (rowsRead: { count: number }) =>
  hookStore({
    read: async (_, read) => {
      const rows = await read();
      rowsRead.count += rows.length;
      return rows;
    },
  });

test('refuses an invalid window', () => {
  const read = (value: string) => readConfig({ RUNWIRE_MODEL_WINDOW: value }).config.limits.modelWindowTokens;
  assert.deepEqual([read(''), read('1000'), read('999999999')], [128_000, 1000, 999_999_999]);
  for (const value of ['999', '0', '-5000', '5e5', '1000.5', 'large', '9999999999']) {
    assert.throws(
      () => read(value),
      /^SettingRefused: RUNWIRE_MODEL_WINDOW is `.*`; set it to a whole number from 1000 to 999999999/,
      value,
    );
  }
});

test('knows the windows of common models; a setting gives the others', () => {
  assert.equal(modelWindow('openai/gpt-4.1-mini', 1), 1_047_576);
  assert.equal(modelWindow('openai/gpt-4o-2024-11-20', 1), 128_000);
  assert.equal(modelWindow('openai/gpt-4-0613', 1), 8_192);
  assert.equal(modelWindow('openai/my-own', 5000), 5000);
});

for (const store of STORES) describe(store, () => tests(store));

function tests(store: StoreName): void {
  test('a later turn begins with exactly what the earlier turns ended with', async (t) => {
    cites(t, 'spec-1-other-messages');
    await using rig = await ScriptedServer.start({ store });
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const first = await rig.hold({ apiIntegrationId, chatId: 'c1', message: 'One?' });
    await first.call.text('Looking. ');
    await first.call.toolCall('call_1', 'echo', '{"a":1}');
    await first.call.toolCall('call_2', 'break', 'no json');
    await first.call.end();
    const second = await rig.controller.nextCall();
    await second.text('Found.');
    await second.end();
    await first.reader.whole();

    const next = await rig.hold({ apiIntegrationId, chatId: 'c1', message: 'Two?' });
    const grown = [...second.request.prompt, { kind: 'assistant', text: 'Found.' }, { kind: 'user', text: 'Two?' }];
    assert.equal(JSON.stringify(next.call.request.prompt), JSON.stringify(grown), 'byte for byte');
    assert.deepEqual(
      grown.map(({ kind }) => kind),
      ['user', 'assistant', 'tool_call', 'tool_call', 'tool_output', 'tool_output', 'assistant', 'user'],
    );
    // Call ids are unique across turns too.
    await next.call.toolCall('call_1', 'echo', '{}');
    await next.call.end();
    const last = await rig.controller.nextCall();
    const ids = last.request.prompt.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
    assert.equal(new Set(ids).size, 3);
    await last.end();
    await next.reader.whole();
    const again = await rig.hold({ apiIntegrationId, chatId: 'c1', message: 'Three?' });
    const expected = [...last.request.prompt, { kind: 'user', text: 'Three?' }];
    assert.equal(JSON.stringify(again.call.request.prompt), JSON.stringify(expected), 'also behind an empty answer');
    await again.finish();
  });

  test('a chat longer than the window continues without its oldest turns', async () => {
    await using rig = await ScriptedServer.start({ store, agencies, env: { RUNWIRE_MODEL_WINDOW: '2000' } });
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const leftOut: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      // Each turn has 100 tokens of question, 100 of answer and 100 of tool output.
      const held = await rig.hold({ apiIntegrationId, chatId: 'c1', message: `${turn} `.padEnd(400, 'q') });
      const { prompt } = held.call.request;
      const calls = prompt.filter((item) => item.kind === 'tool_call').length;
      assert.deepEqual(
        prompt.map(({ kind }) => kind),
        [...Array.from({ length: calls }, () => ['user', 'tool_call', 'tool_output', 'assistant']).flat(), 'user'],
        'whole turns only',
      );
      assert.ok(JSON.stringify(prompt).length < 2000 * 4 * 0.8);
      await held.call.toolCall('', 'echo', JSON.stringify({ pad: 'p'.repeat(300) }));
      await held.call.end();
      const last = await rig.controller.nextCall();
      await last.text('a'.repeat(400));
      await last.end();
      const frames = await held.reader.whole();
      assert.equal(messagesFrame(held.reader).status, 'completed');
      const told = frames
        .filter(({ data }) => data.includes('history_left_out'))
        .map(({ data }) => JSON.parse(data).data);
      const turns = told[0]?.item.raw_item.turns ?? 0;
      assert.equal(calls, turn - turns, 'every turn is in the prompt or said to be left out');
      if (turns > 0) {
        assert.deepEqual(told, [
          {
            type: 'run_item_stream_event',
            agent: 'Clerk',
            callerAgent: null,
            name: 'history_left_out',
            item: { type: 'history_left_out_item', raw_item: { type: 'history_left_out', turns } },
          },
        ]);
        const replay = await rig.api.events(held.runId, null, apiIntegrationId);
        assert.deepEqual(await replay.whole(), frames);
      }
      leftOut.push(turns);
    }
    assert.equal(leftOut[1], 0);
    assert.ok((leftOut.at(-1) ?? 0) > 5, String(leftOut));
  });

  test('a chat fits the fallbacks of the agents that hand-offs reach', async () => {
    const agent = (name: string, fallback: string[] = []) =>
      defineAgent({ name, description: `${name} is asked.`, instructions: name, files: false, fallback });
    const agents = [agent('Lead'), agent('Desk'), agent('Closer', ['offline/demo'])];
    const flows = [
      { from: 'Lead', to: 'Desk', kind: 'handoff' as const },
      { from: 'Desk', to: 'Closer', kind: 'handoff' as const },
    ];
    await using rig = await ScriptedServer.start({
      store,
      agencies: { team: defineAgency({ name: 'Team', longChats: 'leave_out', agents, flows }) },
      getModel: (port) => ({ ...scriptedModel(port), windowTokens: 100_000 }),
      // The fallback's window.
      env: { RUNWIRE_MODEL_WINDOW: '2000' },
    });
    const apiIntegrationId = await rig.integration({ agency: 'team' });
    const asked: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const held = await rig.hold({ apiIntegrationId, chatId: 'c1', message: 'q'.repeat(1600) });
      asked.push(held.call.request.prompt.length);
      await held.finish('a');
    }
    // Each turn has more than 400 tokens, and the budget is 1 000.
    assert.deepEqual(asked, [1, 3, 5, 5]);
  });

  test('reads only the turns that the model receives, of thousands', async () => {
    const turns = 5000;
    const rowsRead = { count: 0 };
    let opened: Store | undefined;
    const wrapStore = (real: Store) => {
      opened = real;
      return countingRows(rowsRead)(real);
    };
    await using rig = await ScriptedServer.start({ store, agencies, wrapStore, env: { RUNWIRE_MODEL_WINDOW: '8000' } });
    const apiIntegrationId = await rig.integration({ agency: 'test' });
    const body = { apiIntegrationId, chatId: 'c1' };
    await rig.answer({ ...body, message: question(0) }, answer(0));
    assert.ok(opened);
    await growChat(opened, turns);

    const leftOut: number[] = [];
    let shownBefore = '';
    for (let turn = turns; turn < turns + 12; turn += 1) {
      rowsRead.count = 0;
      const held = await rig.hold({ ...body, message: question(turn) });
      const { prompt } = held.call.request;
      const shown = prompt.filter(({ kind }) => kind === 'user').length - 1;
      assert.ok(shown > 20, 'as many as the window takes');
      // After its first turn, only what was added to the chat is read.
      const most = turn === turns ? 600 : 20;
      assert.ok(rowsRead.count < most, `${rowsRead.count} rows were read for ${shown} turns`);
      const expected = Array.from({ length: shown }, (_, place) => turnItems(turn - shown + place)).flat();
      assert.equal(
        JSON.stringify(prompt.slice(0, -1)),
        JSON.stringify(expected),
        'the newest turns, whole and in order',
      );
      await held.call.text(answer(turn));
      await held.call.end();
      const frames = await held.reader.whole();
      const told = frames.find(({ data }) => data.includes('history_left_out'));
      const left = JSON.parse(told?.data ?? '{}').data?.item.raw_item.turns;
      assert.equal(left, turn - shown, 'every turn is in the prompt or said to be left out');
      if (left === leftOut.at(-1))
        assert.ok(JSON.stringify(prompt).startsWith(shownBefore), 'begins as the turn before');
      shownBefore = JSON.stringify(prompt).slice(0, -1);
      leftOut.push(left);
    }
    assert.ok(new Set(leftOut).size < 4, `the beginning stands still: ${leftOut}`);
  });

  test('while the history cannot be read a run waits, and can be cancelled', async () => {
    let failing = 0;
    const wrapStore = hookStore({
      read: async (statement, read) => {
        if (statement !== 'history' || failing === 0) return read();
        failing -= 1;
        throw new StoreUnavailable('No connection was free.');
      },
    });
    await using rig = await ScriptedServer.start({ store, wrapStore });
    await rig.answer({ chatId: 'c1', message: 'One?' });
    failing = 2;
    const { reader } = await rig.answer({ chatId: 'c1', message: 'Two?' });
    assert.deepEqual([messagesFrame(reader).status, failing], ['completed', 0]);

    failing = Number.POSITIVE_INFINITY;
    const waiting = await rig.api.complete({ chatId: 'c1', message: 'Three?' });
    const { body } = await rig.api.post(`/v2/integrations/demo/runs/${waiting.headers['x-run-id']}/cancel`, {});
    assert.equal(body.status, 'cancelled');
  });
}
