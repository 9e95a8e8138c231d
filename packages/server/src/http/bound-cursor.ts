import { hash } from 'node:crypto';
import type { MemberScope } from '../domain/account/scope.ts';
import { invalidCursor } from '../domain/list-cursor.ts';

const TAG_CHARACTERS = 8;

/** What a cursor belongs to: one list with its filters, of one owner, integration, member, chat, run, folder or grouping. */
export interface ListIdentity {
  readonly operationId: string;
  readonly ownerId: string;
  readonly params: unknown;
  /** A client token's member: its list is another list than the owner's. */
  readonly member: MemberScope | null;
  /** The request's whole query. */
  readonly query: Readonly<Record<string, unknown>>;
}

/**
 * Returns the first characters of every cursor that callers see. Without them, a cursor of another list would give a
 * wrong page instead of an error.
 */
export function cursorTag({ operationId, ownerId, params, query, member }: ListIdentity): string {
  const ofMember = member === null ? [] : [member.consumerId, member.chatId];
  const { folder = null, groupBy = null, cursor: _cursor, limit: _limit, format: _format, ...filters } = query;
  // The order of the parameters in the address does not matter.
  const byName = Object.entries(filters).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // Without filters the tag is that of earlier versions, whose cursors stay valid.
  const filtered = byName.length === 0 ? [] : [byName];
  const list = JSON.stringify([operationId, ownerId, params, folder, groupBy, ...ofMember, ...filtered]);
  return hash('sha256', list, 'base64url').slice(0, TAG_CHARACTERS);
}

/** The cursor without its tag. Throws a `Refusal` if it is a cursor of another list. */
export function unboundCursor(cursor: string, tag: string): string {
  if (!cursor.startsWith(tag)) throw invalidCursor();
  return cursor.slice(tag.length);
}
