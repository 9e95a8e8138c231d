import { randomUUID } from 'node:crypto';
import {
  askDatabase,
  CommitUnknown,
  checkForm,
  createLogger,
  FairBudget,
  type JudgeCommit,
  type Overrides,
  type ProcessOptions,
  type Store,
  StoreUnavailable,
  scriptedModel,
  type Tx,
} from '@runwire/test-kit';
import {
  convertHere,
  fetchAgain,
  forgetRefreshes,
  leakQuery,
  shareCopies,
  skipUnreadable,
  takeAnyKey,
} from './attachment-faults.ts';
import { holdFiles, loseAByte, writePlainly } from './mount-faults.ts';
import { around, type Params, tamper } from './tampered-store.ts';

/** No request is ever known again: each is stored under an id of its own. */
function forgetRequests(): Overrides {
  return {
    wrapStore: tamper({
      params: (statement, params) =>
        statement === 'insert run' ? { ...params, usageRequestId: randomUUID() } : params,
      rows: (statement, rows) =>
        statement === 'admission facts' ? rows.map((row) => ({ ...row, known_run_id: null })) : rows,
    }),
  };
}

/** A run under way holds nothing of its member's allowance. */
function forgetHolds(): Overrides {
  return {
    wrapStore: tamper({
      params: (statement, params) => (statement === 'insert run' ? { ...params, held: 0 } : params),
    }),
  };
}

/** Changes of accounts, chats and admissions read outside their transaction, without locks, before they write. */
function readThenWrite(): Overrides {
  return {
    wrapStore: (store) => ({
      ...around((transact) => (name, job) => transact(name, (tx) => job(readingOutside(store, tx))))(store),
    }),
  };
}

function readingOutside(store: Store, tx: Tx): Tx {
  let hasWritten = false;
  return {
    all: async (statement, params) => {
      if (hasWritten) return tx.all(statement, params);
      return statement.locks === true ? [] : store.reads.all(statement, params);
    },
    query: (build) => tx.query(build),
    run: (statement, params) => {
      hasWritten = true;
      return tx.run(statement, params);
    },
  };
}

/** A start finds no run that died with its process. */
function leaveOrphans(): Overrides {
  return { wrapStore: tamper({ rows: (statement, rows) => (statement === 'orphaned runs' ? [] : rows) }) };
}

/** A start takes for dead whoever else is there. */
function fenceOldNodes(): Overrides {
  const fence = (tx: Tx, nodeId: string) =>
    tx.query((db) => db.updateTable('nodes').set({ dead: 1 }).where('node_id', '<>', nodeId).where('dead', '=', 0));
  const fencing = (tx: Tx): Tx => ({
    all: tx.all.bind(tx),
    query: tx.query.bind(tx),
    run: async (statement, params) => {
      if (statement.name === 'insert node') await fence(tx, (params as { nodeId: string }).nodeId);
      return tx.run(statement, params);
    },
  });
  return { wrapStore: around((transact) => (name, job) => transact(name, (tx) => job(fencing(tx)))) };
}

/** Whoever takes a run over finds nothing that it had finished. */
function forgetJournal(): Overrides {
  return { wrapStore: tamper({ rows: (statement, rows) => (statement === 'journal of' ? [] : rows) }) };
}

/** Read from the store, a stream goes on one event too late. */
function skipEvents(): Overrides {
  return {
    wrapStore: tamper({
      params: (statement, params) =>
        statement === 'chunk after' ? { ...params, after: (params.after as number) + 1 } : params,
    }),
  };
}

/** Of a run on another node every second chunk is lost on its way to the readers. */
function skipChunk(): Overrides {
  let chunks = 0;
  const lost = (row: Params): boolean => {
    if (row.data === null) return false;
    chunks += 1;
    return chunks % 2 === 0;
  };
  return {
    wrapStore: tamper({
      rows: (statement, rows) =>
        statement === 'far news'
          ? rows.map((row) => (lost(row) ? { ...row, data: '{"v":1,"i":[],"e":[]}' } : row))
          : rows,
    }),
  };
}

/** Read from the store, every run completed. */
function hideFailures(): Overrides {
  return {
    wrapStore: tamper({
      rows: (statement, rows) =>
        statement === 'chunk after'
          ? rows.map((row) => ({ ...row, data: String(row.data).replace('"status":"failed"', '"status":"completed"') }))
          : rows,
    }),
  };
}

/** A slow reader is given everything at once, into memory. */
function unboundedReaders(): Overrides {
  return { limits: { unsentBytes: Number.MAX_SAFE_INTEGER } };
}

/** A provider may be silent for an hour. */
function endlessPatience(): Overrides {
  return { limits: { modelSilenceMs: 3_600_000 } };
}

/** A body may be nested as deep as it likes. */
function anyDepth(): Overrides {
  return { limits: { bodyDepth: Number.MAX_SAFE_INTEGER } };
}

/** Earlier turns are shown as they are stored, calls without their outputs among them. */
function leaveCallsOpen(): Overrides {
  type Heal = NonNullable<Overrides['healTurn']>;
  type Item = ReturnType<Heal>[number];
  type StoredItem = Parameters<Heal>[0]['steps'][number]['output'][number];
  const asStored = (item: StoredItem): Item[] => {
    if (item.kind === 'message') return [{ kind: 'assistant', text: item.text }];
    if (item.kind === 'tool_output') return [{ kind: 'tool_output', callId: item.callId, output: item.text }];
    if (item.kind !== 'tool_call') return [];
    return [{ kind: 'tool_call', callId: item.callId, name: item.name, arguments: item.text }];
  };
  return {
    healTurn: ({ message, steps, answer }) => {
      const items = steps.flatMap(({ output }) => output.flatMap(asStored));
      const said = items.map((item) => (item.kind === 'assistant' ? item.text : '')).join('');
      const rest = answer.slice(said.length);
      return [
        { kind: 'user', text: message },
        ...items,
        ...(rest === '' ? [] : [{ kind: 'assistant' as const, text: rest }]),
      ];
    },
  };
}

