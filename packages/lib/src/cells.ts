/** Contains a value of a collection. It is empty after the value was removed. */
export interface Cell<V> {
  value: V | null;
}

/*
 * Collections of values that live as long as a request. If the table of a `Map` or `Set` is full of removed entries, V8 makes
 * another one and links the old one to it, with everything that it contains. A table that has reached the old generation so
 * keeps all later tables until the whole heap is collected, and each collection of the young generation copies every value
 * that was in one of them (decision 0092). The tables of these collections contain cells, and a removed value leaves its
 * cell.
 */

export class CellSet<V extends object> {
  readonly #cells = new Set<Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  /** Returns the cell by which the value is removed. */
  add(value: V): Cell<V> {
    const cell: Cell<V> = { value };
    this.#cells.add(cell);
    return cell;
  }

  /** Returns false if the value was removed before. */
  delete(cell: Cell<V>): boolean {
    cell.value = null;
    return this.#cells.delete(cell);
  }

  *[Symbol.iterator](): Iterator<V> {
    for (const { value } of this.#cells) if (value !== null) yield value;
  }
}

export class CellMap<K, V extends object> {
  readonly #cells = new Map<K, Cell<V>>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value ?? undefined;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#cells.set(key, { value });
  }

  delete(key: K): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) return;
    cell.value = null;
    this.#cells.delete(key);
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = null;
    this.#cells.clear();
  }

  keys(): Iterable<K> {
    return this.#cells.keys();
  }

  *[Symbol.iterator](): Iterator<readonly [K, V]> {
    for (const [key, { value }] of this.#cells) if (value !== null) yield [key, value];
  }

  *values(): Iterable<V> {
    for (const { value } of this.#cells.values()) if (value !== null) yield value;
  }
}
