import type { Audit } from '../audit/audit.ts';
import { administratorOnly } from '../domain/account/administrator-only.ts';
import type { Principal } from '../domain/account/principal.ts';
import { firstPersonId, newOwnerId } from '../domain/ids.ts';
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
} from '../store/queries/accounts.ts';
import { findPeople, insertPerson } from '../store/queries/people.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { confirmCaller } from './confirm-caller.ts';
import { firstPerson } from './first-person.ts';
import type { KeySigning } from './key-signing.ts';
import { signKey } from './keys.ts';
import { removePerson } from './remove-person.ts';
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
  async create(principal: Principal, input: { email: string; name?: string }, audit: Audit) {
    administratorOnly(principal);
    const ownerId = newOwnerId();
    const email = storedEmail(input.email);
    const personId = firstPersonId(ownerId);
    const key = await signKey(this.#signing, {
      ownerId,
      name: 'first',
      expiresAt: null,
      createdBy: null,
    });
    const link = newSetUpLink(personId);
    await this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      await refuseTaken(tx, email, personId, 'owner_exists');
      const name_json = input.name === undefined ? null : JSON.stringify(input.name);
      await tx.run(insertOwner, { owner_id: ownerId, email, name_json, administrator: 0, created_at: key.now });
      await tx.run(insertPerson, firstPerson({ ownerId, email, name_json, now: key.now }));
      await key.store(tx);
      await link.store(tx);
      await audit(tx, { target: ['owner', ownerId], after: { email, name: input.name } });
    });
    return { ownerId, email, apiKey: key.apiKey, setUpSecret: link.secret };
  }

  async list(principal: Principal, query: ListQuery) {
    administratorOnly(principal);
    const position = (row: OwnerRow) => ({ createdAt: row.created_at, id: row.owner_id });
    return readPage(this.#store.reads, query, listOwners, position, ownerJson);
  }

  /**
   * Deletes an owner with its keys and its people. Its deleted integrations keep their usage. No caller can read its audit
   * events any more; `AuditSweep` deletes them.
   */
  async delete(principal: Principal, requested: string, audit: Audit): Promise<void> {
    administratorOnly(principal);
    await this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      const owner = await first(tx.all(ownerById, { ownerId: requested }));
      if (owner === undefined) throw new Refusal('owner_not_found');
      const ownerId = owner.owner_id;
      if (ownerId === principal.ownerId) {
        throw new Refusal('owner_in_use', 'You cannot delete yourself; the installation needs its administrator.');
      }
      if ((await tx.all(findAnyIntegration, { ownerId })).length > 0) throw new Refusal('owner_in_use');
      await tx.run(deleteOwnerKeys, { ownerId });
      for (const { person_id } of await tx.all(findPeople, { ownerId })) await removePerson(tx, person_id);
      await tx.run(deleteOwner, { ownerId });
      await audit(tx, { target: ['owner', ownerId], before: { email: owner.email, name: ownerJson(owner).name } });
    });
  }
}
