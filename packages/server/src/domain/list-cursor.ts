import { Refusal } from './refusal.ts';

export interface ListPosition {
  readonly createdAt: number;
  readonly id: string;
}

export function encodeCursor(position: ListPosition): string {
  return Buffer.from(JSON.stringify([position.createdAt, position.id])).toString('base64url');
}

export function decodeCursor(cursor: string | undefined): ListPosition | null {
  if (cursor === undefined) return null;
  try {
    const [createdAt, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof createdAt === 'number' && Number.isSafeInteger(createdAt) && typeof id === 'string') {
      return { createdAt, id };
    }
  } catch {
    // The error is thrown below.
  }
  throw invalidCursor();
}

/** Returns the number that all rows of a page are below. For lists that are ordered by one number. */
export function numberBefore(before: (ListPosition & { readonly inclusive?: boolean }) | null): number {
  if (before === null) return Number.MAX_SAFE_INTEGER;
  return before.createdAt + (before.inclusive === true ? 1 : 0);
}

export function invalidCursor(): Refusal {
  return new Refusal('invalid_cursor', '`cursor` was not issued by this server for this list; start again without it.');
}
