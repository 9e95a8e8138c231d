import { hash } from 'node:crypto';
import type { Row } from './ports.ts';

/**
 * The count and checksum of a table, independent of the order of its rows: the sum of their hashes. Rows differ by
 * their keys.
 */
export class TableDigest {
  readonly #sum = new BigUint64Array(4);
  #rows = 0;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const digest = new BigUint64Array(new Uint8Array(hash('sha256', JSON.stringify(row), 'buffer')).buffer);
      for (let i = 0; i < this.#sum.length; i += 1) this.#sum[i] = (this.#sum[i] ?? 0n) + (digest[i] ?? 0n);
      this.#rows += 1;
    }
  }

  get rows(): number {
    return this.#rows;
  }

  equals(other: TableDigest): boolean {
    return this.#rows === other.#rows && this.#sum.every((part, i) => part === other.#sum[i]);
  }
}
