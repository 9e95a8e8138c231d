import type { Kysely } from 'kysely';
import type { OwnerId, PersonId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, type RowOf, sameAs, statement } from '../statement.ts';

type Db = Kysely<Schema>;

/** Returns no row if the person has no password. */
export const passwordByEmail = statement('password by email', (db, p: { email: string }) =>
  db
    .selectFrom('passwords')
    .innerJoin('people', 'people.person_id', 'passwords.owner_id')
    .select(['people.person_id', 'passwords.password_hash'])
    .where('people.email', '=', p.email),
);

export const getPassword = statement('password of', (db, p: { personId: PersonId }) =>
  db.selectFrom('passwords').select('password_hash').where('owner_id', '=', p.personId),
);

/** Returns a row if a person of the owner has a password. */
export const anyPassword = statement('any password of', (db, p: { ownerId: OwnerId }) =>
  db
    .selectFrom('passwords')
    .innerJoin('people', 'people.person_id', 'passwords.owner_id')
    .select('people.person_id')
    .where('people.owner_id', '=', p.ownerId)
    .limit(1),
);

export const putPassword = statement(
  'put password',
  (db, p: { personId: PersonId; passwordHash: string; now: number }) => {
    const values = { password_hash: p.passwordHash, changed_at: p.now };
    return db
      .insertInto('passwords')
      .values({ owner_id: p.personId, ...values })
      .onConflict((c) => c.column('owner_id').doUpdateSet(values));
  },
);

export const deletePassword = statement('delete password', (db, p: { personId: PersonId }) =>
  db.deleteFrom('passwords').where('owner_id', '=', p.personId),
);

export const insertSession = insertInto('sessions', [
  'session_id',
  'owner_id',
  'secret_hash',
  'created_at',
  { used_at: sameAs('created_at') },
]);

/** Sessions with their people: a session of a person who was removed is not found. */
const selectSessions = (db: Db) =>
  db
    .selectFrom('sessions')
    .innerJoin('people', 'people.person_id', 'sessions.owner_id')
    .select(['session_id', 'sessions.created_at', 'used_at'])
    .select(['person_id', 'people.owner_id', 'email', 'name_json', 'role']);

export const sessionById = statement('session by id', (db, p: { sessionId: string }) =>
  selectSessions(db).where('session_id', '=', p.sessionId),
);

export const sessionBySecret = statement('session by secret', (db, p: { secretHash: string }) =>
  selectSessions(db).where('secret_hash', '=', p.secretHash),
);
export type SessionRow = RowOf<typeof sessionById>;

/** Changes no row if the session has ended. */
export const touchSession = statement('touch session', (db, p: { sessionId: string; now: number }) =>
  db.updateTable('sessions').set({ used_at: p.now }).where('session_id', '=', p.sessionId),
);

export const deleteSession = statement('delete session', (db, p: { sessionId: string }) =>
  db.deleteFrom('sessions').where('session_id', '=', p.sessionId),
);

/** Ends the sessions of a person except one. No session has an empty id. */
export const deleteOtherSessions = statement('delete sessions of', (db, p: { personId: PersonId; exceptId: string }) =>
  db.deleteFrom('sessions').where('owner_id', '=', p.personId).where('session_id', '!=', p.exceptId),
);

/** Returns those of these sessions that have not ended. */
export const sessionsAmong = (sessionIds: readonly string[]) => (db: Db) =>
  selectSessions(db).where('session_id', 'in', sessionIds);

export const deleteOldSessions = statement(
  'delete old sessions',
  (db, p: { createdBefore: number; usedBefore: number }) =>
    db
      .deleteFrom('sessions')
      .where((eb) => eb.or([eb('created_at', '<=', p.createdBefore), eb('used_at', '<=', p.usedBefore)])),
);

/** A new link replaces the same person's earlier link. */
export const putSetUpLink = statement(
  'put set-up link',
  (db, p: { personId: PersonId; secretHash: string; now: number; expiresAt: number | null }) => {
    const values = { secret_hash: p.secretHash, created_at: p.now, expires_at: p.expiresAt };
    return db
      .insertInto('set_up_links')
      .values({ owner_id: p.personId, ...values })
      .onConflict((c) => c.column('owner_id').doUpdateSet(values));
  },
);

export const getSetUpLink = statement('set-up link of', (db, p: { personId: PersonId }) =>
  db.selectFrom('set_up_links').selectAll().where('owner_id', '=', p.personId),
);

export const setUpLinkBySecret = statement('set-up link by secret', (db, p: { secretHash: string }) =>
  db
    .selectFrom('set_up_links')
    .innerJoin('people', 'people.person_id', 'set_up_links.owner_id')
    .select(['person_id', 'people.owner_id', 'name_json', 'role', 'expires_at'])
    .where('secret_hash', '=', p.secretHash),
);

export const deleteSetUpLink = statement('delete set-up link', (db, p: { personId: PersonId }) =>
  db.deleteFrom('set_up_links').where('owner_id', '=', p.personId),
);

export const deleteOldLinks = statement('delete old links', (db, p: { now: number }) =>
  db.deleteFrom('set_up_links').where('expires_at', '<=', p.now),
);

/** The newest failures of an e-mail or an address, newest first. */
export const getFailures = statement('failures of', (db, p: { subject: string; after: number; limit: number }) =>
  db
    .selectFrom('sign_in_failures')
    .select('failed_at')
    .where('subject', '=', p.subject)
    .where('failed_at', '>', p.after)
    .orderBy('failed_at', 'desc')
    .limit(p.limit),
);

export const insertFailure = insertInto('sign_in_failures', ['failure_id', 'subject', 'failed_at']);

export const deleteFailure = statement('delete failure', (db, p: { failureId: string }) =>
  db.deleteFrom('sign_in_failures').where('failure_id', '=', p.failureId),
);

export const deleteSubjectFailures = statement('delete failures of', (db, p: { subject: string }) =>
  db.deleteFrom('sign_in_failures').where('subject', '=', p.subject),
);

export const deleteOldFailures = statement('delete old failures', (db, p: { before: number }) =>
  db.deleteFrom('sign_in_failures').where('failed_at', '<=', p.before),
);

/** Returns a row if one of the statements that delete what is old would delete a row. */
export const oldSignIns = statement(
  'old sign-ins',
  (db, p: { createdBefore: number; usedBefore: number; now: number; failedBefore: number }) =>
    db
      .selectFrom('sessions')
      .select('session_id as id')
      .where((eb) => eb.or([eb('created_at', '<=', p.createdBefore), eb('used_at', '<=', p.usedBefore)]))
      .unionAll(db.selectFrom('set_up_links').select('owner_id as id').where('expires_at', '<=', p.now))
      .unionAll(db.selectFrom('sign_in_failures').select('failure_id as id').where('failed_at', '<=', p.failedBefore))
      .limit(1),
);
