import { prefixEnd } from '@runwire/lib/prefix-end.ts';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { IntegrationId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { LATER_WORDS, nameFrom } from './member-words.ts';
import { getPage, measureSizes, olderThan, type Page } from './page.ts';

type Db = Kysely<Schema>;

export interface MemberFilter extends Page {
  readonly integrationId: IntegrationId;
  /** The start of the id, or of a word of the name. A to Z match in upper and lower case. */
  readonly start: string | null;
}

/** True for texts that begin with `first`. */
function beginsWith(text: RawBuilder<string>, first: string): RawBuilder<boolean> {
  const end = prefixEnd(first);
  const lower = sql`lower(${text})`;
  return sql<boolean>`(${lower} >= ${first} and ${end === null ? sql`1 = 1` : sql`${lower} < ${end}`})`;
}

/** One condition for each index: the id, the name, and the name from a later word on. Names are stored as JSON. */
function waysToMatch(start: string): readonly RawBuilder<boolean>[] {
  const folded = start.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const quoted = JSON.stringify(folded).slice(0, -1);
  return [
    beginsWith(sql.ref('consumer_id'), folded),
    beginsWith(sql.ref('name_json'), quoted),
    ...LATER_WORDS.map(
      (word) => sql<boolean>`(${nameFrom(word)} is not null and ${beginsWith(nameFrom(word), quoted.slice(1))})`,
    ),
  ];
}

/**
 * Selects the members of a page whose id begins with the text, or a word of whose name does. Of 1 000 000 members 110 000
 * matched in 50 ms. The expressions keep SQLite from reading the index of all members.
 */
function matching(db: Db, { integrationId, before, limit }: MemberFilter, start: string) {
  const members = db
    .selectFrom('members')
    .select(['consumer_id', 'created_at as at', 'sort_key as key'])
    .where('integration_id', '=', integrationId)
    .where(olderThan(before, sql`(created_at + 0)`, 'sort_key'));
  // A member that matches in several ways is found once.
  const all = waysToMatch(start)
    .map((way) => members.where(way))
    .reduce((rows, next) => rows.union(next));
  return all.orderBy('at', 'desc').orderBy('key', 'desc').limit(limit);
}

/** A page's members, newest first. */
export const listMembers = (filter: MemberFilter) => (db: Db) => {
  const { integrationId, start } = filter;
  if (start === null) {
    const members = db.selectFrom('members').selectAll('members').where('members.integration_id', '=', integrationId);
    return getPage(members, filter, 'members.created_at', 'members.sort_key');
  }
  // SQLite reads the tables of a cross join in this order.
  const found = db
    .selectFrom(matching(db, filter, start).as('found'))
    .crossJoin('members')
    .selectAll('members');
  return found
    .where('members.integration_id', '=', integrationId)
    .whereRef('members.consumer_id', '=', 'found.consumer_id')
    .orderBy('members.created_at', 'desc')
    .orderBy('members.sort_key', 'desc');
};

export const memberSizes = (filter: MemberFilter) => (db: Db) =>
  measureSizes(
    listMembers(filter)(db),
    'members.created_at',
    'members.sort_key',
    sql<number>`octet_length(members.metadata_json)`,
  );
