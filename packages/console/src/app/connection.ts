import type { ConnectionLostError } from '@runwire/client';
import { useSyncExternalStore } from 'react';
import { apiUrl } from './addresses.ts';
import { isConnectionLost } from './errors.ts';

const RETRY_MS = 2000;

/** Knows if the server answers. A lost connection is reported once, whatever number of requests fail. */
class Connection {
  #isLost = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();
  /** Called when the server answers again. */
  onRecovery: () => void = () => {};

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly isLost = () => this.#isLost;

  /** Starts to look for the server if the error is about the connection. Returns true if it is. */
  noteError(error: unknown): boolean {
    if (!isConnectionLost(error)) return false;
    if (!this.#isLost) {
      this.#set(true);
      this.#timer = setTimeout(() => void this.tryNow(), RETRY_MS);
    }
    return true;
  }

  /** For a loss that only a reload repairs. */
  reloadOnRecovery(error: ConnectionLostError): void {
    this.onRecovery = () => location.reload();
    this.noteError(error);
  }

  async tryNow(): Promise<void> {
    clearTimeout(this.#timer);
    // Every answer counts, because a server that cannot serve now explains it itself.
    const answers = await fetch(new URL('healthz', apiUrl), { cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!this.#isLost) return;
    if (!answers) {
      this.#timer = setTimeout(() => void this.tryNow(), RETRY_MS);
      return;
    }
    this.#set(false);
    this.onRecovery();
  }

  #set(isLost: boolean): void {
    this.#isLost = isLost;
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();

export const useIsConnectionLost = () => useSyncExternalStore(connection.subscribe, connection.isLost);
