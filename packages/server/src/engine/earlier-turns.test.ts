import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, test } from 'node:test';
import { temporaryFolder } from '@runwire/server/testing';
import { ADMITTED_RUN } from '@runwire/test-kit/insert-run.ts';
import { testChatId, testChatKey } from '@runwire/test-kit/test-ids.ts';
import { embeddedStore } from '@runwire/test-kit/test-store.ts';
import fc from 'fast-check';
import { AccountChanges } from '../accounts/accounts-version.ts';
import { Integrations } from '../accounts/integrations.ts';
import { notAudited } from '../audit/audit.ts';
import { Chats } from '../chats/chats.ts';
import { healTurn } from '../chats/heal-history.ts';
import { TurnMemory } from '../chats/turn-memory.ts';
import { newIntegrationId, type RunId } from '../domain/ids.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { insertChat, insertRun } from '../store/queries/admission.ts';
import type { Store } from '../store/store.ts';
import { planPrompt } from './build-prompt.ts';
import { NO_CHAIN } from './chain.ts';
import { readAdded } from './earlier-turns.ts';

/** Chats of an embedded store whose runs are only rows, as admission and the end of a run write them. */
class Rows {
  readonly #store: Store;
  #runs = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async newChat(chatKey: string, chatId = chatKey, integration = 'demo'): Promise<void> {
    const fields = {
      chat_key: testChatKey(chatKey),
      integration_id: newIntegrationId(integration),
      chat_id: testChatId(chatId),
      alias: null,
      consumer_id: null,
      created_at: 1,
    };
    await this.#store.transact('account', (tx) => tx.run(insertChat, { ...fields, num_messages: 0, text_bytes: 0 }));
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
    const texts = { message, hasHistory: true, attachments: [], sandboxFiles: [] };
    return { integrationId: newIntegrationId('demo'), chatKey, runId, ...texts } as unknown as AdmittedRun;
  }

  async end(run: AdmittedRun, ending: Ending): Promise<void> {
    await this.steps(run, ending);
    await this.#message(run.chatKey, run.runId, 'assistant', ending.answer, ending.status);
  }

  async steps({ runId }: AdmittedRun, { answer, status, calls }: Ending): Promise<void> {
    const texts = status === 'failed' ? [] : [{ kind: 'message', text: answer }];
    const steps = [...calls.map((callId) => [{ kind: 'tool_call', callId, name: 'echo', text: '{}' }]), texts];
    for (const [index, output] of steps.entries()) {
      await this.step({ runId }, { step: index + 1, kind: 'model', callId: null, output });
    }
  }

  async step({ runId }: Pick<AdmittedRun, 'runId'>, { step, kind, callId, output }: StoredStep): Promise<void> {
    await this.write(
      `insert into steps (run_id, step, attempt, kind, agent, call_id, status, first_event_id, last_event_id, record_json,
         started_at, completed_at) values (?, ?, 1, ?, 'A', ?, 'completed', 1, 1, ?, 0, 0)`,
      ...[runId, step, kind, callId, JSON.stringify({ output })],
    );
  }

  async attach({ chatKey, runId }: AdmittedRun, sizeBytes: number | null): Promise<void> {
    await this.write(
      `insert into attachments (chat_key, run_id, position, kind, url, url_key, filename_json, detail, form, size_bytes)
       values (?, ?, 0, 'file', 'https://f', 'f', '"f"', 'auto', ?, ?)`,
      ...[chatKey, runId, sizeBytes === null ? null : 'text', sizeBytes],
    );
  }
}

interface StoredStep {
  readonly step: number;
  readonly kind: 'model' | 'tool';
  readonly callId: string | null;
  readonly output: readonly object[];
}

interface Ending {
  readonly answer: string;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly calls: readonly string[];
}
const ANSWER: Ending = { answer: 'Yes.', status: 'completed', calls: [] };
const AGENT = { instructions: '', windowTokens: 100_000, tools: [], usesSummaries: false };

await using stack = new AsyncDisposableStack();
const folder = temporaryFolder();
stack.defer(() => rmSync(folder, { recursive: true, force: true }));
const store = stack.use(await embeddedStore(folder));
const rows = new Rows(store);
const owned = stack.move();
after(() => owned.disposeAsync());

