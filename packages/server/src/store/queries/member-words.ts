import { type RawBuilder, sql } from 'kysely';

/** The words of a name, after its first one, that find the member. */
export const LATER_WORDS = [2, 3, 4] as const;
export type LaterWord = (typeof LATER_WORDS)[number];

/** The stored name from this word on; null if it has fewer words. The indexes have exactly these expressions. */
export function nameFrom(word: LaterWord): RawBuilder<string> {
  const before = word === 2 ? sql<string>`${sql.ref('name_json')}` : nameFrom((word - 1) as LaterWord);
  return sql<string>`case when instr(${before}, ' ') > 0 then substr(${before}, instr(${before}, ' ') + 1) end`;
}
