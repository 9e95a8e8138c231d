import { newId, type OwnerId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import { Refusal } from '../domain/refusal.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { iso } from '../domain/time.ts';
import {
  firstOwner,
  insertKey,
  type KeyRow,
  keyById,
  listKeys,
  raiseAccountsVersion,
  revokeKey,
  usableKeys,
} from '../store/queries/accounts.ts';
import type { Page } from '../store/queries/page.ts';
import { sessionById } from '../store/queries/sign-in.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { consoleRefused, keyRefused } from './authenticate.ts';
import type { KeySigning } from './key-signing.ts';
import { refuseDeletedOwner } from './refuse-deleted-owner.ts';
import { isSessionId } from './session-life.ts';

function keyJson(row: KeyRow) {
  return {
    keyId: row.key_id,
    name: JSON.parse(row.name_json) as string,
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
    revokedAt: iso(row.revoked_at),
  };
}

/**
 * Signs a new key. The key is only in the answer and is never stored. It is signed before the transaction, because a
 * transaction may wait only for its own queries.
 */
export async function signKey(
  signing: KeySigning,
  key: { readonly ownerId: OwnerId; readonly name: string; readonly expiresAt: number | null },
) {
  const keyId = newId('key');
  const now = Date.now();
  const apiKey = await signing.sign({ ownerId: key.ownerId, keyId }, now, key.expiresAt);
  const owned = { key_id: keyId, owner_id: key.ownerId, name_json: JSON.stringify(key.name) };
  const row = { ...owned, created_at: now, expires_at: key.expiresAt };
  return { keyId, apiKey, now, store: (tx: Tx) => tx.run(insertKey, row) };
}

export async function signKeyOfFirstOwner(store: Store, signing: KeySigning, name: string) {
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) throw new StartRefused('The installation has no owner yet; start the server once first.');
  return signKey(signing, { ownerId: owner.owner_id, name, expiresAt: null });
}

/** For a command beside the server. The server notices the new key by the version of accounts. */
export async function createKeyOfFirstOwner(store: Store, signing: KeySigning, name: string): Promise<string> {
  const key = await signKeyOfFirstOwner(store, signing, name);
  await store.transact('account', async (tx) => {
    await key.store(tx);
    await tx.run(raiseAccountsVersion, {});
  });
  return key.apiKey;
}

/** If the caller's key or session ended after the request was authenticated, it must not revoke other keys. */
async function refuseRevoked(tx: Tx, { key }: Principal): Promise<void> {
  if (key.keyId === null) return;
  if (isSessionId(key.keyId)) {
    if ((await tx.all(sessionById, { sessionId: key.keyId })).length === 0) throw consoleRefused('ended');
    return;
  }
  const row = await first(tx.all(keyById, { keyId: key.keyId }));
  if (row !== undefined && row.revoked_at !== null) throw keyRefused('revoked');
}

export class Keys {
  readonly #store: Store;
  readonly #changes: AccountChanges;
  readonly #signing: KeySigning;
  readonly #hasOpaqueKey: boolean;

  constructor(store: Store, changes: AccountChanges, signing: KeySigning, hasOpaqueKey: boolean) {
    this.#store = store;
    this.#changes = changes;
    this.#signing = signing;
    this.#hasOpaqueKey = hasOpaqueKey;
  }

  async create(principal: Principal, input: { name?: string; expiresAt?: string }) {
    const expiresAt = input.expiresAt === undefined ? null : Date.parse(input.expiresAt);
    if (expiresAt !== null && expiresAt <= Date.now()) {
      throw new Refusal('invalid_request', '`expiresAt` must be in the future.');
    }
    const name = input.name ?? 'key';
    const { ownerId } = principal;
    const { keyId, apiKey, now, store } = await signKey(this.#signing, { ownerId, name, expiresAt });
    await this.#changes.change(async (tx) => {
      await refuseDeletedOwner(tx, principal);
      await store(tx);
    });
    return {
      keyId,
      name,
      createdAt: iso(now),
      expiresAt: iso(expiresAt),
      lastUsedAt: null,
      revokedAt: null,
      apiKey,
    };
  }

  list(principal: Principal, query: ListQuery) {
    const keys = (page: Page) => listKeys(principal.ownerId, page);
    return readPage(this.#store.reads, query, keys, (row) => ({ createdAt: row.created_at, id: row.key_id }), keyJson);
  }

  /** Revoked keys stay listed. The last working key cannot be revoked, because its owner would be locked out. */
  async revoke(principal: Principal, keyId: string): Promise<void> {
    const now = Date.now();
    await this.#changes.change(async (tx) => {
      await refuseRevoked(tx, principal);
      const key = await first(tx.all(keyById, { keyId }));
      if (key === undefined || key.owner_id !== principal.ownerId) throw new Refusal('key_not_found');
      if (key.revoked_at !== null) return;
      const others = (await tx.all(usableKeys, { ownerId: principal.ownerId, now })).filter(
        (other) => other.key_id !== keyId,
      );
      const opaque = this.#hasOpaqueKey && principal.administrator;
      if (others.length === 0 && !opaque) throw new Refusal('last_key');
      await tx.run(revokeKey, { keyId, now });
    });
  }
}