/** An aborted call is given up here, and goes on there. */
function deafModel({ controllerPort = 0 }: ProcessOptions): Overrides {
  const model = scriptedModel(controllerPort);
  return {
    model: {
      id: model.id,
      call: (request, output, signal) =>
        Promise.race([
          model.call(request, output, new AbortController().signal),
          new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        ]),
    },
  };
}

/** A commit that nobody knows the outcome of is taken for one that did not happen. */
function claimFalse(): Overrides {
  return {
    wrapStore: around((transact) => async (name, job) => {
      try {
        return await transact(name, job);
      } catch (error) {
        if (name !== 'admit' || !(error instanceof CommitUnknown)) throw error;
        throw new StoreUnavailable('Surely it did not happen.');
      }
    }),
  };
}

/** An unanswered COMMIT is judged by the status of its transaction id, which may be another transaction's by now. */
function trustXid(): Overrides {
  const judgeCommit: JudgeCommit = async (client, { xid }) => {
    const { rows } = await client.query('select pg_xact_status($1::xid8) as status', [xid]);
    return rows[0].status === 'committed' ? 'committed' : rows[0].status === 'aborted' ? 'lost' : 'unknown';
  };
  return { judgeCommit };
}

/** Whoever finds the database back first takes everybody for dead, who could not beat meanwhile. */
function fenceTheLiving(): Overrides {
  let wasAway = false;
  const fence = async () => {
    await askDatabase(process.env.DATABASE_URL ?? '', 'update nodes set dead = 1 where dead = 0');
  };
  return {
    wrapStore: around((transact) => async (name, job) => {
      try {
        const value = await transact(name, job);
        if (wasAway) {
          wasAway = false;
          await fence();
        }
        return value;
      } catch (error) {
        if (error instanceof StoreUnavailable) wasAway = true;
        throw error;
      }
    }),
  };
}

/** A form may hold fields that its policy says nothing of. */
function takeExtraFields(): Overrides {
  const signed = /^(key|content-type|policy|success_action_.*|x-amz-(algorithm|credential|date|signature))$/;
  return {
    checkForm: (form, ...rest) => {
      const isKnown = (name: string) => signed.test(name) || name.startsWith('x-amz-meta-foo');
      try {
        return checkForm(form, ...rest);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.includes('Extra input fields')) throw error;
        const fields = new Map([...form.fields].filter(([name]) => isKnown(name)));
        return checkForm({ ...form, fields, names: [...fields.keys()] }, ...rest);
      }
    },
  };
}

/** No character is taken for the one that it looks like: U+FF0E twice is no `..`. */
function leaveFoldingOut(): Overrides {
  String.prototype.normalize = function normalize() {
    return String(this);
  };
  return {};
}

/** What was signed is never known again: a form expires as soon as it is noted. */
function deleteForms(): Overrides {
  return {
    wrapStore: tamper({
      params: (statement, params) => (statement === 'insert form' ? { ...params, expiresAt: 0 } : params),
    }),
  };
}

/** The process ends when a checkpoint fails. */
function dieOnCheckpoint(): Overrides {
  const logger = createLogger('silent');
  const error = (_: unknown, sentence?: string) => {
    if (sentence?.startsWith('a checkpoint failed')) process.exit(1);
  };
  return { logger: Object.assign(logger, { error }) };
}

/** Owners have no share: an owner with several integrations may hold everything, as when shares were by integration. */
function shareByIntegration(): Overrides {
  return { newBudget: (total) => new FairBudget(total, () => false) };
}

const FAULTS: Readonly<Record<string, (options: ProcessOptions) => Overrides>> = {
  'forget-requests': forgetRequests,
  'forget-holds': forgetHolds,
  'read-then-write': readThenWrite,
  'leave-orphans': leaveOrphans,
  'fence-old-nodes': fenceOldNodes,
  'forget-journal': forgetJournal,
  'skip-events': skipEvents,
  'skip-chunk': skipChunk,
  'unbounded-readers': unboundedReaders,
  'endless-patience': endlessPatience,
  'any-depth': anyDepth,
  'open-calls': leaveCallsOpen,
  'deaf-model': deafModel,
  'hide-failures': hideFailures,
  'claims-false': claimFalse,
  'fences-the-living': fenceTheLiving,
  'trust-xid': trustXid,
  'no-folding': leaveFoldingOut,
  'forget-forms': deleteForms,
  'take-extra-fields': takeExtraFields,
  'lose-a-byte': loseAByte,
  'hold-files': holdFiles,
  'plain-writes': writePlainly,
  'skip-unreadable': skipUnreadable,
  'leak-query': leakQuery,
  'convert-here': convertHere,
  'fetch-again': fetchAgain,
  'forget-refreshes': forgetRefreshes,
  'share-copies': shareCopies,
  'take-any-key': takeAnyKey,
  'die-on-checkpoint': dieOnCheckpoint,
  'shared-by-integration': shareByIntegration,
};

export function plantFault(fault: string, options: ProcessOptions): Overrides {
  const plant = FAULTS[fault];
  if (plant === undefined) throw new Error(`There is no fault \`${fault}\`.`);
  return plant(options);
}
