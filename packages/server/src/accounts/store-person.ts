import { firstPersonId } from '../domain/ids.ts';
import { ownerById, updateOwner } from '../store/queries/accounts.ts';
import { type PersonRow, updatePerson } from '../store/queries/people.ts';
import { first, type Tx } from '../store/store.ts';

/** Changes a person. The owner has its first person's e-mail and name, for nodes from the version before. */
export async function storePerson(
  tx: Tx,
  person: Pick<PersonRow, 'person_id' | 'owner_id' | 'email' | 'name_json' | 'role'>,
): Promise<void> {
  await tx.run(updatePerson, person);
  const { owner_id: ownerId, email, name_json: nameJson } = person;
  if (person.person_id !== firstPersonId(ownerId)) return;
  if ((await first(tx.all(ownerById, { ownerId }))) !== undefined)
    await tx.run(updateOwner, { ownerId, email, nameJson });
}
