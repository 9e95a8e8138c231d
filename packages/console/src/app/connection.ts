import { useSyncExternalStore } from 'react';
import { apiUrl } from './addresses.ts';
import { isConnectionLost } from './errors.ts';

const RETRY_MS = 2000;
const CHECK_MS = 5000;
/** A server that answers this check and soon fails again is asked less and less often. */
const MAX_RETRY_MS = 60_000;
const STEADY_MS = 10_000;

const RELOADED_AT = 'runwire console reloaded at';
const RELOAD_MS = 30_000;

/** Knows if the server answers. A lost connection is reported once, even if many requests fail. */
class Connection {
  #isLost = false;
  #retryMs = RETRY_MS;
  #recoveredAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #check: Promise<void> | null = null;
  readonly #listeners = new Set<() => void>();
  /** Called when the server answers again. */
  onRecovery: () => void = () => {};

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isLost = () => this.#isLost;

  /** Starts to look for the server if the error is about the connection. */
  noteError(error: unknown): void {
    if (this.#isLost || !isConnectionLost(error)) return;
    const isSoon = Date.now() - this.#recoveredAt < STEADY_MS + this.#retryMs;
    this.#retryMs = isSoon ? Math.min(2 * this.#retryMs, MAX_RETRY_MS) : RETRY_MS;
    this.#set(true);
    this.#schedule();
  }

  /**
   * For a loss that only a reload repairs. If that does not help, the page is not reloaded again immediately. The returned
   * function takes it back.
   */
  reloadOnRecovery(error: unknown): () => void {
    const { onRecovery } = this;
    let timer: ReturnType<typeof setTimeout> | undefined;
    this.onRecovery = () => {
      const reloadAt = Number(sessionStorage.getItem(RELOADED_AT)) + RELOAD_MS;
      // Browsers keep 32 bits of a delay, so a large negative one can become days.
      const waitMs = Math.max(reloadAt - Date.now(), 0);
      timer = setTimeout(() => {
        sessionStorage.setItem(RELOADED_AT, String(Date.now()));
        location.reload();
      }, waitMs);
    };
    this.noteError(error);
    return () => {
      clearTimeout(timer);
      this.onRecovery = onRecovery;
    };
  }

  /** Looks for the server now. Several calls share one check. */
  tryNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#check ??= this.#look().finally(() => {
      this.#check = null;
    });
    return this.#check;
  }

  async #look(): Promise<void> {
    const answers = await fetch(new URL('healthz', apiUrl), {
      cache: 'no-store',
      signal: AbortSignal.timeout(CHECK_MS),
    }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!answers) return this.#schedule();
    this.#recoveredAt = Date.now();
    this.#set(false);
    this.onRecovery();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.tryNow(), this.#retryMs);
  }

  #set(isLost: boolean): void {
    this.#isLost = isLost;
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();

export const useIsConnectionLost = () => useSyncExternalStore(connection.subscribe, connection.isLost);
