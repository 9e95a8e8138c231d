import { hash, timingSafeEqual } from 'node:crypto';
import type { Principal } from '../domain/principal.ts';
import { Refusal } from '../domain/refusal.ts';
import { LruCache } from '../lib/lru-cache.ts';
import { firstOwner, keyById, type OwnerRow, ownerById, touchKey } from '../store/queries/accounts.ts';
import { first, type Reads, type Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { AccountCache } from './account-cache.ts';
import type { AccountChanges } from './accounts-version.ts';
import type { KeyProblem, KeySigning } from './key-signing.ts';

const LAST_USE_EVERY_MS = 60_000;

export interface AuthenticationDeps {
  readonly store: Store;
  /** Reads with a time limit, because a request waits for them. */
  readonly reads: Reads;
  readonly signing: KeySigning;
  readonly opaqueKeyHash: Buffer | null;
  readonly changes: AccountChanges;
  readonly maxVerified: number;
  readonly logger: Logger;
}

const SENTENCES: Readonly<Record<KeyProblem, string>> = {
  malformed: 'The API key is malformed; copy the complete key and send it as `Authorization: Bearer <key>`.',
  expired: 'The API key has expired; create a new one.',
  revoked: 'The API key was revoked; use another key of the same owner.',
  invalid: 'The API key is not valid; send a key of this server as `Authorization: Bearer <key>`.',
};

export const keyRefused = (problem: KeyProblem) => new Refusal('invalid_api_key', SENTENCES[problem]);

/**
 * Turns a bearer token into its owner. A verified token is remembered by its hash (2 µs instead of 70) until accounts
 * change, its key's revocation included.
 */
export class Authentication {
  readonly #store: Store;
  readonly #reads: Reads;
  readonly #signing: KeySigning;
  readonly #opaqueKeyHash: Buffer | null;
  readonly #logger: Logger;
  readonly #verified: AccountCache<Principal>;
  readonly #touchedAt: LruCache<string, number>;

  constructor(deps: AuthenticationDeps) {
    this.#store = deps.store;
    this.#reads = deps.reads;
    this.#signing = deps.signing;
    this.#opaqueKeyHash = deps.opaqueKeyHash;
    this.#logger = deps.logger;
    this.#verified = deps.changes.cache(deps.maxVerified);
    this.#touchedAt = new LruCache(deps.maxVerified);
  }

  /** Throws a `Refusal` that tells whether the key is malformed, expired, revoked or invalid. */
  async authenticate(token: string): Promise<Principal> {
    const now = Date.now();
    const verified = await this.#verified.get(hash('sha256', token, 'base64'), () => this.#verify(token, now));
    const { keyId, expiresAt } = verified.key;
    if (expiresAt !== null && expiresAt <= now) throw keyRefused('expired');
    if (keyId !== null && now - (this.#touchedAt.get(keyId) ?? 0) > LAST_USE_EVERY_MS) {
      this.#touchedAt.set(keyId, now);
      this.#store
        .transact('account', (tx) => tx.run(touchKey, { keyId, now }))
        .catch((error: unknown) =>
          this.#logger.warn({ err: error, keyId }, 'the last use of a key could not be stored'),
        );
    }
    return verified;
  }

  async #verify(token: string, now: number): Promise<Principal> {
    const reads = this.#reads;
    if (this.#opaqueKeyHash !== null && timingSafeEqual(opaqueHash(token), this.#opaqueKeyHash)) {
      const owner = await first(reads.all(firstOwner, {}));
      if (owner === undefined) throw keyRefused('invalid');
      return principal(owner, { keyId: null, name: 'RUNWIRE_API_KEY', expiresAt: null });
    }
    const claims = await this.#signing.verify(token);
    if (typeof claims === 'string') throw keyRefused(claims);
    const key = await first(reads.all(keyById, { keyId: claims.keyId }));
    if (key === undefined || key.owner_id !== claims.ownerId) throw keyRefused('invalid');
    if (key.revoked_at !== null) throw keyRefused('revoked');
    if (key.expires_at !== null && key.expires_at <= now) throw keyRefused('expired');
    const owner = await first(reads.all(ownerById, { ownerId: claims.ownerId }));
    if (owner === undefined) throw keyRefused('invalid');
    return principal(owner, {
      keyId: key.key_id,
      name: JSON.parse(key.name_json) as string,
      expiresAt: key.expires_at,
    });
  }
}

export function opaqueHash(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function principal(owner: OwnerRow, key: Principal['key']): Principal {
  return {
    ownerId: owner.owner_id,
    administrator: owner.administrator === 1,
    email: owner.email,
    name: owner.name_json === null ? null : (JSON.parse(owner.name_json) as string),
    key,
  };
}
