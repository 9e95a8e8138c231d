/** Bounds the sum of the weights of all values, and the weight of one. */
export interface WeightLimit<V> {
  readonly max: number;
  /** A heavier value is not kept. */
  readonly maxValue: number;
  readonly weigh: (value: V) => number;
}

/** A map of bounded size. When it is full, it removes the least recently used entries. */
export class LruCache<K, V> {
  readonly #max: number;
  readonly #limit: WeightLimit<V> | null;
  readonly #entries = new Map<K, V>();
  #weight = 0;

  constructor(max: number, limit: WeightLimit<V> | null = null) {
    this.#max = max;
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    const weight = this.#limit?.weigh(value) ?? 0;
    if (this.#limit !== null && weight > this.#limit.maxValue) return;
    this.#entries.set(key, value);
    this.#weight += weight;
    while (this.#entries.size > this.#max || (this.#limit !== null && this.#weight > this.#limit.max)) {
      const oldest = this.#entries.keys().next();
      if (oldest.done) return;
      this.delete(oldest.value);
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#limit?.weigh(value) ?? 0;
  }

  /** Removes the least recently used entries, up to the first one for which `isOver` returns false. */
  deleteOldest(isOver: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) {
      if (!isOver(value)) return;
      this.delete(key);
    }
  }

  deleteIf(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) if (matches(value)) this.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The sum of the weights; 0 without a limit. */
  get weight(): number {
    return this.#weight;
  }
}
