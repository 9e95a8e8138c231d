import type { TakeTurn } from '@runwire/lib/page-turns.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import type { ListPosition } from '../domain/list-cursor.ts';
import { occurringWords, type SoughtWords } from '../domain/search/words.ts';
import type { ChatFilter, ChatPage } from '../store/queries/chats.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import type { Page } from '../store/queries/page.ts';
import { type RunFilter, readsInOrder } from '../store/queries/runs.ts';
import {
  chatsOfTurns,
  foundRuns,
  type ListedChat,
  listedChats,
  turnsOutside,
  unindexedInChats,
  type WordsOfChat,
  wordsOfChats,
} from '../store/queries/search.ts';
import { searchState, type Turn, turnSizes } from '../store/queries/search-index.ts';
import { type BuildQuery, first, type Store } from '../store/store.ts';
import { type FewTurns, fewTurns } from './few-turns.ts';
import { nextPart, readTurnWords, turnRows } from './turn-words.ts';

/** A page's rows in the list's order, with one more row than the page shows if there are so many. */
export interface FoundPage<Id> {
  readonly ids: readonly Id[];
  /** The last row that was read, if the page ends early. Null after the list's last row. */
  readonly readTo: ListPosition | null;
}

type Runs = Omit<RunFilter, 'texts' | keyof Page | 'runIds'>;

/** A page reads at most about so many turns. A turn outside the index counts for several, and more if it is long. */
const MAX_READS = 20_000;
const UNREAD_COST = 10;
const WORDS_PER_READ = 20;
/** With more turns outside the index than this, the list is read in its own order. */
const MAX_OUTSIDE = 1000;
/** The first portion of listed runs, and the largest. */
const FIRST_PORTION = 100;
const MAX_PORTION = 800;
/** A portion of listed chats: chats, and their messages. */
const CHATS_TOGETHER = 100;
const MESSAGES_TOGETHER = 4000;
/** Turns outside the index whose sizes are read at a time. */
const SIZES_TOGETHER = 64;
/** Each word is compared with all words of a turn: so many bytes before other work gets a turn. About 20 ms on SQLite. */
const COMPARED_BYTES = 8 * 1024 * 1024;
/** So many of them count as one more turn. */
const COMPARED_PER_READ = 8 * 1024;

/**
 * Finds the rows of a list that have words. The list is read in its own order, with its filters, and each row is checked: against
 * the index, or against its texts if it is not in the index yet. If the index knows that few turns have the words, only these
 * turns are read, and the turns outside the index. So every page is bounded, and no row is missing.
 */
export class Search {
  readonly #store: Store;
  readonly #few: FewTurns;

  constructor(store: Store) {
    this.#store = store;
    this.#few = fewTurns(store);
  }

