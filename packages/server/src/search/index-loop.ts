import { setTimeout as pause } from 'node:timers/promises';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import { type ChatKey, firstRunId } from '../domain/ids.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import {
  beginSearchState,
  chatsToVisit,
  dueWaiting,
  endedAfter,
  endWaiting,
  INSERT_DOCS,
  importedChats,
  keepChats,
  lateRuns,
  lockSearchState,
  moveSearchPosition,
  moveSearchRest,
  oldestBeat,
  searchState,
  type Turn,
  unindexedTurns,
  type WaitingRow,
  waitForChat,
  waitForOthers,
  waitForRun,
} from '../store/queries/search-index.ts';
import { first, type Reads, type Store, type StoreKind, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { readTurnWords } from './turn-words.ts';

export interface IndexLoopDeps {
  readonly store: Store;
  readonly periodMs: number;
  readonly logger: Logger;
}

/** Turns and chats that are read at a time. */
const TURNS = 64;
const CHATS = 64;
/** Turns that are read and added together. A turn has at most a few thousand words. */
const TOGETHER = 16;
/** A transaction adds no more turns after this time: on the embedded store nothing else happens then. */
const WORK_MS = 10;
/** The walk rests four times as long as it works. */
const WALK_PAUSE = 4;
/** A run's id is made in the transaction that admits it. On PostgreSQL that one can take so long. */
const ADMISSION_MS = 15_000;

interface State {
  readonly position: string;
  readonly rest: string | null;
}

/**
 * Adds ended runs' words to the index. No run's transaction writes anything for it: run ids are made in the order of admission,
 * and the loop stores a position among them.
 *
 *   new run ──(ended)──────────────────────────────▶ in `search_docs`
 *      └──(active when the position passes it)──▶ in `search_waiting` ──(ended)──▶ in `search_docs`
 *
 * Turns that earlier versions made are added by a walk over all chats, newest first. Every node has the loop. One at a time adds
 * something, so no work is done twice.
 */
export class IndexLoop implements AsyncDisposable {
  readonly #store: Store;
  readonly #periodMs: number;
  readonly #loop: WakeableLoop;

  constructor({ store, periodMs, logger }: IndexLoopDeps) {
    this.#store = store;
    this.#periodMs = periodMs;
    this.#loop = new WakeableLoop(
      periodMs,
      () => this.#look(),
      (error) => logger.warn({ err: error }, 'words could not be added to the index; retrying'),
    );
  }

  start(): void {
    this.#loop.start();
    this.#loop.wake();
  }

  /** Adds everything that can be added now. */
  async #look(): Promise<void> {
    while (!this.#loop.isClosed) {
      const state = await first(this.#store.reads.all(searchState, {}));
      if (state === undefined) await this.#begin();
      else if ((await this.#addNew(state)) === 0 && !(await this.#walk(state))) return;
    }
  }

  async #begin(): Promise<void> {
    await this.#store.transact('search', async (tx) => {
      await tx.run(beginSearchState, { position: await settledPosition(this.#store.kind, tx) });
    });
  }

  /** Resolves to the number of turns that were added. */
  async #addNew(state: State): Promise<number> {
    const found = await findNew(this.#store.reads, state.position);
    if (found.ended.length + found.waiting.length + found.late.length === 0) return 0;
    return this.#transact(addNew);
  }

  /** Adds turns that earlier versions made. Resolves to false after the last chat. */
  async #walk({ rest }: State): Promise<boolean> {
    if (rest === null) return false;
    const beganAt = performance.now();
    await this.#transact(walkOn);
    await pause(Math.min(WALK_PAUSE * (performance.now() - beganAt), this.#periodMs));
    return true;
  }

  /** Does nothing if another node is adding turns. */
  #transact(work: (adding: Adding) => Promise<number>): Promise<number> {
    const { kind } = this.#store;
    return this.#store.transact('search', async (tx) => {
      const isMine = kind === 'sqlite' || (await tx.all(lockSearchState, {})).length > 0;
      const endAt = performance.now() + WORK_MS;
      return isMine ? work({ tx, kind, isOver: () => performance.now() >= endAt }) : 0;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}

/** A transaction that adds turns. */
interface Adding {
  readonly tx: Tx;
  readonly kind: StoreKind;
  /** True if it has worked long enough. */
  readonly isOver: () => boolean;
}

async function findNew(reads: Reads, position: string) {
  const [ended, waiting, late] = await Promise.all([
    reads.all(endedAfter, { position, limit: TURNS }),
    reads.all(dueWaiting, { now: Date.now(), limit: TURNS }),
    reads.all(lateRuns, { position, limit: TURNS }),
  ]);
  return { ended, waiting, late };
}

async function addNew(adding: Adding): Promise<number> {
  const { tx, kind } = adding;
  const state = await first(tx.all(searchState, {}));
  if (state === undefined) return 0;
  const settled = await settledPosition(kind, tx);
  const { ended, waiting, late } = await findNew(tx, state.position);
  for (const { run_id: runId, chat_key: chatKey } of late) await tx.run(waitForRun, { runId, chatKey });
  const { handled, added } = await addTurns(adding, ended);
  // A request can bring its chat's first turns.
  const keys = toKeys(ended.slice(0, handled).map(({ chat_key: chatKey }) => chatKey));
  for (const { chat_key: chatKey } of await tx.all(importedChats, { keys }))
    await tx.run(waitForChat, { chatKey, dueAt: 0 });
  const isWhole = handled === ended.length && handled < TURNS;
  const last = isWhole ? settled : (ended[handled - 1]?.run_id ?? '');
  const position = last < settled ? last : settled;
  if (position > state.position) {
    await tx.run(waitForOthers, { from: state.position, to: position });
    await tx.run(moveSearchPosition, { position });
  }
  return added + (await addWaiting(adding, waiting));
}

async function addWaiting(adding: Adding, waiting: readonly WaitingRow[]): Promise<number> {
  const { tx } = adding;
  const runs = waiting.filter((row): row is Turn => row.run_id !== '');
  const { handled, added } = await addTurns(adding, runs);
  for (const { run_id: runId, chat_key: chatKey } of runs.slice(0, handled))
    await tx.run(endWaiting, { runId, chatKey });
  let sum = added;
  for (const { chat_key: chatKey } of waiting.filter((row) => row.run_id === '')) {
    if (adding.isOver()) break;
    const chat = await addChats(adding, [chatKey]);
    sum += chat.added;
    if (chat.isWhole) await tx.run(endWaiting, { runId: '', chatKey });
  }
  return sum;
}

async function walkOn(adding: Adding): Promise<number> {
  const { tx } = adding;
  const rest = (await first(tx.all(searchState, {})))?.rest ?? null;
  if (rest === null) return 0;
  const chats = (await tx.all(chatsToVisit, { rest, limit: CHATS })).map(({ chat_key: chatKey }) => chatKey);
  const last = chats.at(-1) ?? null;
  const { isWhole, added } = await addChats(adding, chats);
  if (isWhole) await tx.run(moveSearchRest, { rest: last });
  return added;
}

/** Adds these chats' turns. `isWhole` is true if none is left. */
async function addChats(adding: Adding, chats: readonly ChatKey[]) {
  const turns = await adding.tx.all(unindexedTurns, { keys: toKeys(chats), limit: TURNS });
  const { handled, added } = await addTurns(adding, turns);
  return { added, isWhole: handled === turns.length && handled < TURNS };
}

const toKeys = (chats: readonly ChatKey[]) => jsonRows([...new Set(chats)].map((chat) => ({ chat })));

/**
 * Adds turns to the index. `handled`: how many, at least some. The others are left to a later transaction. `added` is less if a
 * chat was deleted concurrently.
 */
async function addTurns({ tx, kind, isOver }: Adding, turns: readonly Turn[]) {
  let [handled, added] = [0, 0];
  while (handled < turns.length && !(handled > 0 && isOver())) {
    const part = turns.slice(handled, handled + TOGETHER);
    const keys = toKeys(part.map(({ chat_key: chatKey }) => chatKey));
    await tx.all(keepChats, { keys });
    const docs = (await readTurnWords(tx, part)).map(({ turn, words }) => ({
      run: turn.run_id,
      chat: turn.chat_key,
      words: [...words].join(' '),
    }));
    if (docs.length > 0) await tx.run(INSERT_DOCS[kind], { docs: jsonRows(docs) });
    handled += part.length;
    added += docs.length;
  }
  return { handled, added };
}

/**
 * Before every run id that a transaction which is not committed yet can make. On the embedded store transactions commit in the
 * order in which they were handed in.
 */
async function settledPosition(kind: StoreKind, reads: Reads): Promise<string> {
  if (kind === 'sqlite') return firstRunId(Date.now());
  const beat = await first(reads.all(oldestBeat, {}));
  return firstRunId(Math.min(Date.now(), beat?.seen_at ?? Number.POSITIVE_INFINITY) - ADMISSION_MS);
}
