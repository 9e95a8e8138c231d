import { hash } from 'node:crypto';
import { invalidCursor } from '../domain/list-cursor.ts';

const TAG_CHARACTERS = 8;

/** What a cursor belongs to: one list, of one owner, integration, chat, run, folder or grouping. */
export interface ListIdentity {
  readonly operationId: string;
  readonly ownerId: string;
  readonly params: unknown;
  readonly query: { readonly folder?: string; readonly groupBy?: string };
}

/**
 * Returns the first characters of every cursor that callers see. Without them, a cursor of another list would give a
 * wrong page instead of an error.
 */
export function cursorTag({ operationId, ownerId, params, query }: ListIdentity): string {
  const list = JSON.stringify([operationId, ownerId, params, query.folder ?? null, query.groupBy ?? null]);
  return hash('sha256', list, 'base64url').slice(0, TAG_CHARACTERS);
}

/** The cursor without its tag. Throws a `Refusal` if it is a cursor of another list. */
export function unboundCursor(cursor: string, tag: string): string {
  if (!cursor.startsWith(tag)) throw invalidCursor();
  return cursor.slice(tag.length);
}
