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
    // Refused below.
  }
  throw invalidCursor();
}

export function invalidCursor(): Refusal {
  return new Refusal('invalid_cursor', '`cursor` is not one that this server gave out; start again without it.');
}

/** A page and where it goes on: `rows` holds one more than `limit` where there is more. */
export function page<R, T>(
  rows: readonly R[],
  limit: number,
  position: (row: R) => ListPosition,
  show: (row: R) => T,
): { items: T[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(show),
    nextCursor: rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null,
  };
}
