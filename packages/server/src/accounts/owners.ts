import { administratorOnly } from '../domain/administrator-only.ts';
import { newId } from '../domain/ids.ts';
import type { Principal } from '../domain/principal.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { insertOwner, listOwners, type OwnerRow, ownerByEmail } from '../store/queries/accounts.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import type { KeySigning } from './key-signing.ts';
import { signKey } from './keys.ts';

function ownerJson(row: OwnerRow) {
  return {
    ownerId: row.owner_id,
    email: row.email,
    name: row.name_json === null ? null : (JSON.parse(row.name_json) as string),
    administrator: row.administrator === 1,
    createdAt: iso(row.created_at),
  };
}

/** Only the administrator manages further owners (`contract-3-owners`). */
export class Owners {
  readonly #store: Store;
  readonly #changes: AccountChanges;
  readonly #signing: KeySigning;

  constructor(store: Store, changes: AccountChanges, signing: KeySigning) {
    this.#store = store;
    this.#changes = changes;
    this.#signing = signing;
  }

  async create(principal: Principal, input: { email: string; name?: string }) {
    administratorOnly(principal);
    const ownerId = newId('own');
    const email = input.email.toLowerCase();
    const key = await signKey(this.#signing, { ownerId, name: 'first', expiresAt: null });
    await this.#changes.change(async (tx) => {
      if ((await first(tx.all(ownerByEmail, { email }))) !== undefined) throw new Refusal('owner_exists');
      const nameJson = input.name === undefined ? null : JSON.stringify(input.name);
      await tx.run(insertOwner, { ownerId, email, nameJson, administrator: 0, now: key.now });
      await key.store(tx);
    });
    return { ownerId, email, apiKey: key.apiKey, setupLink: null };
  }

  async list(principal: Principal, query: ListQuery) {
    administratorOnly(principal);
    const position = (row: OwnerRow) => ({ createdAt: row.created_at, id: row.owner_id });
    return readPage(this.#store.reads, query, listOwners, position, ownerJson);
  }
}
