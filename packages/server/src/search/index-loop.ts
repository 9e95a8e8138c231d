import { setTimeout as pause } from 'node:timers/promises';
import { WakeableLoop } from '@runwire/lib/wakeable-loop.ts';
import { type ChatKey, firstRunId } from '../domain/ids.ts';
import { type JsonRows, jsonRows } from '../store/queries/file-batches.ts';
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
  type SizedTurn,
  searchState,
  unindexedTurns,
  type WaitingRow,
  waitForChat,
  waitForOthers,
  waitForRuns,
} from '../store/queries/search-index.ts';
import { first, type Reads, type Store, type StoreKind, type Tx } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';
import { nextPart, readTurnWords, turnRows } from './turn-words.ts';

export interface IndexLoopDeps {
  readonly store: Store;
  readonly periodMs: number;
  readonly logger: Logger;
}

/** Turns and chats that are read at a time. */
const TURNS = 128;
const CHATS = 64;
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

  /**
   * Adds everything that has ended by now. What ends during the last transaction waits for the next period: a server under load
   * would otherwise add few runs at a time, and write a row of `search_waiting` for each of them.
   */
  async #look(): Promise<void> {
    let isDone = false;
    while (!isDone && !this.#loop.isClosed) {
      const state = await first(this.#store.reads.all(searchState, {}));
      if (state === undefined) await this.#begin();
      else isDone = (await this.#addNew(state)) && (await this.#walk(state));
    }
  }

  async #begin(): Promise<void> {
    await this.#store.transact('search', async (tx) => {
      await tx.run(beginSearchState, { position: await settledPosition(this.#store.kind, tx) });
    });
  }

  /** Resolves to false if some are left to another transaction. */
  async #addNew(state: State): Promise<boolean> {
    const found = await findNew(this.#store.reads, state.position, 1);
    if (found.ended.length + found.waiting.length + found.late.length === 0) return true;
    return this.#transact(addNew);
  }

  /** Adds turns that earlier versions made. Resolves to true after the last chat. */
  async #walk({ rest }: State): Promise<boolean> {
    if (rest === null) return true;
    const beganAt = performance.now();
    await this.#transact(walkOn);
    await pause(Math.min(WALK_PAUSE * (performance.now() - beganAt), this.#periodMs));
    return false;
  }

  /** Does nothing if another node is adding turns. Resolves to true if nothing is left for this node. */
  #transact(work: (adding: Adding) => Promise<boolean>): Promise<boolean> {
    const { kind } = this.#store;
    return this.#store.transact('search', async (tx) => {
      const isMine = kind === 'sqlite' || (await tx.all(lockSearchState, {})).length > 0;
      const endAt = performance.now() + WORK_MS;
      return isMine ? work({ tx, kind, isOver: () => performance.now() >= endAt }) : true;
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

async function findNew(reads: Reads, position: string, limit: number) {
  const [ended, waiting, late] = await Promise.all([
    reads.all(endedAfter, { position, limit }),
    reads.all(dueWaiting, { now: Date.now(), limit }),
    reads.all(lateRuns, { position, limit }),
  ]);
  return { ended, waiting, late };
}

async function addNew(adding: Adding): Promise<boolean> {
  const { tx, kind } = adding;
  const state = await first(tx.all(searchState, {}));
  if (state === undefined) return true;
  const settled = await settledPosition(kind, tx);
  const { ended, waiting, late } = await findNew(tx, state.position, TURNS);
  if (late.length > 0) await tx.run(waitForRuns, { turns: turnRows(late) });
  const waited = waiting.filter((row): row is SizedTurn => row.run_id !== '');
  // Together, because every statement costs: under load, each period leaves some active runs to the next one.
  const handled = await addRuns(adding, [...waited, ...ended]);
  const ofWaited = waited.slice(0, handled);
  if (ofWaited.length > 0) await tx.run(endWaiting, { turns: turnRows(ofWaited) });
  const ofEnded = handled - ofWaited.length;
  const isWhole = ofEnded === ended.length && ofEnded < TURNS;
  const last = isWhole ? settled : (ended[ofEnded - 1]?.run_id ?? '');
  const position = last < settled ? last : settled;
  if (position > state.position) {
    await tx.run(waitForOthers, { from: state.position, to: position });
    await tx.run(moveSearchPosition, { position });
  }
  const isAdded = await addWaitingChats(adding, waiting);
  return isAdded && isWhole && ofWaited.length === waited.length && waiting.length < TURNS && late.length < TURNS;
}

/** Resolves to false if some are left to another transaction. */
async function addWaitingChats(adding: Adding, waiting: readonly WaitingRow[]): Promise<boolean> {
  let isWhole = true;
  const chats = waiting.filter((row) => row.run_id === '');
  for (const [index, chat] of chats.entries()) {
    // The first one always: the search for new runs can take all the time.
    const isAdded = (index === 0 || !adding.isOver()) && (await addChats(adding, [chat.chat_key]));
    if (isAdded) await adding.tx.run(endWaiting, { turns: turnRows([chat]) });
    else isWhole = false;
  }
  return isWhole;
}

/** Resolves to true after the last chat. */
async function walkOn(adding: Adding): Promise<boolean> {
  const { tx } = adding;
  const rest = (await first(tx.all(searchState, {})))?.rest ?? null;
  if (rest === null) return true;
  const chats = (await tx.all(chatsToVisit, { rest, limit: CHATS })).map(({ chat_key: chatKey }) => chatKey);
  const last = chats.at(-1) ?? null;
  if (await addChats(adding, chats)) await tx.run(moveSearchRest, { rest: last });
  return last === null;
}

/** Adds runs' turns, see `addTurns`. A request can bring its chat's first turns: then the whole chat waits. */
function addRuns(adding: Adding, runs: readonly SizedTurn[]): Promise<number> {
  const { tx } = adding;
  return addTurns(adding, runs, async (turns) => {
    for (const { chat_key: chatKey } of await tx.all(importedChats, { turns }))
      await tx.run(waitForChat, { chatKey, dueAt: 0 });
  });
}

/** Adds these chats' turns. Resolves to false if some are left. */
async function addChats(adding: Adding, chats: readonly ChatKey[]): Promise<boolean> {
  const keys = jsonRows(chats.map((chat) => ({ chat })));
  const turns = await adding.tx.all(unindexedTurns, { keys, limit: TURNS });
  const handled = await addTurns(adding, turns);
  return handled === turns.length && handled < TURNS;
}

/** Adds turns to the index. Resolves to how many it has looked at, at least some. The others are left to a later transaction. */
async function addTurns(
  { tx, kind, isOver }: Adding,
  turns: readonly SizedTurn[],
  afterPart?: (turns: JsonRows) => Promise<void>,
): Promise<number> {
  let handled = 0;
  while (handled < turns.length && (handled === 0 || !isOver())) {
    const part = nextPart(handled === 0 ? turns : turns.slice(handled));
    const rows = turnRows(part);
    await tx.all(keepChats, { turns: rows });
    const found = await readTurnWords(tx, rows);
    const docs = found.map(({ run_id: run, chat_key: chat, words }) => ({ run, chat, words }));
    if (docs.length > 0) await tx.run(INSERT_DOCS[kind], { docs: jsonRows(docs) });
    await afterPart?.(rows);
    handled += part.length;
  }
  return handled;
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