  async runs(takeTurn: TakeTurn, filter: Runs, words: SoughtWords, page: Page): Promise<FoundPage<RunId>> {
    const { integrationId, status, fromMs = 0 } = filter;
    const turns = await this.#candidates(takeTurn, integrationId, [words.slice(0, -1), words.slice(-1)]);
    const runIds = turns === null ? undefined : jsonRows(turns.map(({ run_id: id }) => ({ id })));
    // Most runs are completed: the list does not look for one among many others.
    const isChecked = readsInOrder(filter);
    const listed = { ...filter, runIds, status: isChecked ? undefined : status };
    const maxBytes = Math.floor(COMPARED_BYTES / words.length);
    const ids: RunId[] = [];
    let reads = 0;
    for (let [before, limit] = [page.before, FIRST_PORTION]; ; ) {
      const portion = foundRuns(this.#store.kind, { ...listed, before, limit }, words, maxBytes);
      const rows = await this.#inTurn(takeTurn, portion);
      const bytes = sumBytes(rows);
      const unread = rows.filter((row) => row.matches === null);
      const { matching, cost } = await this.#readTexts(takeTurn, unread, words);
      for (const row of rows) {
        if (row.created_at < fromMs) return { ids, readTo: null };
        if (isChecked && row.status !== status) continue;
        const flags = matching.get(row.run_id);
        if (row.matches === 1 || flags?.every(Boolean)) ids.push(row.run_id);
        if (ids.length === page.limit) return { ids, readTo: null };
      }
      const last = rows.at(-1);
      const isCut = bytes > maxBytes;
      if (last === undefined || (rows.length < limit && !isCut)) return { ids, readTo: null };
      before = { createdAt: last.created_at, id: last.run_id };
      reads += rows.length + cost + comparisonCost(bytes, words);
      if (reads >= MAX_READS) return { ids, readTo: before };
      if (isCut) limit = rows.length;
      else if (unread.length === 0) limit = Math.min(2 * limit, MAX_PORTION);
    }
  }

  /** A chat is found if all words occur in its turns, each in any turn. */
  async chats(
    takeTurn: TakeTurn,
    integrationId: IntegrationId,
    filter: ChatFilter,
    words: SoughtWords,
    page: ChatPage,
  ): Promise<FoundPage<ChatKey>> {
    const each = words.map((word) => [word]);
    const turns = await this.#candidates(takeTurn, integrationId, each);
    const chatKeys = turns === null ? undefined : await this.#chatsOf(takeTurn, turns);
    const ids: ChatKey[] = [];
    let reads = 0;
    for (let before = page.before; ; ) {
      const listed = { order: page.order, before, limit: CHATS_TOGETHER };
      const rows = await this.#inTurn(takeTurn, listedChats(integrationId, { ...filter, chatKeys }, listed));
      for (const portion of portions(rows)) {
        const { matching, cost } = await this.#checkChats(takeTurn, portion, words);
        reads += cost;
        for (const row of portion) {
          before = { createdAt: row.created_at, id: row.id };
          if (matching.get(row.id)?.every(Boolean)) ids.push(row.id);
          if (ids.length === page.limit) return { ids, readTo: null };
        }
        if (reads >= MAX_READS) return { ids, readTo: before };
      }
      if (rows.length < CHATS_TOGETHER) return { ids, readTo: null };
    }
  }

  async #inTurn<R>(takeTurn: TakeTurn, build: BuildQuery<R>): Promise<R[]> {
    using _turn = await takeTurn();
    return await this.#store.reads.query(build);
  }

