import { subscribe } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into a server before its own code (`--import`), so that a server of any version can be counted: its SQLite
 * statements, including `begin` and `commit`, and the bytes that it allocated. SIGUSR2 requests the counts, because a
 * server of another version does not know the message. The wrappers cost CPU, so no CPU is measured with them.
 */

export interface ProcessCounts {
  readonly allocatedBytes: number;
  readonly statements: number;
}

/** What a test plants with the message `{ wastes }`: every request wastes it. */
export type Waste = 'statement' | 'write' | 'allocation';

let statements = 0;

function countCalls<T extends object>(prototype: T, method: keyof T & string): void {
  const original = prototype[method] as (...args: unknown[]) => unknown;
  const counted = function (this: T) {
    statements += 1;
    // biome-ignore lint/complexity/noArguments: Rest parameters would allocate an array for each statement.
    return original.apply(this, arguments as unknown as unknown[]);
  };
  Object.defineProperty(prototype, method, { value: counted, configurable: true, writable: true });
}

function wastePerRequest(): void {
  const select = new DatabaseSync(':memory:').prepare('select 1');
  const nowhere = openSync('/dev/null', 'w');
  const repeat = (times: number, waste: () => unknown) => () => {
    for (let i = 0; i < times; i += 1) waste();
  };
  const wastes: Readonly<Record<Waste, () => unknown>> = {
    statement: repeat(4, () => select.get()),
    write: repeat(8, () => writeSync(nowhere, 'x')),
    allocation: () => new Array(5000).fill(statements),
  };
  let planted: readonly Waste[] = [];
  process.on('message', (message: { readonly wastes: readonly Waste[] } | string) => {
    if (typeof message !== 'string') planted = message.wastes;
  });
  subscribe('http.server.request.start', () => {
    for (const waste of planted) wastes[waste]();
  });
}

if (isMainThread && process.send !== undefined) {
  // Allocation depends on when a function is compiled to optimized code, and differs by up to 8 % for the same runs.
  if (import.meta.url.endsWith('?unoptimized'))
    for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag);
  for (const method of ['run', 'get', 'all', 'iterate'] as const) countCalls(StatementSync.prototype, method);
  countCalls(DatabaseSync.prototype, 'exec');
  wastePerRequest();
  process.on('SIGUSR2', () => {
    // The total grows when the young generation is collected, so collect it first.
    globalThis.gc?.({ execution: 'sync', type: 'minor' });
    const allocatedBytes = getHeapStatistics().total_allocated_bytes;
    process.send?.({ allocatedBytes, statements } satisfies ProcessCounts);
  });
}
