import type { Overrides, Store, Tx } from '@runwire/test-kit';

/* The wrappers that a planted fault puts between a server and its store. */

export type Params = Readonly<Record<string, unknown>>;
type Reads = Store['reads'];
type Transact = Store['transact'];

/** Wraps every transaction; reads are unchanged. */
export const around =
  (transact: (inner: Transact) => Transact) =>
  (store: Store): Store => ({
    kind: store.kind,
    reads: store.reads,
    transact: transact(store.transact.bind(store)),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  });

/** Wraps every statement, selected by its name. */
interface Tampering {
  /** The parameters that are used in place of the given ones. */
  readonly params?: (statement: string, params: Params) => Params;
  /** The rows that are seen in place of the found ones. */
  readonly rows?: (statement: string, rows: readonly Params[]) => readonly Params[];
}

export function tamper({
  params = (_, given) => given,
  rows = (_, found) => found,
}: Tampering): (store: Store) => Store {
  const reads = (inner: Reads): Reads => ({
    all: async <P, R>(statement: Parameters<typeof inner.all<P, R>>[0], given: P) => {
      const found = await inner.all(statement, params(statement.name, given as Params) as P);
      return rows(statement.name, found as readonly Params[]) as R[];
    },
    query: (build) => inner.query(build),
  });
  const transaction = (inner: Tx): Tx => ({
    ...reads(inner),
    run: (statement, given) => inner.run(statement, params(statement.name, given as Params) as typeof given),
  });
  return (store) => ({
    ...around((transact) => (name, job) => transact(name, (tx) => job(transaction(tx))))(store),
    reads: reads(store.reads),
  });
}

/** The statement gets other parameters. */
export const params = (name: string, change: (given: Params) => Params): Overrides => ({
  wrapStore: tamper({ params: (statement, given) => (statement === name ? change(given) : given) }),
});

/** The statement finds other rows. */
export const rows = (name: string, change: (found: readonly Params[]) => readonly Params[]): Overrides => ({
  wrapStore: tamper({ rows: (statement, found) => (statement === name ? change(found) : found) }),
});
