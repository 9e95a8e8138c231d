import type { Audit } from '../audit/audit.ts';
import type { NewPerson, OwnChange, PersonChange } from '../domain/account/account-inputs.ts';
import type { Principal } from '../domain/account/principal.ts';
import { refuseBelow } from '../domain/account/role-refusals.ts';
import { firstPersonId, newPersonId, type OwnerId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import type { EarlierNodes } from '../store/earlier-nodes.ts';
import { ownerById, updateOwner } from '../store/queries/accounts.ts';
import type { Page } from '../store/queries/page.ts';
import { findManagerIds, insertPerson, listPeople, type PersonRow, personById } from '../store/queries/people.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Reads, type Store, type Tx } from '../store/store.ts';
import type { AccountChanges } from './accounts-version.ts';
import { confirmCaller } from './confirm-caller.ts';
import { refuseWhileUpgrading } from './refuse-while-upgrading.ts';
import { removePerson } from './remove-person.ts';
import { newSetUpLink } from './set-up-links.ts';
import { storePerson } from './store-person.ts';
import { refuseTaken, storedEmail } from './stored-email.ts';

const parseName = (json: string | null) => (json === null ? null : (JSON.parse(json) as string));
const toNameJson = (name: string | null | undefined) =>
  name === undefined || name === null ? null : JSON.stringify(name);

function personJson(row: PersonRow) {
  return {
    personId: row.person_id,
    email: row.email,
    name: parseName(row.name_json),
    role: row.role,
    state: row.password_at === null ? ('invited' as const) : ('active' as const),
    lastSeenAt: iso(row.last_seen_at),
    createdAt: iso(row.created_at),
  };
}

/** The people of an owner. Only its managers change them. */
export class People {
  readonly #store: Store;
  readonly #changes: AccountChanges;
  readonly #earlierNodes: EarlierNodes;

  constructor(store: Store, changes: AccountChanges, earlierNodes: EarlierNodes) {
    this.#store = store;
    this.#changes = changes;
    this.#earlierNodes = earlierNodes;
  }

  /** `setUpSecret` is a link's secret with which the person sets a password. */
  async create(principal: Principal, input: NewPerson, audit: Audit) {
    refuseBelow(principal.role, input.role);
    if (input.role !== 'manager') refuseWhileUpgrading(this.#earlierNodes);
    const personId = newPersonId();
    const email = storedEmail(input.email);
    const link = newSetUpLink(personId);
    const row = {
      person_id: personId,
      owner_id: principal.ownerId,
      email,
      name_json: toNameJson(input.name),
      role: input.role,
      created_at: Date.now(),
    };
    const created = personJson({ ...row, last_seen_at: null, password_at: null });
    await this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      await refuseTaken(tx, email, personId, 'person_exists');
      await tx.run(insertPerson, row);
      await link.store(tx);
      await audit(tx, { target: ['person', personId], after: created });
    });
    return { ...created, setUpSecret: link.secret };
  }

  async get({ ownerId }: Principal, personId: string) {
    return personJson(await findPerson(this.#store.reads, ownerId, personId));
  }

  list({ ownerId }: Principal, query: ListQuery) {
    const people = (page: Page) => listPeople(ownerId, page);
    const position = (row: PersonRow) => ({ createdAt: row.created_at, id: row.person_id });
    return readPage(this.#store.reads, query, people, position, personJson);
  }

  async update(principal: Principal, requested: string, input: PersonChange, audit: Audit) {
    const { role } = input;
    if (role !== undefined) refuseBelow(principal.role, role);
    if (role !== undefined && role !== 'manager') refuseWhileUpgrading(this.#earlierNodes);
    return this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      const person = await findPerson(tx, principal.ownerId, requested);
      if (role !== undefined && role !== 'manager') await refuseLastManager(tx, person);
      return personJson(await change(tx, person, input, 'person_exists', audit));
    });
  }

  /** Changes the person of the session. With a key, it is the first person of the owner, as before people existed. */
  async updateSelf(principal: Principal, input: OwnChange, audit: Audit): Promise<Principal> {
    const { person, ownerId } = principal;
    const needed = person === null ? 'manager' : 'viewer';
    return this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, needed);
      const row = await first(tx.all(personById, { personId: person?.personId ?? firstPersonId(ownerId) }));
      if (row === undefined) return { ...principal, ...(await changeOwner(tx, ownerId, input, audit)) };
      const { email, name } = personJson(await change(tx, row, input, 'owner_exists', audit));
      const owner = row.person_id === firstPersonId(ownerId) ? { email, name } : {};
      return { ...principal, ...owner, person: person === null ? null : { ...person, email, name } };
    });
  }

  /** Ends the password, the sessions and the set-up link of the person. The keys that the person made stay. */
  async delete(principal: Principal, requested: string, audit: Audit): Promise<void> {
    await this.#changes.change(async (tx) => {
      await confirmCaller(tx, principal, 'manager');
      const { ownerId } = principal;
      const person = await findPerson(tx, ownerId, requested);
      await refuseLastManager(tx, person);
      await removePerson(tx, person.person_id);
      await audit(tx, { target: ['person', person.person_id], before: personJson(person) });
      // A node of the version before must not find the person by this e-mail.
      if (person.person_id === firstPersonId(ownerId))
        await tx.run(updateOwner, { ownerId, email: null, nameJson: person.name_json });
    });
  }
}

async function findPerson(reads: Reads, ownerId: OwnerId, personId: string): Promise<PersonRow> {
  const person = await first(reads.all(personById, { personId }));
  if (person === undefined || person.owner_id !== ownerId) throw new Refusal('person_not_found');
  return person;
}

/** Changes of accounts run one after the other, so two managers cannot remove each other. */
async function refuseLastManager(tx: Tx, { role, owner_id: ownerId }: PersonRow): Promise<void> {
  if (role === 'manager' && (await tx.all(findManagerIds, { ownerId })).length === 1) throw new Refusal('last_manager');
}

/** Changes the given fields, and keeps the others. */
async function change(
  tx: Tx,
  person: PersonRow,
  { email, name, role }: PersonChange,
  taken: 'owner_exists' | 'person_exists',
  audit: Audit,
): Promise<PersonRow> {
  if (email !== undefined) await refuseTaken(tx, storedEmail(email), person.person_id, taken);
  const changed = {
    ...person,
    ...(email === undefined ? {} : { email: storedEmail(email) }),
    ...(name === undefined ? {} : { name_json: toNameJson(name) }),
    ...(role === undefined ? {} : { role }),
  };
  await storePerson(tx, changed);
  await audit(tx, { target: ['person', person.person_id], before: personJson(person), after: personJson(changed) });
  return changed;
}

/** The first person of the owner was removed: a key can still change the name of the owner. */
async function changeOwner(tx: Tx, ownerId: OwnerId, { email, name }: OwnChange, audit: Audit) {
  const owner = await first(tx.all(ownerById, { ownerId }));
  if (owner === undefined) throw new Refusal('owner_not_found');
  if (email !== undefined)
    throw new Refusal('person_not_found', 'The first person of the owner was removed; change another person.');
  const nameJson = name === undefined ? owner.name_json : toNameJson(name);
  await tx.run(updateOwner, { ownerId, email: owner.email, nameJson });
  const before = { name: parseName(owner.name_json) };
  await audit(tx, { target: ['owner', ownerId], before, after: { name: parseName(nameJson) } });
  return { email: owner.email, name: parseName(nameJson) };
}
