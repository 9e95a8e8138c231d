import { unrevokedAmong } from '../store/queries/accounts.ts';
import { sessionsAmong } from '../store/queries/sign-in.ts';
import type { Reads } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { isLive, isSessionId } from './session-life.ts';

/** The number of keys in one query, because databases limit the parameters of a statement. */
const MAX_KEYS = 500;

/** The open streams of this node. */
export interface KeyedStreams {
  /** The keys and sessions of the requests that opened the streams, each once. */
  keyIds(): string[];
  cutKeys(keyIds: ReadonlySet<string>): void;
}

export interface RevokedStreamsDeps {
  readonly streams: KeyedStreams;
  readonly reads: Reads;
  readonly everyMs: number;
  readonly logger: Logger;
}

/**
 * Cuts the streams whose key was revoked or whose session ended, here or on another node. It asks the store about the
 * keys of the open streams, every 2 s, and not only after a change of accounts: a stream may open just after the change was noticed, for a request
 * that was authenticated just before. While the store does not answer, nothing is cut.
 */
export class RevokedStreams implements Disposable {
  readonly #deps: RevokedStreamsDeps;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  constructor(deps: RevokedStreamsDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#look(), deps.everyMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { streams, reads, logger } = this.#deps;
    try {
      const keyIds = streams.keyIds();
      for (let from = 0; from < keyIds.length; from += MAX_KEYS) {
        const asked = keyIds.slice(from, from + MAX_KEYS);
        const usable = await usableAmong(reads, asked);
        const ended = asked.filter((keyId) => !usable.has(keyId));
        if (ended.length > 0) streams.cutKeys(new Set(ended));
      }
    } catch (error) {
      logger.warn({ err: error }, 'open streams could not be checked for revoked keys; retrying');
    } finally {
      this.#isAsking = false;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

async function usableAmong(reads: Reads, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  const sessionIds = keyIds.filter(isSessionId);
  const others = keyIds.filter((keyId) => !isSessionId(keyId));
  const keys = others.length === 0 ? [] : await reads.query(unrevokedAmong(others));
  const sessions = sessionIds.length === 0 ? [] : await reads.query(sessionsAmong(sessionIds));
  const live = sessions.filter((session) => isLive(session, Date.now()));
  return new Set([...keys.map(({ key_id }) => key_id), ...live.map(({ session_id }) => session_id)]);
}
