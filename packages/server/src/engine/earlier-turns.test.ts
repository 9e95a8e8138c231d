import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import fc from 'fast-check';
import { Chats } from '../chats/chats.ts';
import { healTurn } from '../chats/heal-history.ts';
import { TurnMemory } from '../chats/turn-memory.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import { insertChat, insertRun } from '../store/queries/admission.ts';
import type { Store } from '../store/store.ts';
import { planPrompt } from './build-prompt.ts';
import { NO_CHAIN } from './chain.ts';

/** Chats of an embedded store whose runs are only rows, as admission and the end of a run write them. */
class Rows {
  readonly #store: Store;
  #runs = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async newChat(chatKey: string): Promise<void> {
    const fields = { chatKey, integrationId: 'demo', chatId: chatKey, alias: null, consumerId: null, now: 1 };
    await this.#store.transact('account', (tx) => tx.run(insertChat, { ...fields, numMessages: 0, textBytes: 0 }));
  }

  async write(sql: string, ...parameters: readonly (string | number | null)[]): Promise<void> {
    const query = { compile: () => ({ sql, parameters }), execute: async () => [] as object[] };
    await this.#store.transact('account', (tx) => tx.query(() => query));
  }

  async #message(chatKey: string, runId: string, role: 'user' | 'assistant', text: string, status: string) {
    await this.write(
      'update chats set num_messages = num_messages + 1, text_bytes = text_bytes + ? where chat_key = ?',
      Buffer.byteLength(text),
      chatKey,
    );
    await this.write(
      `insert into messages (message_id, chat_key, position, run_id, role, status, agent, content_json, created_at)
       select ?, chat_key, num_messages, ?, ?, ?, 'A', ?, 1 from chats where chat_key = ?`,
      ...[`${runId}-${role}`, runId, role, status, JSON.stringify(text), chatKey],
    );
  }

  async admit(chatKey: string, message: string): Promise<AdmittedRun> {
    this.#runs += 1;
    const runId = `run_${String(this.#runs).padStart(6, '0')}`;
    await this.#message(chatKey, runId, 'user', message, 'completed');
    return { chatKey, runId, message, hasHistory: true, attachments: [], sandboxFiles: [] } as unknown as AdmittedRun;
  }

  async end({ chatKey, runId }: AdmittedRun, { answer, status, calls }: Ending): Promise<void> {
    const said = status === 'failed' ? [] : [{ kind: 'message', text: answer }];
    const steps = [...calls.map((callId) => [{ kind: 'tool_call', callId, name: 'echo', text: '{}' }]), said];
    for (const [index, output] of steps.entries()) {
      await this.write(
        `insert into steps (run_id, step, attempt, kind, agent, status, first_event_id, last_event_id, record_json,
           started_at, completed_at) values (?, ?, 1, 'model', 'A', 'completed', 1, 1, ?, 0, 0)`,
        ...[runId, index + 1, JSON.stringify({ output })],
      );
    }
    await this.#message(chatKey, runId, 'assistant', answer, status);
  }

  async attach({ chatKey, runId }: AdmittedRun, sizeBytes: number | null): Promise<void> {
    await this.write(
      `insert into attachments (chat_key, run_id, position, kind, url, url_key, filename_json, detail, form, size_bytes)
       values (?, ?, 0, 'file', 'https://f', 'f', '"f"', 'auto', ?, ?)`,
      ...[chatKey, runId, sizeBytes === null ? null : 'text', sizeBytes],
    );
  }
}

interface Ending {
  readonly answer: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly calls: readonly string[];
}

const RUN: Omit<Parameters<typeof insertRun.build>[1], 'runId' | 'continues'> = {
  ...{ integrationId: 'demo', chatKey: 'c', consumerId: null, usageRequestId: null, fingerprint: null, agency: 'a' },
  ...{ agent: 'A', nodeId: 'n', held: 0, unit: null, day: 1, period: null, periodStart: null, userContextJson: null },
  ...{ answersJson: null, clientToolsJson: null, journalFormat: 1, agencyVersion: null, fileAccess: 'all' },
  ...{ memberFolder: null, now: 1 },
};
const ANSWER: Ending = { answer: 'Yes.', status: 'completed', calls: [] };
const AGENT = { instructions: '', windowTokens: 100_000, tools: [] };

