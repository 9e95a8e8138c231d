import { LruCache } from '@runwire/lib/lru-cache.ts';
import type { Audit } from '../audit/audit.ts';
import type { KeyInput } from '../domain/account/account-inputs.ts';
import type { Principal } from '../domain/account/principal.ts';
import type { Role } from '../domain/account/role.ts';
import { refuseBelow } from '../domain/account/role-refusals.ts';
import { newId, type OwnerId } from '../domain/ids.ts';
import { decodeCursor } from '../domain/list-cursor.ts';
import { cursorBy, type ListPage, pageOfRows } from '../domain/list-page.ts';
import { Refusal } from '../domain/refusal.ts';
import { StartRefused } from '../domain/start-refused.ts';
import { iso } from '../domain/time.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import {
  firstOwner,
  insertKey,
  type KeyRow,
  keyById,
  listKeys,
  raiseAccountsVersion,
  revokeKey,
  usableManagerKeys,
} from '../store/queries/accounts.ts';
import { DEFAULT_LIMIT, type ListQuery } from '../store/read-page.ts';
import { first, type Store, type Tx } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { confirmCaller } from './confirm-caller.ts';
import { parseIntegrations } from './key-integrations.ts';
import type { KeySigning } from './key-signing.ts';
import { requireOwned } from './owned-integration.ts';
import { refuseWhileUpgrading } from './refuse-while-upgrading.ts';

/** The position before every key. */
const NEWEST = { createdAt: Number.MAX_SAFE_INTEGER, id: '' };

/** Who made a key. */
export interface KeyCreator {
  readonly kind: 'person' | 'key';
  /** Null for `RUNWIRE_API_KEY`. */
  readonly id: string | null;
  readonly name: string | null;
}

export function keyCreator({ person, key }: Principal): KeyCreator {
  return person === null
    ? { kind: 'key', id: key.keyId, name: key.name }
    : { kind: 'person', id: person.personId, name: person.name ?? person.email };
}

const SUFFIX_CHARACTERS = 6;
const getSuffix = (apiKey: string) => apiKey.slice(-SUFFIX_CHARACTERS);

function keyJson(row: Omit<KeyRow, 'creator_id' | 'owner_id'>, suffix: string) {
  return {
    keyId: row.key_id,
    name: JSON.parse(row.name_json) as string,
    role: row.role,
    integrations: parseIntegrations(row),
    suffix,
    createdBy: row.creator_json === null ? null : (JSON.parse(row.creator_json) as KeyCreator),
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
    lastUsedAt: iso(row.last_used_at),
    revokedAt: iso(row.revoked_at),
  };
}

/** `RUNWIRE_API_KEY` has no row. */
const OPAQUE_KEY = {
  keyId: null,
  name: 'RUNWIRE_API_KEY',
  role: 'manager',
  integrations: null,
  suffix: null,
  createdBy: null,
  createdAt: null,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};

/**
 * Signs a new key. The key is only in the answer and is never stored. It is signed before the transaction, because a
 * transaction may wait only for its own queries.
 */
export async function signKey(
  signing: KeySigning,
  key: {
    readonly ownerId: OwnerId;
    readonly name: string;
    readonly expiresAt: number | null;
    readonly role?: Role;
    readonly integrations?: readonly string[] | null;
    /** Null if a command makes it. */
    readonly createdBy: KeyCreator | null;
  },
) {
  const keyId = newId('key');
  const now = Date.now();
  const { ownerId, name, expiresAt, role = 'manager', integrations = null, createdBy } = key;
  const apiKey = await signing.sign({ ownerId, keyId }, now, expiresAt);
  const row = {
    key_id: keyId,
    owner_id: ownerId,
    name_json: JSON.stringify(name),
    role,
    integrations_json: integrations === null ? null : JSON.stringify(integrations),
    creator_id: createdBy?.id ?? null,
    creator_json: createdBy === null ? null : JSON.stringify(createdBy),
    created_at: now,
    expires_at: expiresAt,
  };
  const created = keyJson({ ...row, last_used_at: null, revoked_at: null }, getSuffix(apiKey));
  return { apiKey, now, created: { ...created, apiKey }, store: (tx: Tx) => tx.run(insertKey, row) };
}

