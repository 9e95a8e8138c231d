import { LruCache } from '@runwire/lib/lru-cache.ts';
import type { ChatKey, IntegrationId, RunId } from '../domain/ids.ts';
import type { ShownMessage } from '../domain/run/guardrail-record.ts';
import type { MeasuredTurn } from './fit-window.ts';
import type { HistoryItem, StoredTurn } from './heal-history.ts';
import type { ChatSummary } from './summary.ts';

/** A finished turn as the prompts of later turns need it. Nothing of it changes, except its attachments. */
export interface EarlierTurn extends MeasuredTurn {
  /** Its first message's position in the chat. */
  readonly position: number;
  /** Its last message's position. */
  readonly lastPosition: number;
  /** The turn's last run: a chain of runs is one turn. */
  readonly lastRunId: string;
  /** Healed as if it were the only turn. */
  readonly items: readonly HistoryItem[];
  /** The calls' ids in `items`. */
  readonly callIds: readonly string[];
  /** To heal the turn again if a turn before it has a call with one of these ids. Null if it has no calls. */
  readonly stored: StoredTurn | null;
  /** A turn's runs with attachments, whose rows are read again each time; otherwise null. */
  readonly attached: readonly StoredRun[] | null;
  /** An estimate of the memory that the turn needs. */
  readonly memoryBytes: number;
}

/** A run of the chat, without its attachments. */
export interface StoredRun extends Omit<StoredTurn, 'later' | 'attachments' | 'hidesEmpty'> {
  readonly runId: RunId;
  readonly position: number;
  /** The run whose questions this one settled, or null. */
  readonly continues: RunId | null;
  readonly failed: boolean;
  /** See `GuardrailRecord.shown`. */
  readonly shown?: ShownMessage | undefined;
  readonly hasAttachments: boolean;
  readonly memoryBytes: number;
}

/** The newest turns of a chat up to a position, whole and in order. */
export interface ChatTurns {
  readonly turns: readonly EarlierTurn[];
  /** The position of the first message of `turns`, and the position after the last one. */
  readonly from: number;
  readonly before: number;
  /** The bytes of all texts of the chat before `before`. */
  readonly textBytes: number;
  /** The summary that was read last. Null if none was. */
  readonly summary: ChatSummary | null;
}

interface ChatEntry extends ChatTurns {
  readonly integrationId: IntegrationId;
  readonly memoryBytes: number;
  readonly usedAt: number;
}

const MAX_CHATS = 1000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHAT_BYTES = MAX_BYTES / 16;
/** Texts that another node has deleted leave this node's memory after this time. */
const MAX_IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;
const ENTRY_BYTES = 512;

/**
 * The turns of the chats that this node answered last, so that a turn reads only what was added to its chat. Messages are
 * never changed: a chat grows until all its messages are deleted together. So an entry is always the chat's beginning,
 * and the reader compares its length with that of the chat.
 */
export class TurnMemory implements Disposable {
  readonly #chats = new LruCache<string, ChatEntry>(MAX_CHATS, {
    max: MAX_BYTES,
    maxValue: MAX_CHAT_BYTES,
    weigh: ({ memoryBytes }) => memoryBytes,
  });
  readonly #sweep: NodeJS.Timeout;

  constructor() {
    this.#sweep = setInterval(() => this.forgetIdle(performance.now()), SWEEP_MS);
    this.#sweep.unref();
  }

  get(chatKey: ChatKey): ChatTurns | undefined {
    return this.#chats.get(chatKey);
  }

  set(integrationId: IntegrationId, chatKey: ChatKey, chat: ChatTurns): void {
    let memoryBytes = ENTRY_BYTES + 2 * Buffer.byteLength(chat.summary?.text ?? '');
    for (const turn of chat.turns) memoryBytes += turn.memoryBytes;
    this.#chats.set(chatKey, { ...chat, integrationId, memoryBytes, usedAt: performance.now() });
  }

  /** Call it when the chat is deleted. */
  delete(chatKey: ChatKey): void {
    this.#chats.delete(chatKey);
  }

  /** Call it when the integration is deleted. */
  deleteIntegration(integrationId: IntegrationId): void {
    this.#chats.deleteIf((chat) => chat.integrationId === integrationId);
  }

  forgetIdle(now: number): void {
    this.#chats.deleteOldest(({ usedAt }) => usedAt < now - MAX_IDLE_MS);
  }

  get size(): number {
    return this.#chats.size;
  }

  get memoryBytes(): number {
    return this.#chats.weight;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#sweep);
    this.#chats.clear();
  }
}