/** A node with its own memory. */
function open() {
  const memory = new TurnMemory();
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
  return { memory, plan, compare, [Symbol.dispose]: () => memory[Symbol.dispose]() };
}

test('a prompt from memory equals the prompt from the store', { timeout: 120_000 }, async () => {
  using rig = open();
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
      await rows.newChat(chatKey);
      for (const [index, one] of turns.entries()) {
        const run = await rows.admit(chatKey, `${index} ${one.message}`);
        if (one.attached !== undefined) await rows.attach(run, one.attached);
        // Another node plans its turns itself, and this one knows nothing of them.
        if (one.kind === 'here') await rig.compare(run, { ...AGENT, windowTokens: one.windowTokens });
        await rows.end(run, one);
        if (one.refetched) {
          await rows.write(`update attachments set form = 'text', size_bytes = ? where chat_key = ?`, index, chatKey);
        }
      }
    }),
    { numRuns: 12 },
  );
});

test('a chain of runs that answered questions is one turn, also from memory', async () => {
  using rig = open();
  await rows.newChat('chain');
  const run = async (message: string, continues: RunId | null) => {
    const one = await rows.admit('chain', message);
    await store.transact('account', (tx) =>
      tx.run(insertRun, { ...ADMITTED_RUN, chat_key: testChatKey('chain'), run_id: one.runId, continues }),
    );
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
  const planned = await planPrompt(store.reads, answers, chain, AGENT, setting);
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
  using rig = open();
  const { memory } = rig;
  await rows.newChat('entry');
  for (const message of ['One?', 'Two?']) {
    const run = await rows.admit('entry', message);
    await rig.plan(run);
    await rows.end(run, ANSWER);
  }
  const run = await rows.admit('entry', 'Three?');
  const { items } = await rig.compare(run);
  const entry = memory.get(testChatKey('entry'));
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
    memory.set(newIntegrationId('demo'), testChatKey('entry'), planted);
    assert.deepEqual((await rig.plan(run)).items, items);
  }
});

test('an entry is not used if the last message is that of another run', async () => {
  using rig = open();
  const { memory } = rig;
  await rows.newChat('lost');
  for (const message of ['One?', 'Two?']) {
    const run = await rows.admit('lost', message);
    await rig.plan(run);
    await rows.end(run, ANSWER);
  }
  const known = memory.get(testChatKey('lost'));
  assert.ok(known);
  const read = ({ chatKey, runId, message }: AdmittedRun) =>
    readAdded(store.reads, { chatKey, runId, message, chained: 0 }, known, healTurn);
  // Another node took this run over and ended it. The next one was admitted there.
  const lost = await rows.admit('lost', 'Three?');
  assert.ok(await read(lost));
  await rows.end(lost, ANSWER);
  const next = await rows.admit('lost', 'Four?');
  assert.equal(await read(lost), null);
  await rig.compare(next);
});

test('a turn that has grown since it was remembered is read again', async () => {
  using rig = open();
  await rows.newChat('grown');
  const run = async (message: string, continues: RunId | null) => {
    const one = await rows.admit('grown', message);
    await store.transact('account', (tx) =>
      tx.run(insertRun, { ...ADMITTED_RUN, chat_key: testChatKey('grown'), run_id: one.runId, continues }),
    );
    await rows.write(`update runs set status = 'completed'`);
    return one;
  };
  await rows.end(await run('One?', null), ANSWER);
  const asks = await run('Refund?', null);
  await rows.end(asks, { ...ANSWER, answer: 'Sure? ', calls: ['refund'] });
  const answers = await run('Do it.', asks.runId);
  // Without its chain, the questions are a whole turn of the entry.
  await rig.plan(answers);
  assert.equal(rig.memory.get(testChatKey('grown'))?.turns.at(-1)?.lastRunId, asks.runId);
  // The questions' call is made now, so the grown turn has its output.
  const output = [{ kind: 'tool_output', callId: 'refund', text: 'Refunded.' }];
  await rows.step(answers, { step: 0, kind: 'tool', callId: 'refund', output });
  await rows.end(answers, { ...ANSWER, answer: 'Done.' });
  const { items } = await rig.compare(await run('Thanks.', null));
  const outputs = items.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
  assert.deepEqual(outputs, ['Refunded.']);
});

