import { hkdfSync } from 'node:crypto';
import { lockInstallation } from '../store/queries/accounts.ts';
import {
  makeUploadSecretOnce,
  newestUploadSecret,
  retireUploadSecret,
  uploadSecret,
} from '../store/queries/uploads.ts';
import { first, type Store } from '../store/store.ts';
import type { VerifyingKey } from './post-policy/check-form.ts';
import type { SigningKey } from './post-policy/sign-form.ts';

const FIRST = 1;
/** The region of this server's forms: S3's default. */
const REGION = 'us-east-1';
const ACCESS_KEY = /^runwire-([1-9]\d{0,8})$/;

/** Derives the key of this number from the installation's secret. It reveals neither the secret nor other keys. */
export function uploadKey(secret: string, number: number): SigningKey {
  const derived = hkdfSync('sha256', secret, '', `runwire upload ${number}`, 32);
  return {
    accessKeyId: `runwire-${number}`,
    secretAccessKey: Buffer.from(derived).toString('base64url'),
    sessionToken: null,
    region: REGION,
  };
}

/**
 * The secrets that sign the forms which this server itself receives. The store is read for the current number each time,
 * so that all servers use a new secret immediately.
 */
export class UploadSecrets {
  readonly region = REGION;
  readonly #store: Store;
  readonly #secret: string;

  constructor(store: Store, secret: string) {
    this.#store = store;
    this.#secret = secret;
  }

  /**
   * Returns the key to sign with. Take the date of the form before this call, so that a rotation in between does not
   * invalidate the form.
   */
  async current(): Promise<SigningKey> {
    const newest = await first(this.#store.reads.all(newestUploadSecret, {}));
    return uploadKey(this.#secret, newest?.number ?? (await this.#makeFirst()));
  }

  /** Resolves to null if this installation has no such key. */
  async find(accessKeyId: string): Promise<VerifyingKey | null> {
    const number = Number(ACCESS_KEY.exec(accessKeyId)?.[1] ?? 0);
    const row = await first(this.#store.reads.all(uploadSecret, { number }));
    return row === undefined ? null : { ...uploadKey(this.#secret, number), retiredAt: row.retired_at };
  }

  #makeFirst(): Promise<number> {
    return this.#store.transact('account', async (tx) => {
      await tx.run(makeUploadSecretOnce, { number: FIRST, made_at: Date.now() });
      return (await first(tx.all(newestUploadSecret, {})))?.number ?? FIRST;
    });
  }
}

/** Makes a new secret. Forms that were signed with earlier ones stay valid until they expire. */
export function rotateUploadSecret(store: Store): Promise<number> {
  return store.transact('account', async (tx) => {
    await tx.all(lockInstallation, {});
    const now = Date.now();
    const number = (await first(tx.all(newestUploadSecret, {})))?.number ?? FIRST;
    // Stored even if it was never used, because a number always belongs to the same secret.
    await tx.run(makeUploadSecretOnce, { number, made_at: now });
    await tx.run(retireUploadSecret, { number, now });
    await tx.run(makeUploadSecretOnce, { number: number + 1, made_at: now });
    return number + 1;
  });
}