export async function signKeyOfFirstOwner(store: Store, signing: KeySigning, name: string) {
  const owner = await first(store.reads.all(firstOwner, {}));
  if (owner === undefined) throw new StartRefused('The installation has no owner yet; start the server once first.');
  return signKey(signing, { ownerId: owner.owner_id, name, expiresAt: null, createdBy: null });
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

export interface KeysDeps {
  readonly store: Store;
  readonly changes: AccountChanges;
  readonly signing: KeySigning;
  readonly hasOpaqueKey: boolean;
  readonly earlierNodes: EarlierNodes;
}

/** The creator whose keys the caller sees and revokes; null if it sees all keys of the owner. */
const onlyCreator = (principal: Principal): string | null =>
  principal.role === 'manager' ? null : (keyCreator(principal).id ?? '');

interface ShownKey {
  readonly at: { readonly createdAt: number; readonly id: string };
  readonly json: ReturnType<typeof keyJson> | typeof OPAQUE_KEY;
}

const KNOWN_SUFFIXES = 10_000;

export class Keys {
  readonly #deps: KeysDeps;
  /** By the keys' ids. */
  readonly #suffixes = new LruCache<string, string>(KNOWN_SUFFIXES);

  constructor(deps: KeysDeps) {
    this.#deps = deps;
  }

  async create(principal: Principal, input: KeyInput, audit: Audit) {
    const { signing, changes, earlierNodes } = this.#deps;
    const expiresAt = input.expiresAt === undefined ? null : Date.parse(input.expiresAt);
    if (expiresAt !== null && expiresAt <= Date.now()) {
      throw new Refusal('invalid_request', '`expiresAt` must be in the future.');
    }
    const { name = 'key', role = 'manager', integrations = null } = input;
    refuseBelow(principal.role, role);
    if (role !== 'manager' || integrations !== null) refuseWhileUpgrading(earlierNodes);
    const createdBy = keyCreator(principal);
    const { ownerId } = principal;
    const key = await signKey(signing, { ownerId, name, expiresAt, role, integrations, createdBy });
    await changes.change(async (tx) => {
      await confirmCaller(tx, principal, role === 'manager' ? 'manager' : 'developer');
      await requireOwned(tx, principal, integrations ?? []);
      await key.store(tx);
      await audit(tx, { target: ['key', key.created.keyId], after: key.created });
    });
    return key.created;
  }

  /** The key of `RUNWIRE_API_KEY` is the first of the list of all keys of its owner. */
  async list(principal: Principal, query: ListQuery): Promise<ListPage> {
    const { store, signing, hasOpaqueKey } = this.#deps;
    const creatorId = onlyCreator(principal);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const page = { before: decodeCursor(query.cursor), limit: limit + 1 };
    const rows = await store.reads.query(listKeys(principal.ownerId, creatorId, page));
    const opaque = hasOpaqueKey && principal.administrator && creatorId === null && query.cursor === undefined;
    const shown: ShownKey[] = [];
    // One after the other: signatures that are ready together would hold the event loop.
    for (const row of rows) shown.push(await this.#show(signing, row));
    return pageOfRows(
      opaque ? [{ at: NEWEST, json: OPAQUE_KEY }, ...shown] : shown,
      limit,
      cursorBy(({ at }) => at),
      ({ json }) => json,
    );
  }

  async #show(signing: KeySigning, row: KeyRow): Promise<ShownKey> {
    const { key_id: keyId, created_at: createdAt } = row;
    let suffix = this.#suffixes.get(keyId);
    if (suffix === undefined) {
      // The store does not have the key: it is signed again.
      suffix = getSuffix(await signing.sign({ ownerId: row.owner_id, keyId }, createdAt, row.expires_at));
      this.#suffixes.set(keyId, suffix);
    }
    return { at: { createdAt, id: keyId }, json: keyJson(row, suffix) };
  }

  /** Revoked keys stay listed. The last key that may do everything cannot be revoked: its owner would be locked out. */
  async revoke(principal: Principal, keyId: string, audit: Audit): Promise<void> {
    const { changes, hasOpaqueKey } = this.#deps;
    const now = Date.now();
    const { ownerId } = principal;
    const creatorId = onlyCreator(principal);
    await changes.change(async (tx) => {
      await confirmCaller(tx, principal, principal.role);
      const key = await first(tx.all(keyById, { keyId }));
      const isOwn = key?.owner_id === ownerId && (creatorId === null || key.creator_id === creatorId);
      if (key === undefined || !isOwn) throw new Refusal('key_not_found');
      if (key.revoked_at !== null) return;
      const isFull = key.role === 'manager' && key.integrations_json === null;
      const others = (await tx.all(usableManagerKeys, { ownerId, now })).filter((other) => other.key_id !== keyId);
      const opaque = hasOpaqueKey && principal.administrator;
      if (isFull && others.length === 0 && !opaque) throw new Refusal('last_key');
      await tx.run(revokeKey, { keyId, now });
      await audit(tx, { target: ['key', keyId], before: { revokedAt: null }, after: { revokedAt: iso(now) } });
    });
  }
}
