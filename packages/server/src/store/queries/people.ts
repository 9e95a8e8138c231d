import type { OwnerId, PersonId } from '../../domain/ids.ts';
import { insertInto, pickColumns, type RowOf, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';
import { soughtId } from './sought-id.ts';

type Db = Parameters<(typeof personById)['build']>[0];

/** On PostgreSQL a trigger for earlier nodes has already inserted a new owner's first person. */
export const insertPerson = insertInto(
  'people',
  ['person_id', 'owner_id', 'email', 'name_json', 'role', 'created_at', { last_seen_at: null }],
  { unlessExists: ['person_id'] },
);

export const personById = statement('person by id', (db, p: { personId: string }) =>
  db
    .selectFrom('people')
    .leftJoin('passwords', 'passwords.owner_id', 'people.person_id')
    .selectAll('people')
    .select('passwords.changed_at as password_at')
    .where('person_id', '=', soughtId<PersonId>(p.personId)),
);
export type PersonRow = RowOf<typeof personById>;

export const personByEmail = statement('person by email', (db, p: { email: string }) =>
  db.selectFrom('people').select(['person_id', 'owner_id']).where('email', '=', p.email),
);

export const listPeople = (ownerId: OwnerId, page: Page) => (db: Db) =>
  getPage(
    db
      .selectFrom('people')
      .leftJoin('passwords', 'passwords.owner_id', 'people.person_id')
      .selectAll('people')
      .select('passwords.changed_at as password_at')
      .where('people.owner_id', '=', ownerId),
    page,
    'people.created_at',
    'people.person_id',
  );

/** An owner's managers, oldest first. */
export const findManagerIds = statement('managers of', (db, p: { ownerId: OwnerId }) =>
  db
    .selectFrom('people')
    .select('person_id')
    .where('owner_id', '=', p.ownerId)
    .where('role', '=', 'manager')
    .orderBy('created_at')
    .orderBy('person_id'),
);

export const updatePerson = statement(
  'update person',
  (db, p: Pick<PersonRow, 'person_id' | 'email' | 'name_json' | 'role'>) =>
    db
      .updateTable('people')
      .set(pickColumns(p, ['email', 'name_json', 'role']))
      .where('person_id', '=', p.person_id),
);

export const touchPerson = statement('touch person', (db, p: { personId: PersonId; now: number }) =>
  db.updateTable('people').set({ last_seen_at: p.now }).where('person_id', '=', p.personId),
);

export const deletePerson = statement('delete person', (db, p: { personId: PersonId }) =>
  db.deleteFrom('people').where('person_id', '=', p.personId),
);

export const findPeople = statement('people of', (db, p: { ownerId: OwnerId }) =>
  db.selectFrom('people').select('person_id').where('owner_id', '=', p.ownerId),
);
