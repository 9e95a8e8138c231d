import { firstPersonId, type OwnerId } from '../domain/ids.ts';

/** The row of the person with whom an owner begins. */
export const firstPerson = (owner: {
  readonly ownerId: OwnerId;
  readonly email: string | null;
  readonly name_json: string | null;
  readonly now: number;
}) => ({
  person_id: firstPersonId(owner.ownerId),
  owner_id: owner.ownerId,
  email: owner.email,
  name_json: owner.name_json,
  role: 'manager' as const,
  created_at: owner.now,
});
