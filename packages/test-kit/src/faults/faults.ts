import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolCall } from '@runwire/agency';
import { FairBudget } from '@runwire/lib/fair-budget.ts';
import { PageTurns } from '@runwire/lib/page-turns.ts';
import { Agencies } from '@runwire/server/src/agencies/agencies.ts';
import type { Tool } from '@runwire/server/src/agent/ports.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { CommitUnknown, StoreUnavailable } from '@runwire/server/src/domain/unavailable.ts';
import { checkForm } from '@runwire/server/src/files/post-policy/check-form.ts';
import type { Store, Tx } from '@runwire/server/src/store/store.ts';
import { createLogger } from '@runwire/server/src/telemetry/logger.ts';
import pg from 'pg';
import { hookStore } from '../hook-store.ts';
import { askDatabase } from '../postgres-server.ts';
import { ATTACHMENT_FAULTS } from './attachment-faults.ts';
import { BAD_TOOL_FAULTS } from './bad-tools-faults.ts';
import { COMPATIBLE_FAULTS } from './compatible-faults.ts';
import { FORK_FAULTS } from './fork-faults.ts';
import { IMAGE_FAULTS } from './image-faults.ts';
import { MCP_FAULTS } from './mcp-faults.ts';
import { MODEL_FAULTS } from './model-faults.ts';
import { OPENAI_FAULTS } from './openai-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { writeBeforeCommit } from './publish-faults.ts';
import { RERUN_FAULTS } from './rerun-faults.ts';
import { ROLE_FAULTS } from './role-faults.ts';
import { SCHEDULE_FAULTS } from './schedule-faults.ts';
import { SIGN_IN_FAULTS } from './sign-in-faults.ts';
import { quotaOutsideTransaction, rowBeforeBlob, stageChanges } from './staged-changes.ts';
import { SUMMARY_FAULTS } from './summary-faults.ts';
import { around, type Params, params, rows, tamper } from './tampered-store.ts';
import { TOKEN_FAULTS } from './token-faults.ts';
import { TRACE_FAULTS } from './trace-faults.ts';
import { holdFiles, loseAByte, writePlainly } from './upload-faults.ts';
import { WEBHOOK_FAULTS } from './webhook-faults.ts';

/** Reads outside the transaction, without locks, until the first write. */
function readingOutside(store: Store, tx: Tx): Tx {
  let hasWritten = false;
  return {
    all: async (statement, given) => {
      if (hasWritten) return tx.all(statement, given);
      return statement.locks === true ? [] : store.reads.all(statement, given);
    },
    query: (build) => tx.query(build),
    run: (statement, given) => {
      hasWritten = true;
      return tx.run(statement, given);
    },
  };
}

/** Declares every other node dead when this one registers. */
function fencing(tx: Tx): Tx {
  const fence = (nodeId: string) =>
    tx.query((db) => db.updateTable('nodes').set({ dead: 1 }).where('node_id', '<>', nodeId).where('dead', '=', 0));
  return {
    all: tx.all.bind(tx),
    query: tx.query.bind(tx),
    run: async (statement, given) => {
      if (statement.name === 'insert nodes') await fence((given as { node_id: string }).node_id);
      return tx.run(statement, given);
    },
  };
}

/** Transactions do not lock their node's row, and may stay open for ever. */
function lockNoNode(): Overrides {
  const client = pg.Client.prototype as unknown as Record<'query' | 'getStartupConf', (...args: object[]) => object>;
  const { query, getStartupConf } = client;
  client.query = function (this: object, config: { text?: string }, ...rest) {
    const text = config.text?.replace(' for share', '');
    return query.call(this, text === undefined ? config : { ...config, text }, ...rest);
  };
  client.getStartupConf = function (this: object) {
    return { ...getStartupConf.call(this), idle_in_transaction_session_timeout: '0' };
  };
  return {};
}

