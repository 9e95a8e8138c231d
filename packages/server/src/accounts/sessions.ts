import { newId, type PersonId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { touchPerson } from '../store/queries/people.ts';
import {
  deleteOtherSessions,
  deleteSession,
  insertSession,
  type SessionRow,
  sessionBySecret,
  touchSession,
} from '../store/queries/sign-in.ts';
import { first, type Reads, runAlone, type Store, type Tx } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import type { ConsoleTokenSigning } from './console-token-signing.ts';
import { newSecretValue, secretValueHash } from './secret-value.ts';
import { isLive, SESSION_MS } from './session-life.ts';

const TOKEN_MS = 600_000;
const LAST_USE_EVERY_MS = 60_000;

/** Makes a session. It exists after `store`. The secret is the cookie's value. */
export function newSession(personId: PersonId) {
  const secret = newSecretValue();
  const row = {
    session_id: newId('ses'),
    owner_id: personId,
    secret_hash: secretValueHash(secret),
    created_at: Date.now(),
  };
  const store = async (tx: Tx) => {
    await tx.run(insertSession, row);
    await tx.run(touchPerson, { personId, now: row.created_at });
  };
  return { secret, store };
}

/** The sessions of people who signed in to the console. `secret` is the cookie's value; null if there is none. */
export class Sessions {
  readonly #store: Store;
  readonly #reads: Reads;
  readonly #changes: AccountChanges;
  readonly #signing: ConsoleTokenSigning;

  constructor(store: Store, reads: Reads, changes: AccountChanges, signing: ConsoleTokenSigning) {
    this.#store = store;
    this.#reads = reads;
    this.#changes = changes;
    this.#signing = signing;
  }

  /** Throws a `Refusal` if there is no such session, or if it has ended. */
  async get(secret: string | null): Promise<SessionRow> {
    const session = await this.#find(secret);
    if (session === undefined || !isLive(session, Date.now())) throw new Refusal('session_ended');
    return session;
  }

  /** Makes a console token. It counts as the person until it expires or the session ends. */
  async token(secret: string | null): Promise<{ readonly token: string; readonly expiresAt: string }> {
    const {
      session_id: sessionId,
      person_id: personId,
      owner_id: ownerId,
      created_at,
      used_at,
    } = await this.get(secret);
    const now = Date.now();
    if (now - used_at > LAST_USE_EVERY_MS) {
      const touched = await runAlone(this.#store, touchSession, { sessionId, now });
      if (touched === 0) throw new Refusal('session_ended');
      await runAlone(this.#store, touchPerson, { personId, now });
    }
    const expiresAt = 1000 * Math.floor(Math.min(now + TOKEN_MS, created_at + SESSION_MS) / 1000);
    const token = await this.#signing.sign({ ownerId, sessionId, expiresAt });
    return { token, expiresAt: iso(expiresAt) };
  }

  /** Does nothing if the session has ended already. */
  async end(secret: string | null): Promise<void> {
    const session = await this.#find(secret);
    if (session === undefined) return;
    await this.#changes.change((tx) => tx.run(deleteSession, { sessionId: session.session_id }));
  }

  /** Ends all sessions of the person who has this one. */
  async endAll(secret: string | null): Promise<void> {
    const { person_id: personId } = await this.get(secret);
    await this.#changes.change((tx) => tx.run(deleteOtherSessions, { personId, exceptId: '' }));
  }

  async #find(secret: string | null): Promise<SessionRow | undefined> {
    if (secret === null) return undefined;
    return first(this.#reads.all(sessionBySecret, { secretHash: secretValueHash(secret) }));
  }
}
