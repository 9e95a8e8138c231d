import { Refusal } from '../domain/refusal.ts';
import { lockInstallation } from '../store/queries/accounts.ts';
import {
  deleteOtherSessions,
  deleteSetUpLink,
  getPassword,
  passwordByEmail,
  putPassword,
  sessionById,
  setUpLinkBySecret,
} from '../store/queries/sign-in.ts';
import { first, type Reads, type Store, type Tx } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { checkPassword, type HashCost, type Hashing, PasswordTurns } from './password-turns.ts';
import { secretValueHash } from './secret-value.ts';
import { newSession, type Sessions } from './sessions.ts';
import { SignInLimits } from './sign-in-limits.ts';
import { storePerson } from './store-person.ts';
import { refuseTaken, storedEmail } from './stored-email.ts';

export interface SignInDeps {
  readonly store: Store;
  /** Reads with a time limit, because a person waits for them. */
  readonly reads: Reads;
  readonly changes: AccountChanges;
  readonly sessions: Sessions;
  readonly hashCost: HashCost | undefined;
}

interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Signs people in with e-mail and password. Hashes are made before a transaction, because a transaction may wait only for
 * its own queries. So each transaction first checks that what was hashed is still what is stored.
 */
export class SignIn {
  readonly #store: Store;
  readonly #reads: Reads;
  readonly #changes: AccountChanges;
  readonly #sessions: Sessions;
  readonly #limits: SignInLimits;
  readonly #turns: PasswordTurns;

  constructor({ store, reads, changes, sessions, hashCost }: SignInDeps) {
    this.#store = store;
    this.#reads = reads;
    this.#changes = changes;
    this.#sessions = sessions;
    this.#limits = new SignInLimits(store, reads);
    this.#turns = new PasswordTurns(hashCost);
  }

  /** Resolves to a new session's secret. */
  async signIn(input: Credentials, address: string): Promise<string> {
    return this.#turns.run(async (hashing) => {
      const credentials = { email: storedEmail(input.email), password: input.password };
      const { personId, confirm } = await this.#verify(hashing, credentials, address);
      const session = newSession(personId);
      await this.#store.transact('account', async (tx) => {
        await tx.all(lockInstallation, {});
        await confirm(tx);
        await session.store(tx);
      });
      return session.secret;
    });
  }

  /**
   * Uses a set-up link: sets the e-mail and the password of its person, and ends all sessions of the person. Resolves to the
   * secret of a new session.
   */
  async setUp(input: { readonly link: string; readonly email: string; readonly password: string }): Promise<string> {
    const email = storedEmail(input.email);
    const secretHash = secretValueHash(input.link);
    const { person_id: personId } = await findLink(this.#reads, secretHash);
    checkPassword(input.password, email);
    const passwordHash = await this.#turns.run(({ hash }) => hash(input.password));
    const session = newSession(personId);
    await this.#changes.change(async (tx) => {
      const person = await findLink(tx, secretHash);
      await refuseTaken(tx, email, personId, 'owner_exists');
      await storePerson(tx, { ...person, email });
      await tx.run(putPassword, { personId, passwordHash, now: Date.now() });
      await tx.run(deleteSetUpLink, { personId });
      await tx.run(deleteOtherSessions, { personId, exceptId: '' });
      await session.store(tx);
    });
    return session.secret;
  }

  /** Changes the password of the person who has this session, and ends the other sessions of that person. */
  async changePassword(
    secret: string | null,
    input: { readonly current: string; readonly new: string },
    address: string,
  ): Promise<void> {
    const { session_id: sessionId, person_id: personId, email: storedAs } = await this.#sessions.get(secret);
    const email = storedAs ?? '';
    checkPassword(input.new, email);
    const { confirm, passwordHash } = await this.#turns.run(async (hashing) => ({
      ...(await this.#verify(hashing, { email, password: input.current }, address)),
      passwordHash: await hashing.hash(input.new),
    }));
    await this.#changes.change(async (tx) => {
      await confirm(tx);
      if ((await tx.all(sessionById, { sessionId })).length === 0) throw new Refusal('session_ended');
      await tx.run(putPassword, { personId, passwordHash, now: Date.now() });
      await tx.run(deleteOtherSessions, { personId, exceptId: sessionId });
    });
  }

  /**
   * Checks a password within the limits. `confirm` must be called in the transaction that uses the result: it throws if
   * the password was changed after it was checked.
   */
  async #verify(hashing: Hashing, { email, password }: Credentials, address: string) {
    const attempt = await this.#limits.begin(email, address);
    const stored = await first(this.#reads.all(passwordByEmail, { email }));
    const matches = await hashing.verify(password, stored?.password_hash ?? null);
    if (stored === undefined || !matches) throw new Refusal('invalid_sign_in');
    const { person_id: personId, password_hash } = stored;
    const confirm = async (tx: Tx) => {
      const now = await first(tx.all(getPassword, { personId }));
      if (now?.password_hash !== password_hash) throw new Refusal('invalid_sign_in');
      await attempt.succeed(tx);
    };
    return { personId, confirm };
  }
}

async function findLink(reads: Reads, secretHash: string) {
  const link = await first(reads.all(setUpLinkBySecret, { secretHash }));
  if (link === undefined || (link.expires_at !== null && link.expires_at <= Date.now())) {
    throw new Refusal('invalid_set_up_link');
  }
  return link;
}