async function open() {
  await using stack = new AsyncDisposableStack();
  const folder = temporaryFolder();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const store = stack.use(await embeddedStore(folder));
  const memory = stack.use(new TurnMemory());
  const plan = async (run: AdmittedRun, agent = AGENT, used = memory) =>
    planPrompt(store.reads, run, NO_CHAIN, agent, { heal: healTurn, memory: used, windowTokens: 0 });
  /** Plans with the memory and without it, and expects the same prompt. */
  const compare = async (run: AdmittedRun, agent = AGENT) => {
    using empty = new TurnMemory();
    const expected = await plan(run, agent, empty);
    assert.deepEqual(await plan(run, agent), expected);
    const callIds = expected.items.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
    assert.equal(new Set(callIds).size, callIds.length, 'no two calls share an id');
    return expected;
  };
  const owned = stack.move();
  return {
    ...{ store, memory, rows: new Rows(store), plan, compare },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

test('a prompt from memory equals the prompt from the store', { timeout: 120_000 }, async () => {
  await using rig = await open();
  const text = fc.constantFrom('', 'Yes.', 'Grüße', 'x'.repeat(300));
  const turn = fc.record({
    kind: fc.constantFrom('here', 'here', 'elsewhere'),
    message: text,
    answer: text,
    status: fc.constantFrom<Ending['status']>('completed', 'completed', 'failed', 'cancelled'),
    // Two turns may have calls with the same id.
    calls: fc.array(fc.constantFrom('a', 'a_2', 'b'), { maxLength: 2 }),
    attached: fc.constantFrom<number | null | undefined>(undefined, undefined, undefined, null, 100),
    /** Changes the rows of all attachments, as a fetch does. */
    refetched: fc.boolean(),
    windowTokens: fc.constantFrom(600, 2_000, 100_000),
  });
  let chats = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 20 }), async (turns) => {
      chats += 1;
      const chatKey = `chat_${chats}`;
      await rig.rows.newChat(chatKey);
      for (const [index, one] of turns.entries()) {
        const run = await rig.rows.admit(chatKey, `${index} ${one.message}`);
        if (one.attached !== undefined) await rig.rows.attach(run, one.attached);
        // Another node plans its turns itself, and this one knows nothing of them.
        if (one.kind === 'here') await rig.compare(run, { ...AGENT, windowTokens: one.windowTokens });
        await rig.rows.end(run, one);
        if (one.refetched) {
          await rig.rows.write(
            `update attachments set form = 'text', size_bytes = ? where chat_key = ?`,
            index,
            chatKey,
          );
        }
      }
    }),
    { numRuns: 12 },
  );
});

test('a chain of runs that answered questions is one turn, also from memory', async () => {
  await using rig = await open();
  const { rows } = rig;
  await rows.newChat('c');
  const run = async (message: string, continues: string | null) => {
    const one = await rows.admit('c', message);
    await rig.store.transact('account', (tx) => tx.run(insertRun, { ...RUN, runId: one.runId, continues }));
    // Only one run of a chat may be active.
    await rows.write(`update runs set status = 'completed'`);
    return one;
  };
  const first = await run('One?', null);
  await rows.end(first, ANSWER);
  const asks = await run('Refund?', null);
  await rig.compare(asks);
  await rows.end(asks, { ...ANSWER, answer: 'Sure? ', calls: ['refund'] });
  const chain = { ...NO_CHAIN, runIds: [asks.runId], rootSteps: [1] };
  const answers = await run('Do it.', asks.runId);
  const setting = { heal: healTurn, memory: rig.memory, windowTokens: 0 };
  const planned = await planPrompt(rig.store.reads, answers, chain, AGENT, setting);
  assert.deepEqual(
    [planned.items.map((item) => ('text' in item ? item.text : '')), planned.later],
    [['One?', 'Yes.', 'Refund?'], [{ afterSteps: 1, item: { kind: 'user', text: 'Do it.' } }]],
  );
  await rows.end(answers, { ...ANSWER, answer: 'Done.' });
  const { items } = await rig.compare(await run('Thanks.', null));
  const texts = items.map((item) => ('text' in item ? item.text : item.kind));
  assert.deepEqual(texts.slice(2), ['Refund?', 'tool_call', 'tool_output', 'Sure? ', 'Do it.', 'Done.', 'Thanks.']);
});

test('an entry that is not the beginning of the chat is not used', async () => {
  await using rig = await open();
  const { rows, memory } = rig;
  await rows.newChat('c');
  for (const message of ['One?', 'Two?']) {
    const run = await rows.admit('c', message);
    await rig.plan(run);
    await rows.end(run, ANSWER);
  }
  const run = await rows.admit('c', 'Three?');
  const { items } = await rig.compare(run);
  const entry = memory.get('c');
  assert.ok(entry);
  const [turn] = entry.turns;
  assert.ok(turn);
  const stale = { ...turn, items: [{ kind: 'user' as const, text: 'Of another chat' }] };
  for (const planted of [
    // A turn is missing, a turn is too much, a text has changed, the chat is another one.
    { ...entry, turns: [stale], before: 3 },
    { ...entry, turns: [...entry.turns, stale], before: 7 },
    { ...entry, turns: [stale, ...entry.turns.slice(1)], textBytes: entry.textBytes + 1 },
    { ...entry, turns: [stale], from: 2, before: 4 },
  ]) {
    memory.set('c', planted);
    assert.deepEqual((await rig.plan(run)).items, items);
  }
});

test('a deleted chat leaves the memory, and another chat with its id has none of it', async () => {
  await using rig = await open();
  const { rows, memory } = rig;
  const chats = new Chats(rig.store, null as never, (chatKey) => memory.delete(chatKey));
  for (const chatKey of ['c', 'd']) {
    await rows.newChat(chatKey);
    const first = await rows.admit(chatKey, 'One?');
    await rows.end(first, ANSWER);
    const second = await rows.admit(chatKey, 'Two?');
    await rig.plan(second);
    await rows.end(second, ANSWER);
  }
  await chats.delete('demo', 'c');
  assert.deepEqual([memory.get('c'), memory.size], [undefined, 1]);
});