/** Shows earlier turns as they are stored, also calls without their outputs. */
function healNothing({ message, steps, answer }: Parameters<Heal>[0]): ReturnType<Heal> {
  const items = steps.flatMap(({ output }) =>
    output.flatMap((item): ReturnType<Heal>[number][] => {
      if (item.kind === 'message') return [{ kind: 'assistant', text: item.text }];
      if (item.kind === 'tool_output') return [{ kind: 'tool_output', callId: item.callId, output: item.text }];
      if (item.kind !== 'tool_call') return [];
      return [{ kind: 'tool_call', callId: item.callId, name: item.name, arguments: item.text }];
    }),
  );
  const said = items.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');
  const rest = answer.slice(said.length);
  const more: ReturnType<Heal> = rest === '' ? [] : [{ kind: 'assistant', text: rest }];
  return [{ kind: 'user', text: message }, ...items, ...more];
}
type Heal = NonNullable<Overrides['healTurn']>;

/** Gives an aborted call up here, while it continues at the provider. */
function deafModel({ model }: Overrides): Overrides {
  if (model === undefined) throw new Error('This fault needs a scripted model.');
  const { id, call } = model;
  const aborted = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const never = new AbortController().signal;
  return {
    model: { id, call: (request, output, signal) => Promise.race([call(request, output, never), aborted(signal)]) },
  };
}

/** The node that finds the database back first declares all nodes dead, which could not send heartbeats. */
function fenceTheLiving(): Overrides {
  let wasAway = false;
  return {
    wrapStore: around((transact) => async (name, job, locks) => {
      try {
        const value = await transact(name, job, locks);
        const isBack = wasAway;
        wasAway = false;
        if (isBack) await askDatabase(process.env.DATABASE_URL ?? '', 'update nodes set dead = 1 where dead = 0');
        return value;
      } catch (error) {
        if (error instanceof StoreUnavailable) wasAway = true;
        throw error;
      }
    }),
  };
}

/** Treats a commit with an unknown outcome as if it had failed. */
const claimFalse = around((transact) => async (name, job, locks) => {
  try {
    return await transact(name, job, locks);
  } catch (error) {
    if (name !== 'admit' || !(error instanceof CommitUnknown)) throw error;
    throw new StoreUnavailable('Surely it did not happen.');
  }
});

/** Accepts a form with fields that its policy does not name. */
function takeExtraFields(...[form, ...rest]: Parameters<typeof checkForm>): ReturnType<typeof checkForm> {
  const signed =
    /^(key|content-type|policy|success_action_.*|x-amz-(algorithm|credential|date|signature)|x-amz-meta-foo.*)$/;
  try {
    return checkForm(form, ...rest);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('Extra input fields')) throw error;
    const fields = new Map([...form.fields].filter(([name]) => signed.test(name)));
    return checkForm({ ...form, fields, names: [...fields.keys()] }, ...rest);
  }
}

/** Loses every second chunk of a run on another node on its way to the readers. */
function skipChunk(): Overrides {
  let chunks = 0;
  const isLost = (row: Params) => row.data !== null && ++chunks % 2 === 0;
  return rows('far news', (all) => all.map((row) => (isLost(row) ? { ...row, data: '{"v":1,"i":[],"e":[]}' } : row)));
}

/** Runs see an agency without the last flow of each agent, although the list of agencies shows it. */
function dropFlow(): Overrides {
  const { find } = Agencies.prototype;
  Agencies.prototype.find = function (this: Agencies, id) {
    const found = find.call(this, id);
    if (!found?.loaded) return found;
    const agents = [...found.loaded.agents].map(
      ([name, agent]) => [name, { ...agent, flows: agent.flows.slice(0, -1) }] as const,
    );
    return { ...found, loaded: { ...found.loaded, agents: new Map(agents) } };
  };
  return {};
}

