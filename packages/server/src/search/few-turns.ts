import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import { SCOPE_CHARACTERS, type SoughtWords } from '../domain/search/words.ts';
import { lastDoc, nextTerm, turnsMatching, turnsWith } from '../store/queries/search.ts';
import type { Turn } from '../store/queries/search-index.ts';
import { first, type Reads, type Store } from '../store/store.ts';

/** With more turns than this, a list is read in its own order: then it soon has a page of them. */
const FEW = 2000;
/** The index's rows that are read before other work gets a turn. */
const WINDOW = 100_000;
const MAX_MS = 150;
/** A prefix with more words than this is too general for the index. */
const MAX_TERMS = 64;
/** The shortest prefix for which PostgreSQL reads the index. Shorter ones can have millions of entries. */
const MIN_PREFIX = 3;

/**
 * Returns the indexed turns with all these words, which are whole words or one prefix. Null if there are many, or if reading
 * them takes too long.
 */
export type FewTurns = (takeTurn: TakeTurn, words: SoughtWords) => Promise<readonly Turn[] | null>;

export const fewTurns = ({ kind, reads }: Store): FewTurns =>
  kind === 'postgres'
    ? (takeTurn, words) => fewInPostgres(reads, takeTurn, words)
    : (takeTurn, words) => fewInSqlite(reads, takeTurn, words);

async function fewInPostgres(reads: Reads, takeTurn: TakeTurn, words: SoughtWords): Promise<Turn[] | null> {
  if (words.some(({ text, isPrefix }) => isPrefix && text.length < SCOPE_CHARACTERS + MIN_PREFIX && isAscii(text)))
    return null;
  using _turn = await takeTurn();
  const turns = await reads.query(turnsWith(words, FEW + 1));
  return turns.length > FEW ? null : turns;
}

/** A Chinese character is a whole word. */
const isAscii = (text: string): boolean => /^[a-z0-9]*$/.test(text);

async function fewInSqlite(reads: Reads, takeTurn: TakeTurn, words: SoughtWords): Promise<Turn[] | null> {
  const [prefix] = words.filter(({ isPrefix }) => isPrefix);
  const expression =
    prefix === undefined
      ? quote(
          words.map(({ text }) => text),
          'AND',
        )
      : await expandPrefix(reads, prefix.text);
  if (expression === null) return null;
  if (expression === '') return [];
  const last = (await first(reads.query(lastDoc)))?.doc ?? 0;
  const turns: Turn[] = [];
  let workedMs = 0;
  for (let to = last; to > 0; to -= WINDOW) {
    using _turn = await takeTurn();
    const beganAt = performance.now();
    turns.push(...(await reads.query(turnsMatching(expression, to - WINDOW, to, FEW + 1 - turns.length))));
    workedMs += performance.now() - beganAt;
    if (turns.length > FEW || workedMs > MAX_MS) return null;
  }
  return turns;
}

const quote = (terms: readonly string[], operator: 'AND' | 'OR') =>
  terms.map((term) => `"${term}"`).join(` ${operator} `);

/**
 * Returns an expression for all words with this prefix. Null if there are many. SQLite would put all entries that a
 * prefix has into memory.
 */
async function expandPrefix(reads: Reads, prefix: string): Promise<string | null> {
  const terms: string[] = [];
  for (let from = prefix; terms.length <= MAX_TERMS; ) {
    const term = (await first(reads.query(nextTerm(from))))?.term;
    if (term === undefined || !term.startsWith(prefix)) return quote(terms, 'OR');
    terms.push(term);
    // Between this word and the next one: words have no spaces.
    from = `${term} `;
  }
  return null;
}