test('a node that takes a run over uses its older memory of the chat', async () => {
  using rig = open();
  using others = new TurnMemory();
  await rows.newChat('taken');
  const turn = async (message: string, memory: TurnMemory) => {
    const run = await rows.admit('taken', message);
    await rig.plan(run, AGENT, memory);
    await rows.end(run, { ...ANSWER, calls: [message] });
  };
  for (const message of ['One?', 'Two?']) await turn(message, rig.memory);
  for (const message of ['Three?', 'Four?']) await turn(message, others);
  const run = await rows.admit('taken', 'Five?');
  await rig.plan(run, AGENT, others);
  // The other node crashes after it has stored a step of the run.
  await rows.steps(run, { ...ANSWER, calls: ['five'] });
  assert.equal(rig.memory.get(testChatKey('taken'))?.turns.length, 1);
  const { items } = await rig.compare(run);
  const texts = items.flatMap((item) => (item.kind === 'user' ? [item.text] : []));
  assert.deepEqual(texts, ['One?', 'Two?', 'Three?', 'Four?', 'Five?']);
  assert.equal(rig.memory.get(testChatKey('taken'))?.turns.length, 4);
});

test('a deleted chat leaves the memory, and another chat with its id has none of it', async () => {
  using rig = open();
  const { memory } = rig;
  using others = new TurnMemory();
  const chats = new Chats(store, null as never, (chatKey) => memory.delete(chatKey));
  let last: AdmittedRun | null = null;
  for (const chatKey of ['c', 'd']) {
    await rows.newChat(chatKey);
    const first = await rows.admit(chatKey, 'One?');
    await rows.end(first, ANSWER);
    const second = await rows.admit(chatKey, 'Two?');
    for (const one of [memory, others]) await rig.plan(second, AGENT, one);
    await rows.end(second, ANSWER);
    last ??= second;
  }
  await chats.delete(newIntegrationId('demo'), 'c', notAudited);
  assert.deepEqual([memory.get(testChatKey('c')), memory.size], [undefined, 1]);
  // The other node still has the turns. It shows them neither in a run of the deleted chat nor in a new chat with its id.
  assert.notEqual(others.get(testChatKey('c')), undefined);
  assert.ok(last);
  assert.deepEqual((await rig.plan(last, AGENT, others)).items, [{ kind: 'user', text: 'Two?' }]);
  await assert.rejects(rows.newChat('c'), /unique|constraint/i, 'the key of a deleted chat is never used again');
  await rows.newChat('c2', 'c');
  await rows.end(await rows.admit('c2', 'New?'), ANSWER);
  const { items } = await rig.plan(await rows.admit('c2', 'And?'), AGENT, others);
  assert.deepEqual(
    items.map((item) => ('text' in item ? item.text : '')),
    ['New?', 'Yes.', 'And?'],
  );
});

test('a deleted integration leaves the memory', async () => {
  using rig = open();
  const { memory } = rig;
  using changes = new AccountChanges(store, { accountsVersionMs: 60_000, accountsTrustedMs: 60_000 }, null as never);
  const integrations = new Integrations({
    ...{ store, changes, agencies: null as never, defaultRunSeconds: 1, prices: new Map() as never },
    forgetIntegration: (integrationId) => memory.deleteIntegration(integrationId),
  });
  await rows.write(
    `insert into integrations (integration_id, sort_key, owner_id, name_json, agency, default_agent, text_only,
       on_disconnect, max_run_seconds, keep_attachments, created_at, updated_at)
     values ('demo', 'demo', 'o', '"D"', 'a', 'A', 0, 'continue', 1, 0, 1, 1)`,
  );
  await rows.newChat('left');
  await rows.end(await rows.admit('left', 'One?'), ANSWER);
  await rig.plan(await rows.admit('left', 'Two?'));
  const turns = memory.get(testChatKey('left'));
  assert.ok(turns);
  memory.set(newIntegrationId('shop'), testChatKey('s'), turns);
  await integrations.delete(newIntegrationId('demo'), notAudited);
  assert.deepEqual(
    [memory.get(testChatKey('left')), memory.get(testChatKey('s'))?.before, memory.size],
    [undefined, turns.before, 1],
  );
});