/** Makes a call when it is decided whether it needs approval. */
function runBeforeAsking(): Overrides {
  const { find } = Agencies.prototype;
  Agencies.prototype.find = function (this: Agencies, id) {
    const found = find.call(this, id);
    if (!found?.loaded) return found;
    const agents = [...found.loaded.agents].map(([name, agent]) => {
      const tools = agent.tools.map((tool) => ({
        ...tool,
        ...(tool.asks?.kind === 'approval' ? { asks: { ...tool.asks, isNeeded: callFirst(tool) } } : {}),
      }));
      return [name, { ...agent, tools }] as const;
    });
    return { ...found, loaded: { ...found.loaded, agents: new Map(agents) } };
  };
  return {};
}

/** Makes approved calls with the arguments that the model wrote. */
function runOriginalArguments(): Overrides {
  const written = new Map<string, unknown>();
  const { find } = Agencies.prototype;
  Agencies.prototype.find = function (this: Agencies, id) {
    const found = find.call(this, id);
    if (!found?.loaded) return found;
    const agents = [...found.loaded.agents].map(([name, agent]) => {
      const tools = agent.tools.map((tool): Tool => {
        const { asks } = tool;
        if (asks === undefined) return tool;
        const isNeeded: typeof asks.isNeeded = (input, call) => {
          written.set(call.toolCallId, input);
          return asks.isNeeded(input, call);
        };
        const call: Tool['call'] = (input, about, text) => tool.call(written.get(about.callId) ?? input, about, text);
        return { ...tool, asks: { ...asks, isNeeded }, call };
      });
      return [name, { ...agent, tools }] as const;
    });
    return { ...found, loaded: { ...found.loaded, agents: new Map(agents) } };
  };
  return {};
}

/** Admission sees the questions that a chat had before. */
function answerTwice(): Overrides {
  const stored = new Map<unknown, unknown>();
  const ever = new Map<unknown, unknown>();
  const remember = (row: Params): Params => {
    const { chat_key: chatKey, chat_questions_json: questions } = row;
    stored.set(chatKey, questions);
    if (questions !== null) ever.set(chatKey, questions);
    return { ...row, chat_questions_json: ever.get(chatKey) ?? null };
  };
  return {
    wrapStore: tamper({
      rows: (statement, all) => (statement === 'admission facts' ? all.map(remember) : all),
      params: (statement, given) =>
        statement === 'grow chat' && given.knownQuestionsJson !== null
          ? { ...given, knownQuestionsJson: stored.get(given.chatKey) }
          : given,
    }),
  };
}

class NoTurns extends PageTurns {
  override take(): Disposable {
    return { [Symbol.dispose]() {} };
  }
}

const callFirst =
  (tool: Tool) =>
  async (input: unknown, call: { readonly toolCallId: string }): Promise<true> => {
    const { toolCallId: callId } = call;
    const abortSignal = new AbortController().signal;
    await tool.call(input, { ...call, callId, idempotencyKey: `early/${callId}`, abortSignal } as ToolCall, '');
    return true;
  };

/** How long a proof of late writers looks for a planted fault. */
export const LATE_FAULT_MS = 8000;

const signSlowly =
  (pauseMs: number) =>
  async <R>(statement: string, read: () => Promise<R[]>): Promise<R[]> => {
    const found = await read();
    if (statement === 'erasures of folders') await sleep(pauseMs);
    return found;
  };

/** The end of a run raises the rollups in a transaction of its own. */
const raiseAfterCommit = around((transact) => async (name, job) => {
  const late: ((tx: Tx) => Promise<unknown>)[] = [];
  const value = await transact(name, (tx) =>
    job({
      all: tx.all.bind(tx),
      query: tx.query.bind(tx),
      run: async (statement, given) => {
        if (statement.name !== 'raise usage hour') return tx.run(statement, given);
        late.push((next) => next.run(statement, given));
        return 1;
      },
    }),
  );
  for (const raise of late) await transact(name, raise);
  return value;
});

