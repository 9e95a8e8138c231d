import { hash } from 'node:crypto';
import { sortableId } from '@runwire/lib/sortable-id.ts';
import { Refusal } from '../domain/refusal.ts';
import { lockInstallation } from '../store/queries/accounts.ts';
import { deleteFailure, deleteSubjectFailures, getFailures, insertFailure } from '../store/queries/sign-in.ts';
import type { Reads, Store, Tx } from '../store/store.ts';

/** How long a failure counts. */
export const FAILURE_MS = 15 * 60_000;
const MAX_EMAIL_FAILURES = 5;
const MAX_ADDRESS_FAILURES = 20;

interface Subject {
  readonly subject: string;
  readonly max: number;
}

/** A sign-in whose password is being checked. It counts as a failure until it succeeds. */
export interface SignInAttempt {
  /** Call it in the transaction that signs in. It also forgets the earlier failures of the e-mail. */
  succeed(tx: Tx): Promise<void>;
}

/**
 * Limits how often passwords can be guessed, for each e-mail and for each address. An attempt is stored before its
 * password is checked: otherwise concurrent guesses, on this node or on others, would all see the same count. The
 * failures of an address are not forgotten after a success, because a guesser may have a password of its own.
 */
export class SignInLimits {
  readonly #store: Store;
  /** Reads with a time limit, because a person waits for them. */
  readonly #reads: Reads;

  constructor(store: Store, reads: Reads) {
    this.#store = store;
    this.#reads = reads;
  }

  /** Throws a `Refusal` if too many sign-ins of this e-mail or from this address failed. */
  async begin(email: string, address: string): Promise<SignInAttempt> {
    const now = Date.now();
    // Hashed, because people type passwords and names of strangers into this field.
    const ofEmail = { subject: `email:${hash('sha256', email)}`, max: MAX_EMAIL_FAILURES };
    const ofAddress = { subject: `address:${address}`, max: MAX_ADDRESS_FAILURES };
    const subjects = [ofEmail, ofAddress];
    // Most refusals need no lock.
    await refuseLimited(this.#reads, subjects, now);
    const rows = subjects.map(({ subject }) => ({ failure_id: sortableId(now), subject, failed_at: now }));
    await this.#store.transact('account', async (tx) => {
      await tx.all(lockInstallation, {});
      await refuseLimited(tx, subjects, now);
      for (const row of rows) await tx.run(insertFailure, row);
    });
    return {
      async succeed(tx) {
        await tx.run(deleteSubjectFailures, { subject: ofEmail.subject });
        for (const { failure_id } of rows) await tx.run(deleteFailure, { failureId: failure_id });
      },
    };
  }
}

async function refuseLimited(reads: Reads, subjects: readonly Subject[], now: number): Promise<void> {
  for (const { subject, max } of subjects) {
    const failures = await reads.all(getFailures, { subject, after: now - FAILURE_MS, limit: max });
    // The first place is free when the oldest of the newest failures no longer counts.
    const oldest = failures[max - 1];
    if (oldest === undefined) continue;
    const seconds = Math.max(1, Math.ceil((oldest.failed_at + FAILURE_MS - now) / 1000));
    throw new Refusal('too_many_sign_ins', undefined, {}, seconds);
  }
}
