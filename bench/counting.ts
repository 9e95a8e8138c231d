import { DatabaseSync, StatementSync } from 'node:sqlite';
import { getHeapStatistics } from 'node:v8';
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

if (isMainThread && process.send !== undefined) {
  for (const method of ['run', 'get', 'all', 'iterate'] as const) countCalls(StatementSync.prototype, method);
  countCalls(DatabaseSync.prototype, 'exec');
  process.on('SIGUSR2', () => {
    // The total grows when the young generation is collected, so collect it first.
    globalThis.gc?.({ execution: 'sync', type: 'minor' });
    const allocatedBytes = getHeapStatistics().total_allocated_bytes;
    process.send?.({ allocatedBytes, statements } satisfies ProcessCounts);
  });
}