const FAULTS: Readonly<Record<string, (given: Overrides) => Overrides>> = {
  // No request is known again: each is stored under an id of its own.
  'forget-requests': () => ({
    wrapStore: tamper({
      params: (statement, given) =>
        statement === 'insert runs' ? { ...given, usage_request_id: randomUUID() } : given,
      rows: (statement, all) =>
        statement === 'admission facts' ? all.map((row) => ({ ...row, known_run_id: null })) : all,
    }),
  }),
  // A call is made before the question about it is asked.
  'run-before-asking': runBeforeAsking,
  // A person's changes of arguments are not used.
  'run-original-arguments': runOriginalArguments,
  // Questions stay open after their answer.
  'answer-twice': answerTwice,
  // A run in progress holds nothing of its member's allowance.
  'forget-holds': () => params('insert active_runs', (given) => ({ ...given, held: 0 })),
  'read-then-write': () => ({
    wrapStore: (store) =>
      around((transact) => (name, job, locks) => transact(name, (tx) => job(readingOutside(store, tx)), locks))(store),
  }),
  // A start finds no run that died with its process.
  'leave-orphans': () => rows('orphaned runs', () => []),
  'fence-old-nodes': () => ({
    wrapStore: around((transact) => (name, job, locks) => transact(name, (tx) => job(fencing(tx)), locks)),
  }),
  'no-share-lock': lockNoNode,
  // Turns that the loop has not added to the index are not searched.
  'skip-unindexed': () => rows('turns outside', () => []),
  'rollup-after-commit': () => ({ wrapStore: raiseAfterCommit }),
  // A server that takes a run over finds nothing that the run had finished.
  'forget-journal': () => rows('journal of', () => []),
  // A server that takes a run over knows only what the root loop had finished.
  'forget-loops': () => rows('journal of', (all) => all.filter(({ loop }) => loop === '')),
  // The index of a step counts the model steps of all loops, in the order in which they finished.
  'count-by-order': () =>
    rows('journal of', (all) => {
      let index = 0;
      return all.map((row) => (row.kind === 'model' ? { ...row, index_in_loop: ++index } : row));
    }),
  // A takeover names no item that it makes void.
  'keep-void-items': () =>
    params('insert event_chunks', (given) => ({
      ...given,
      data: String(given.data).replace(/,"voidItems":\[[^\]]*\]/, ''),
    })),
  // Read from the store, a stream continues one event too late.
  'skip-events': () => params('chunk after', (given) => ({ ...given, after: (given.after as number) + 1 })),
  'skip-chunk': skipChunk,
  // A slow reader gets everything into memory.
  'unbounded-readers': () => ({ limits: { unsentBytes: Number.MAX_SAFE_INTEGER } }),
  // A provider may be silent for an hour.
  'endless-patience': () => ({ limits: { modelSilenceMs: 3_600_000 } }),
  'any-depth': () => ({ limits: { bodyDepth: Number.MAX_SAFE_INTEGER } }),
  'open-calls': () => ({ healTurn: healNothing }),
  'deaf-model': deafModel,
  // Read from the store, every run completed.
  'hide-failures': () =>
    rows('chunk after', (all) =>
      all.map((row) => ({ ...row, data: String(row.data).replace('"status":"failed"', '"status":"completed"') })),
    ),
  'claims-false': () => ({ wrapStore: claimFalse }),
  'fences-the-living': fenceTheLiving,
  // An unanswered COMMIT is judged by the status of its transaction id, which may be another transaction's by now.
  'trust-xid': () => ({
    judgeCommit: async (client, { xid }) => {
      const { rows: found } = await client.query('select pg_xact_status($1::xid8) as status', [xid]);
      const [{ status }] = found;
      return status === 'committed' ? 'committed' : status === 'aborted' ? 'lost' : 'unknown';
    },
  }),
  // No character is replaced with its look-alike: U+FF0E twice is not `..`.
  'no-folding': () => {
    String.prototype.normalize = function normalize() {
      return String(this);
    };
    return {};
  },
  // A form counts as signed long ago, so what was signed is never known again.
  'forget-forms': () => params('insert upload_forms', (given) => ({ ...given, signed_at: 0 })),
  // No file keeps its type.
  'forget-types': () =>
    params('insert files', (given) => ({
      ...given,
      files: String(given.files).replaceAll(/"type":"[^"]*"/g, '"type":"application/octet-stream"'),
    })),
  'take-extra-fields': () => ({ checkForm: takeExtraFields }),
  'lose-a-byte': loseAByte,
  'hold-files': holdFiles,
  'plain-writes': writePlainly,
  // No fault: a server of `files-atomic`.
  'change-files': () => stageChanges(),
  'row-before-blob': rowBeforeBlob,
  'quota-outside-transaction': quotaOutsideTransaction,
  'write-before-commit': writeBeforeCommit,
  // Every run sees all files of its integration.
  'no-file-access': () => rows('admission facts', (all) => all.map((row) => ({ ...row, file_access: 'all' }))),
  ...ATTACHMENT_FAULTS,
  ...BAD_TOOL_FAULTS,
  ...MODEL_FAULTS,
  ...MCP_FAULTS,
  ...OPENAI_FAULTS,
  ...PROCESS_FAULTS,
  ...RERUN_FAULTS,
  ...IMAGE_FAULTS,
  ...ROLE_FAULTS,
  ...TOKEN_FAULTS,
  ...WEBHOOK_FAULTS,
  ...TRACE_FAULTS,
  ...COMPATIBLE_FAULTS,
  ...FORK_FAULTS,
  ...SIGN_IN_FAULTS,
  ...SUMMARY_FAULTS,
  ...SCHEDULE_FAULTS,
  // The process ends when a checkpoint fails.
  'die-on-checkpoint': () => {
    const error = (_: unknown, sentence?: string) => {
      if (sentence?.startsWith('a checkpoint failed')) process.exit(1);
    };
    return { logger: Object.assign(createLogger('silent'), { error }) };
  },
  // Faults are reported one line too early.
  'wrong-line': () => ({
    wrapFault: (fault) => ({ ...fault, line: fault.line === null ? null : Math.max(1, fault.line - 1) }),
  }),
  'drop-flow': dropFlow,
  // An erasure deletes no event, so the texts of the streams stay.
  'keep-copy': () => params('erase events', (given) => ({ ...given, runId: '' })),
  // Loops over pages never let the event loop turn.
  'no-yield': () => ({ turns: new NoTurns(1) }),
  // No fault: a signing takes long between the look at erasures and its transaction.
  'slow-signing': () => ({ wrapStore: hookStore({ read: signSlowly(1500) }) }),
  // An erasure does not know the bytes that its person still writes.
  'forget-pending': () => params('insert pending_blobs', (given) => ({ ...given, erased_id: null, path: null })),
  // A form is accepted without a row.
  'any-form': () => rows('open form', () => [{ form_id: 'any' }]),
  // A signing does not look whether the folder was erased.
  'sign-anyway': () => ({
    wrapStore: hookStore({
      // Long enough that E3 commits before, also on a busy machine.
      read: signSlowly(LATE_FAULT_MS),
      readInside: async (statement, read) => (statement === 'erasures of folders' ? [] : read()),
    }),
  }),
  // Bytes of refused requests are not deleted.
  'keep-refused': () => ({
    wrapBlobs: (blobs) =>
      new Proxy(blobs, {
        get(target, name) {
          if (name === 'delete') return async () => {};
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
  }),
  // Owners have no share: an owner with several integrations may hold everything.
  'shared-by-integration': () => ({ newBudget: (total) => new FairBudget(total, () => false) }),
};

/** Returns what a server gets in addition to the given overrides, or in their place. A fault of a client changes no server. */
export function plantFault(fault: string, given: Overrides): Overrides {
  const plant = FAULTS[fault];
  if (plant === undefined) return given;
  const planted = plant(given);
  const { wrapStore: inner = (store) => store } = given;
  const { wrapStore: outer = (store) => store } = planted;
  return {
    ...given,
    ...planted,
    limits: { ...given.limits, ...planted.limits },
    wrapStore: (store) => outer(inner(store)),
  };
}