  /**
   * Returns the turns that can have the words: turns with the words of one alternative, and turns outside the index. Null if
   * these are many, and until the loop has added what earlier versions made.
   */
  async #candidates(takeTurn: TakeTurn, integrationId: IntegrationId, alternatives: readonly SoughtWords[]) {
    const { reads } = this.#store;
    const state = await first(reads.all(searchState, {}));
    if (state === undefined || state.rest !== null) return null;
    // Before the index: a turn that is added in between is found there.
    const { position } = state;
    const outside = await reads.all(turnsOutside, { integrationId, position, limit: MAX_OUTSIDE + 1 });
    if (outside.length > MAX_OUTSIDE) return null;
    for (const words of alternatives) {
      const few = words.length === 0 ? null : await this.#few(takeTurn, words);
      if (few === null) continue;
      const chats = outside.filter((turn) => turn.run_id === '').map(({ chat_key: chat }) => ({ chat }));
      const ofChats = chats.length === 0 ? [] : await this.#inTurn(takeTurn, unindexedInChats(jsonRows(chats)));
      return [...few, ...outside.filter((turn): turn is Turn => turn.run_id !== ''), ...ofChats];
    }
    return null;
  }

  async #chatsOf(takeTurn: TakeTurn, turns: readonly Turn[]) {
    const pairs = jsonRows(turns.map(({ run_id: run, chat_key: chat }) => ({ run, chat })));
    return jsonRows((await this.#inTurn(takeTurn, chatsOfTurns(pairs))).map(({ chat_key: chat }) => ({ chat })));
  }

  /** Returns which words each chat has. */
  async #checkChats(takeTurn: TakeTurn, chats: readonly ListedChat[], words: SoughtWords) {
    const matching = new Map<ChatKey, boolean[]>();
    const unread = new Set<ChatKey>();
    let cost = chats.reduce((sum, { num_messages: count }) => sum + count, 0);
    for await (const row of this.#wordsOfChats(takeTurn, chats, words)) {
      const { chat_key: chatKey } = row;
      addFlags(
        matching,
        chatKey,
        words.map((_, index) => row[`w${index}`] === 1),
      );
      if (row.unread === 1) unread.add(chatKey);
      cost += comparisonCost(row.bytes, words);
    }
    const unsure = [...unread].filter((chatKey) => !matching.get(chatKey)?.every(Boolean)).map((chat) => ({ chat }));
    if (unsure.length === 0) return { matching, cost };
    const turns = await this.#inTurn(takeTurn, unindexedInChats(jsonRows(unsure)));
    const read = await this.#readTexts(takeTurn, turns, words);
    for (const { run_id: runId, chat_key: chatKey } of turns)
      addFlags(matching, chatKey, read.matching.get(runId) ?? []);
    cost += read.cost;
    return { matching, cost };
  }

  /** Reads the index for these chats' turns. A chat can have several rows. */
  async *#wordsOfChats(takeTurn: TakeTurn, chats: readonly ListedChat[], words: SoughtWords) {
    const maxBytes = Math.floor(COMPARED_BYTES / words.length);
    const most = Math.max(...chats.map(({ num_messages: count }) => count));
    for (let from = 1; from <= most; from += MESSAGES_TOGETHER) {
      let rest = chats.map(({ id: chat }) => ({ chat, from }));
      while (rest.length > 0) {
        const part = { chats: jsonRows(rest), before: from + MESSAGES_TOGETHER, maxBytes };
        const rows = await this.#inTurn(takeTurn, wordsOfChats(this.#store.kind, part, words));
        yield* rows;
        rest = sumBytes(rows) > maxBytes ? restAfter(rest, rows) : [];
      }
    }
  }

  /** Returns which words each turn has, by its texts. */
  async #readTexts(takeTurn: TakeTurn, turns: readonly Turn[], words: SoughtWords) {
    const matching = new Map<RunId, boolean[]>();
    let cost = 0;
    const { reads } = this.#store;
    for (let start = 0; start < turns.length; start += SIZES_TOGETHER) {
      const rows = turns.slice(start, start + SIZES_TOGETHER);
      const sizes = await reads.all(turnSizes, { turns: turnRows(rows) });
      let rest = rows.map((turn, index) => ({ ...turn, bytes: sizes[index]?.bytes ?? 0 }));
      while (rest.length > 0) {
        using _turn = await takeTurn();
        const part = nextPart(rest);
        rest = rest.slice(part.length);
        for (const { run_id: runId, words: found, count } of await readTurnWords(reads, turnRows(part))) {
          matching.set(runId, occurringWords(words, found));
          cost += UNREAD_COST + Math.floor(count / WORDS_PER_READ);
        }
      }
    }
    return { matching, cost };
  }
}

function addFlags<Key>(flags: Map<Key, boolean[]>, key: Key, more: readonly boolean[]): void {
  const known = flags.get(key);
  flags.set(key, known === undefined ? [...more] : known.map((flag, index) => flag || more[index] === true));
}

const sumBytes = (rows: readonly { readonly bytes: number }[]): number =>
  rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);

const comparisonCost = (bytes: number, words: SoughtWords): number =>
  Math.floor((Number(bytes) * words.length) / COMPARED_PER_READ);

/** What follows the last turn that was read. */
function restAfter(parts: readonly { readonly chat: ChatKey; readonly from: number }[], rows: readonly WordsOfChat[]) {
  const readTo = new Map(rows.map((row) => [row.chat_key, row.read_to]));
  const last = parts.findLastIndex(({ chat }) => readTo.has(chat));
  return parts.slice(last).map(({ chat, from }) => ({ chat, from: (readTo.get(chat) ?? from - 1) + 1 }));
}

/** Chats that are checked together. A long chat is alone. */
function portions(chats: readonly ListedChat[]): ListedChat[][] {
  const found: ListedChat[][] = [];
  let messages = Number.POSITIVE_INFINITY;
  for (const chat of chats) {
    messages += chat.num_messages;
    if (messages > MESSAGES_TOGETHER) {
      found.push([]);
      messages = chat.num_messages;
    }
    found.at(-1)?.push(chat);
  }
  return found;
}
