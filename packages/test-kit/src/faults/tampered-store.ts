import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { Store } from '@runwire/server/src/store/store.ts';
import { hookStore } from '../hook-store.ts';

/* The wrappers that a planted fault puts between a server and its store. */

export type Params = Readonly<Record<string, unknown>>;
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

export function tamper({ params = (_, given) => given, rows = (_, found) => found }: Tampering) {
  const read = async <R>(statement: string, find: (given: unknown) => Promise<R[]>, given: unknown): Promise<R[]> =>
    rows(statement, (await find(params(statement, given as Params))) as readonly Params[]) as R[];
  const write = (statement: string, change: (given: unknown) => Promise<number>, given: unknown) =>
    change(params(statement, given as Params));
  return hookStore({ read, readInside: read, write });
}

/** The statement gets other parameters. */
export const params = (name: string, change: (given: Params) => Params): Overrides => ({
  wrapStore: tamper({ params: (statement, given) => (statement === name ? change(given) : given) }),
});

/** The statement finds other rows. */
export const rows = (name: string, change: (found: readonly Params[]) => readonly Params[]): Overrides => ({
  wrapStore: tamper({ rows: (statement, found) => (statement === name ? change(found) : found) }),
});
