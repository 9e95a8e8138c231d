import type { PersonId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { personByEmail } from '../store/queries/people.ts';
import { first, type Tx } from '../store/store.ts';

/** E-mails are compared regardless of letter case. */
export const storedEmail = (email: string): string => email.toLowerCase();

/** Throws a `Refusal` if a person other than this one has the e-mail. Call it in a change of accounts. */
export async function refuseTaken(
  tx: Tx,
  email: string,
  personId: PersonId,
  code: 'owner_exists' | 'person_exists',
): Promise<void> {
  const holder = await first(tx.all(personByEmail, { email }));
  if (holder !== undefined && holder.person_id !== personId) throw new Refusal(code);
}
