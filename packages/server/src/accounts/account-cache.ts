import { LruCache } from '@runwire/lib/lru-cache.ts';

/**
 * Caches what was read about accounts until their next change. It is used only while this node learns of every change.
 */
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

  /** Remembers what `read` returns. If it throws, nothing is remembered: a missing row may be created a moment later. */
  async get(key: string, read: () => Promise<V>): Promise<V> {
    const known = this.#isCertain() ? this.#entries.get(key) : undefined;
    if (known !== undefined) return known;
    const changes = this.#changes;
    const value = await read();
    // If accounts changed during the read, it may have returned what was true before the change.
    if (changes === this.#changes) this.#entries.set(key, value);
    return value;
  }
}
