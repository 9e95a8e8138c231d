import type { Generated } from 'kysely';
import type { ChatKey, RunId } from '../domain/ids.ts';

/** A turn's words, from its message, its answer, its tools' names and its error. Forks share the row. */
export interface SearchDocsTable {
  /** SQLite only: the row's number in the full-text index. */
  doc: Generated<number>;
  /** A run, or an imported turn. */
  run_id: RunId;
  /** The chat in which the run was made. */
  chat_key: ChatKey;
  /** On PostgreSQL a `tsvector`, otherwise all words with spaces around each. */
  words: string;
}

/** How far the index is. It has one row, which the loop inserts. */
export interface SearchStateTable {
  id: number;
  /** Runs up to this id that have no row in `search_docs` are in `search_waiting`, or belong to a deleted chat. */
  position: string;
  /** Chats from this key on were visited, newest first. Null if all were: then runs that earlier versions made have their rows too. */
  rest: string | null;
}

/** Turns that the loop adds later. */
export interface SearchWaitingTable {
  chat_key: ChatKey;
  /** A run that was active when the position passed it. Empty: all turns in the chat. */
  run_id: RunId | '';
  /** Not before this time. */
  due_at: number;
}
