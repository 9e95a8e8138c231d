import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { occurringWords, type SoughtWords } from '../domain/search/words.ts';
import type { ChatFilter, ChatOrder } from '../store/queries/chats.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import type { Page } from '../store/queries/page.ts';
import { type RunFilter, readsInOrder } from '../store/queries/runs.ts';
import {
  chatsOfTurns,
  type FoundRun,
  foundRuns,
  type ListedChat,
  listedChats,
  type Positions,
  turnsOutside,
  turnsOutsideOf,
  wordsOfChats,
} from '../store/queries/search.ts';
import { searchState, type Turn } from '../store/queries/search-index.ts';
import { first, type Store } from '../store/store.ts';
import { type FewTurns, fewTurns } from './few-turns.ts';
import { readTurnWords } from './turn-words.ts';

/** A page's rows in the order of the list, with one more row than the page shows if there are so many. */
export interface Found<Id> {
  readonly ids: readonly Id[];
  /** Where the next page continues if the page ends early. Null after the last row. */
  readonly readTo: ListPosition | null;
}

type Runs = Omit<RunFilter, 'texts' | keyof Page | 'runIds'>;

/** A page reads at most so many turns, and of those that are not in the index a tenth. */
const MAX_READS = 20_000;
const UNREAD_COST = 10;
/** With more turns outside the index than this, the list is read in its own order. */
const MAX_OUTSIDE = 1000;
/** The first portion of a list, and the largest. */
const FIRST_PORTION = 100;
const MAX_PORTION = 800;
/** Turns of chats that are read in one portion. */
const TURNS_TOGETHER = 2000;
const CHATS_TOGETHER = 100;
/** Turns whose texts are read together. */
const TEXTS_TOGETHER = 50;

/**
 * Finds the rows of a list that have words. A list is read in its own order, with its filters, and each row is checked: against the
 * index, or against its texts if it is not in the index yet. If the index knows that few turns have the words, only these are
 * read, and those that it does not have yet. So every page is bounded, and no row is missing.
 */
export class Search {
  readonly #store: Store;
  readonly #few: FewTurns;

  constructor(store: Store) {
    this.#store = store;
    this.#few = fewTurns(store);
  }

  async runs(takeTurn: TakeTurn, filter: Runs, words: SoughtWords, page: Page): Promise<Found<RunId>> {
    const turns = await this.#candidates(takeTurn, filter.integrationId, words, [words]);
    const runIds = turns === null ? undefined : jsonRows(turns.map(({ run_id: id }) => ({ id })));
    // Most runs are completed: the list does not look for one among many others.
    const isChecked = readsInOrder(filter);
    const listed = { ...filter, runIds, ...(isChecked ? { status: undefined } : {}) };
    const found: RunId[] = [];
    let reads = 0;
    for (let [before, limit] = [page.before, FIRST_PORTION]; ; limit = Math.min(2 * limit, MAX_PORTION)) {
      using _turn = await takeTurn();
      const rows = await this.#store.reads.query(foundRuns(this.#store.kind, { ...listed, before, limit }, words));
      const unread = rows.filter((row) => row.matches === null);
      const matching = await this.#matching(unread, words);
      for (const row of rows) {
        if (row.created_at < (filter.fromMs ?? 0)) return { ids: found, readTo: null };
        if (isChecked && row.status !== filter.status) continue;
        if (row.matches === 1 || matching.has(row.run_id)) found.push(row.run_id);
        if (found.length === page.limit) return { ids: found, readTo: null };
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < limit) return { ids: found, readTo: null };
      before = { createdAt: last.created_at, id: last.run_id };
      reads += rows.length + UNREAD_COST * unread.length;
      if (reads >= MAX_READS) return { ids: found, readTo: before };
    }
  }

  /** A chat is found if all words occur in it, in any of its turns. */
  async chats(
    takeTurn: TakeTurn,
    integrationId: IntegrationId,
    filter: ChatFilter,
    words: SoughtWords,
    { order, ...page }: Page & { readonly order: ChatOrder },
  ): Promise<Found<ChatKey>> {
    const each = words.map((word) => [word]);
    const turns = await this.#candidates(takeTurn, integrationId, words, each);
    const chatKeys = turns === null ? undefined : await this.#chatsOf(turns);
    const found: ChatKey[] = [];
    let reads = 0;
    for (let before = page.before; ; ) {
      using _turn = await takeTurn();
      const listed = { ...page, before, order, limit: CHATS_TOGETHER };
      const rows = await this.#store.reads.query(listedChats(integrationId, { ...filter, chatKeys }, listed));
      for (const portion of portions(rows)) {
        const matching = await this.#matchingChats(takeTurn, portion, words);
        for (const row of portion) {
          if (matching.has(row.id)) found.push(row.id);
          if (found.length === page.limit) return { ids: found, readTo: null };
          reads += row.num_messages;
          before = { createdAt: row.created_at, id: row.id };
        }
        if (reads >= MAX_READS) return { ids: found, readTo: before };
      }
      if (rows.length < CHATS_TOGETHER) return { ids: found, readTo: null };
    }
  }
}
