import { monotonicMs } from '@runwire/lib/monotonic.ts';
import type { Role } from '../domain/account/role.ts';
import { unrevokedAmong } from '../store/queries/accounts.ts';
import { sessionsAmong } from '../store/queries/sign-in.ts';
import type { Reads } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { isLive, isSessionId } from './session-life.ts';

/** The number of keys in one query, because databases limit a statement's parameters. */
const MAX_KEYS = 500;

/** This node's open streams. */
export interface KeyedStreams {
  /** The keys and sessions of the requests that opened the streams, each once. */
  keyIds(): string[];
  /** Closes the streams of these keys and sessions, except if `roles` has the role that the stream needs. */
  cutKeys(keyIds: ReadonlySet<string>, roles: ReadonlyMap<string, Role>): void;
}

export interface RevokedStreamsDeps {
  readonly streams: KeyedStreams;
  readonly reads: Reads;
  readonly everyMs: number;
  /** How long a stream may be open after its key was last confirmed, if the database is out of reach. */
  readonly trustedMs: number;
  /** True while this node does not reach its database. Always false with the embedded store. */
  readonly isCutOff: () => boolean;
  readonly logger: Logger;
}

const TURNS_PER_TRUST = 20;

/**
 * Cuts the streams whose key was revoked, whose session ended or whose person's role was lowered, here or on another node. It asks the store about the
 * the open streams' keys, every 2 s, and not only after a change of accounts: a stream may open just after the change
 * was noticed, for a request that was authenticated just before.
 *
 * A node that is cut off from its database cannot learn that a key was revoked. It cuts the streams of all keys that it
 * could not confirm for 5 s. Their readers reconnect, here or on another node. If the database answers but is slow,
 * nothing is cut.
 */
export class RevokedStreams implements Disposable {
  readonly #deps: RevokedStreamsDeps;
  readonly #timers: readonly NodeJS.Timeout[];
  /** When the newest answered look began. */
  #confirmedAt = monotonicMs();
  #isAsking = false;
  #isLate = false;

  constructor(deps: RevokedStreamsDeps) {
    this.#deps = deps;
    this.#timers = [
      setInterval(() => void this.#look(), deps.everyMs),
      setInterval(() => this.#cutUnconfirmed(), deps.trustedMs / TURNS_PER_TRUST),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { streams, reads, logger } = this.#deps;
    const begunAt = monotonicMs();
    try {
      const keyIds = streams.keyIds();
      for (let from = 0; from < keyIds.length; from += MAX_KEYS) {
        const asked = keyIds.slice(from, from + MAX_KEYS);
        streams.cutKeys(new Set(asked), await readRoles(reads, asked));
      }
      this.#confirmedAt = begunAt;
    } catch (error) {
      logger.warn({ err: error }, 'open streams could not be checked for revoked keys; retrying');
    } finally {
      this.#isAsking = false;
    }
  }

  /**
   * Two turns in a row must find the keys unconfirmed: after a stall of this process the first turn runs before the
   * the database's answers are read. So the first one counts two turns early.
   */
  #cutUnconfirmed(): void {
    const { streams, trustedMs, isCutOff, logger } = this.#deps;
    const limitMs = trustedMs - (2 * trustedMs) / TURNS_PER_TRUST;
    const wasLate = this.#isLate;
    this.#isLate = monotonicMs() - this.#confirmedAt >= limitMs && isCutOff();
    if (!this.#isLate || !wasLate) return;
    const keyIds = streams.keyIds();
    if (keyIds.length === 0) return;
    logger.warn(
      { keys: keyIds.length },
      'this node does not reach its database; it closes streams whose keys may have been revoked, and readers reconnect',
    );
    streams.cutKeys(new Set(keyIds), new Map());
  }

  [Symbol.dispose](): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}

/** The roles of those of these keys and sessions that can still be used. */
async function readRoles(reads: Reads, keyIds: readonly string[]): Promise<ReadonlyMap<string, Role>> {
  const sessionIds = keyIds.filter(isSessionId);
  const others = keyIds.filter((keyId) => !isSessionId(keyId));
  const keys = others.length === 0 ? [] : await reads.query(unrevokedAmong(others));
  const sessions = sessionIds.length === 0 ? [] : await reads.query(sessionsAmong(sessionIds));
  const live = sessions.filter((session) => isLive(session, Date.now()));
  return new Map([
    ...keys.map(({ key_id, role }) => [key_id, role] as const),
    ...live.map(({ session_id, role }) => [session_id, role] as const),
  ]);
}
