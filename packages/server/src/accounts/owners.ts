import { administratorOnly } from '../domain/account/administrator-only.ts';
import type { Principal } from '../domain/account/principal.ts';
import { newOwnerId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import {
  deleteOwner,
  deleteOwnerKeys,
  findAnyIntegration,
  insertOwner,
  listOwners,
  type OwnerRow,
  ownerById,
  updateOwner,
} from '../store/queries/accounts.ts';
import { deleteOtherSessions, deletePassword, deleteSetUpLink } from '../store/queries/sign-in.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import type { KeySigning } from './key-signing.ts';
import { signKey } from './keys.ts';
import { newSetUpLink } from './set-up-links.ts';
import { refuseTaken, storedEmail } from './stored-email.ts';

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

  /** `setUpSecret` is a link's secret with which the owner sets a password. */
  async create(principal: Principal, input: { email: string; name?: string }) {
    administratorOnly(principal);
    const ownerId = newOwnerId();
    const email = storedEmail(input.email);
    const key = await signKey(this.#signing, { ownerId, name: 'first', expiresAt: null });
    const link = newSetUpLink(ownerId);
    await this.#changes.change(async (tx) => {
      await refuseTaken(tx, email, ownerId);
      const name_json = input.name === undefined ? null : JSON.stringify(input.name);
      await tx.run(insertOwner, { owner_id: ownerId, email, name_json, administrator: 0, created_at: key.now });
      await key.store(tx);
      await link.store(tx);
    });
    return { ownerId, email, apiKey: key.apiKey, setUpSecret: link.secret };
  }

  async list(principal: Principal, query: ListQuery) {
    administratorOnly(principal);
    const position = (row: OwnerRow) => ({ createdAt: row.created_at, id: row.owner_id });
    return readPage(this.#store.reads, query, listOwners, position, ownerJson);
  }

  /** Changes the caller's given fields, and keeps the others. */
  async update(
    { ownerId }: Principal,
    input: { readonly email?: string; readonly name?: string | null },
  ): Promise<Pick<Principal, 'ownerId' | 'email' | 'name' | 'administrator'>> {
    const given = input.email === undefined ? null : storedEmail(input.email);
    return this.#changes.change(async (tx) => {
      const owner = await first(tx.all(ownerById, { ownerId }));
      if (owner === undefined) throw new Refusal('owner_not_found');
      if (given !== null) await refuseTaken(tx, given, ownerId);
      const email = given ?? owner.email;
      const nameJson = input.name === undefined ? owner.name_json : input.name && JSON.stringify(input.name);
      await tx.run(updateOwner, { ownerId, email, nameJson });
      const { createdAt: _, ...changed } = ownerJson({ ...owner, email, name_json: nameJson });
      return changed;
    });
  }

  /** Deletes an owner with its keys, its password and its sessions. Its deleted integrations keep their usage. */
  async delete(principal: Principal, requested: string): Promise<void> {
    administratorOnly(principal);
    await this.#changes.change(async (tx) => {
      const owner = await first(tx.all(ownerById, { ownerId: requested }));
      if (owner === undefined) throw new Refusal('owner_not_found');
      const ownerId = owner.owner_id;
      if (ownerId === principal.ownerId) {
        throw new Refusal('owner_in_use', 'You cannot delete yourself; the installation needs its administrator.');
      }
      if ((await tx.all(findAnyIntegration, { ownerId })).length > 0) throw new Refusal('owner_in_use');
      await tx.run(deleteOwnerKeys, { ownerId });
      await tx.run(deletePassword, { ownerId });
      await tx.run(deleteOtherSessions, { ownerId, exceptId: '' });
      await tx.run(deleteSetUpLink, { ownerId });
      await tx.run(deleteOwner, { ownerId });
    });
  }
}
