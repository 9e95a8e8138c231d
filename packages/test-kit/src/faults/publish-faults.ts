import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { MemberLock, Store, Tx } from '@runwire/server/src/store/store.ts';
import { around } from './tampered-store.ts';

const FILE_WRITES: ReadonlySet<string> = new Set([
  'free file',
  'insert file',
  'add file bytes',
  'forget settled drops',
]);

type Job<T> = (tx: Tx) => Promise<T>;

/** A command's file rows are committed first, and its step in a second transaction. */
export function writeBeforeCommit(): Overrides {
  return {
    wrapStore: around(
      (transact) =>
        async <T>(name: Parameters<Store['transact']>[0], job: Job<T>, locks?: MemberLock): Promise<T> => {
          if (name !== 'publish') return transact(name, job, locks);
          const seen = new Map<string, unknown[][]>();
          await transact('files', (tx) => {
            seen.clear();
            return job(filesOnly(tx, seen));
          });
          return transact(name, (tx) => job(stepOnly(tx, structuredClone(seen))));
        },
    ),
  };
}

/** Keeps what it reads of the files, for the second transaction. */
function filesOnly(tx: Tx, seen: Map<string, unknown[][]>): Tx {
  return {
    query: tx.query.bind(tx),
    all: async (statement, params) => {
      const found = await tx.all(statement, params);
      if (statement.name === 'file at') seen.set(key(params), [...(seen.get(key(params)) ?? []), found]);
      return found;
    },
    run: async (statement, params) => (FILE_WRITES.has(statement.name) ? tx.run(statement, params) : 1),
  };
}

function stepOnly(tx: Tx, seen: Map<string, unknown[][]>): Tx {
  return {
    query: tx.query.bind(tx),
    all: (statement, params) =>
      statement.name === 'file at'
        ? Promise.resolve((seen.get(key(params))?.shift() ?? []) as never[])
        : tx.all(statement, params),
    run: async (statement, params) => (FILE_WRITES.has(statement.name) ? 1 : tx.run(statement, params)),
  };
}

const key = (params: unknown) => JSON.stringify(params);
