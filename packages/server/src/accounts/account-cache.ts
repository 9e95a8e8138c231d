import { LruCache } from '../lib/lru-cache.ts';

/** What is remembered of accounts. Only what was read since the last change is kept, and only while that is certain. */
export class AccountCache<V> {
  readonly #isCertain: () => boolean;
  readonly #entries: LruCache<string, V>;
  #changes = 0;

  constructor(max: number, isCertain: () => boolean) {
    this.#entries = new LruCache(max);
    this.#isCertain = isCertain;
  }

  forget(): void {
    this.#changes += 1;
    this.#entries.clear();
  }

  /** Null, that there is no such thing, is not remembered. */
  async get(key: string, read: () => Promise<V | null>): Promise<V | null> {
    const known = this.#isCertain() ? this.#entries.get(key) : undefined;
    if (known !== undefined) return known;
    const changes = this.#changes;
    const value = await read();
    // What was read before a change that was heard of meanwhile may be what it was before.
    if (value !== null && changes === this.#changes) this.#entries.set(key, value);
    return value;
  }
}
