import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import { SCOPE_CHARACTERS, type SoughtWords } from '../domain/search/words.ts';
import { lastDoc, nextTerm, turnsMatching, turnsWith } from '../store/queries/search.ts';
import type { Turn } from '../store/queries/search-index.ts';
import { first, type Reads, type Store } from '../store/store.ts';

/** With more turns than this, a list is read in its own order: then it soon has a page of them. */
const FEW = 2000;
/**
 * SQLite looks for several words together by reading all their entries: 0.1 s of CPU in an index with this many rows. In a larger
 * one it looks for each word alone, until it has found too many.
 */
const MAX_TOGETHER = 1_000_000;
/** A prefix with more words than this is too general for the index. */
const MAX_TERMS = 64;
/** The shortest prefix for which PostgreSQL reads the index. Shorter ones can have millions of entries. */
const MIN_PREFIX = 3;

/**
 * Returns indexed turns that include all turns with all these words, which are whole words or one prefix. Null if there are
 * many.
 */
export type FewTurns = (takeTurn: TakeTurn, words: SoughtWords) => Promise<readonly Turn[] | null>;

export const fewTurns = ({ kind, reads }: Store): FewTurns =>
  kind === 'postgres'
    ? (takeTurn, words) => fewInPostgres(reads, takeTurn, words)
    : (takeTurn, words) => fewInSqlite(reads, takeTurn, words);

const unlessMany = (turns: readonly Turn[]) => (turns.length > FEW ? null : turns);

async function fewInPostgres(reads: Reads, takeTurn: TakeTurn, words: SoughtWords) {
  if (words.some(({ text, isPrefix }) => isPrefix && text.length < SCOPE_CHARACTERS + MIN_PREFIX && isAscii(text)))
    return null;
  using _turn = await takeTurn();
  return unlessMany(await reads.query(turnsWith(words, FEW + 1)));
}

/** A Chinese character is a whole word. */
const isAscii = (text: string): boolean => /^[a-z0-9]*$/.test(text);

async function fewInSqlite(reads: Reads, takeTurn: TakeTurn, words: SoughtWords) {
  const [prefix] = words.filter(({ isPrefix }) => isPrefix);
  const expressions =
    prefix === undefined
      ? await expressWords(
          reads,
          words.map(({ text }) => text),
        )
      : await expandPrefix(reads, prefix.text);
  for (const expression of expressions) {
    using _turn = await takeTurn();
    const turns = unlessMany(await reads.query(turnsMatching(expression, FEW + 1)));
    if (turns !== null) return turns;
  }
  return null;
}

const quote = (terms: readonly string[], operator: 'AND' | 'OR') =>
  terms.map((term) => `"${term}"`).join(` ${operator} `);

async function expressWords(reads: Reads, words: readonly string[]): Promise<string[]> {
  const last = (await first(reads.query(lastDoc)))?.doc ?? 0;
  return last <= MAX_TOGETHER ? [quote(words, 'AND')] : words.map((word) => quote([word], 'AND'));
}

/**
 * Returns an expression for all words with this prefix, and none if there are many. SQLite would put all entries that a prefix has
 * into memory.
 */
async function expandPrefix(reads: Reads, prefix: string): Promise<string[]> {
  const terms: string[] = [];
  for (let from = prefix; terms.length <= MAX_TERMS; ) {
    const term = (await first(reads.query(nextTerm(from))))?.term;
    // An expression must have a word. No turn has the prefix itself.
    if (term === undefined || !term.startsWith(prefix)) return [quote(terms.length === 0 ? [prefix] : terms, 'OR')];
    terms.push(term);
    // Between this word and the next one: words have no spaces.
    from = `${term} `;
  }
  return [];
}
