import type { PersonId } from '../domain/ids.ts';
import { deletePerson } from '../store/queries/people.ts';
import { deleteOtherSessions, deletePassword, deleteSetUpLink } from '../store/queries/sign-in.ts';
import type { Tx } from '../store/store.ts';

/** Deletes a person with the password, the sessions and the set-up link. Call it in a change of accounts. */
export async function removePerson(tx: Tx, personId: PersonId): Promise<void> {
  await tx.run(deletePassword, { personId });
  await tx.run(deleteOtherSessions, { personId, exceptId: '' });
  await tx.run(deleteSetUpLink, { personId });
  await tx.run(deletePerson, { personId });
}
