import type { TransactionName } from '@runwire/server/src/domain/wait-points.ts';
import type { Store } from '@runwire/server/src/store/store.ts';

type AroundRead = <R>(statement: string, read: (params?: unknown) => Promise<R[]>, params: unknown) => Promise<R[]>;

/**
 * What a test does around a store's work. Each function calls the work that it gets, or fails in its place. A
 * statement gets other parameters if they are passed to its work.
 */
export interface StoreHooks {
  /** Around each read outside of transactions. The statement of a query that is built for one call is ''. */
  readonly read?: AroundRead;
  /** Around each read in a transaction. */
  readonly readInside?: AroundRead;
  /** Around each write. */
  readonly write?: (
    statement: string,
    write: (params?: unknown) => Promise<number>,
    params: unknown,
  ) => Promise<number>;
  readonly transact?: <T>(name: TransactionName, transact: () => Promise<T>) => Promise<T>;
}

const unchanged = <T>(_: string, work: () => Promise<T>) => work();
const UNCHANGED = { read: unchanged, readInside: unchanged, write: unchanged, transact: unchanged };

/** The override `wrapStore` of a server: the real store, with the work of a test around its own. */
export function hookStore(hooks: StoreHooks): (store: Store) => Store {
  const { read, readInside, write, transact }: Required<StoreHooks> = { ...UNCHANGED, ...hooks };
  return (store) => ({
    kind: store.kind,
    reads: {
      all: (statement, params) =>
        read(statement.name, (other = params) => store.reads.all(statement, other as typeof params), params),
      query: (build) => read('', () => store.reads.query(build), {}),
    },
    transact: (name, job, locks) =>
      transact(name, () =>
        store.transact(
          name,
          (tx) =>
            job({
              all: (statement, params) =>
                readInside(statement.name, (other = params) => tx.all(statement, other as typeof params), params),
              query: (build) => tx.query(build),
              run: (statement, params) =>
                write(statement.name, (other = params) => tx.run(statement, other as typeof params), params),
            }),
          locks,
        ),
      ),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });
}
