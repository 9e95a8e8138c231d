import { promptBytes } from '@runwire/models';
import type { RunId } from '../domain/ids.ts';
import { BYTES_A_TOKEN, estimateTokens } from '../domain/model/usage.ts';
import type { StoredSummary } from '../domain/run/step.ts';
import type { MeasuredTurn } from './fit-window.ts';
import type { HistoryItem } from './heal-history.ts';

/** A summary as prompts show it. */
export interface ChatSummary extends StoredSummary {
  /** The run that made it. */
  readonly runId: RunId;
  /** The first item of the prompt. Later prompts have the same object. */
  readonly item: HistoryItem;
  readonly tokens: number;
}

const BEGIN = 'The beginning of this conversation is too long to show. This is its summary:\n\n';

export function toSummary(runId: RunId, stored: StoredSummary): ChatSummary {
  const item = { kind: 'user' as const, text: BEGIN + stored.text };
  return { ...stored, runId, item, tokens: estimateTokens(promptBytes('', [item])) };
}

/** A longer summary is cut off, also if the window has room for it. */
const MOST_TOKENS = 4000;
/** With less room, a summary would be too short to be worth a call. */
const LEAST_ROOM_TOKENS = 400;

/** The tokens that a summary may have in a prompt. `roomTokens` is the room for summary and turns together. */
export const mostSummaryTokens = (roomTokens: number): number => Math.min(MOST_TOKENS, Math.floor(roomTokens / 8));

/** The bytes that a model may write. */
export const mostSummaryBytes = (roomTokens: number): number =>
  mostSummaryTokens(roomTokens) * BYTES_A_TOKEN - Buffer.byteLength(BEGIN);

/**
 * Returns how many of these turns, oldest first, a new summary adds to the one before; null if none is needed. It is 0 if only
 * the summary before is too long, because another model wrote it for a larger window.
 *
 * The turns that stay use, together with the summary, at most half of the room. So about half of the room fills up with new
 * turns before the next summary, and until then each prompt begins with the bytes of the one before. The newest turn stays
 * whole if it fits at all.
 */
export function turnsToSummarize(
  turns: readonly MeasuredTurn[],
  summary: ChatSummary | null,
  roomTokens: number,
): number | null {
  if (roomTokens < LEAST_ROOM_TOKENS) return null;
  const all = turns.reduce((sum, { tokens }) => sum + tokens, summary?.tokens ?? 0);
  if (all <= roomTokens) return null;
  const most = mostSummaryTokens(roomTokens);
  const target = Math.floor(roomTokens / 2) - most;
  let kept = 0;
  let tokens = 0;
  for (; kept < turns.length; kept += 1) {
    tokens += turns.at(-1 - kept)?.tokens ?? 0;
    const isNewest = kept === 0 && tokens <= roomTokens - most;
    if (tokens > target && !isNewest) break;
  }
  return turns.length - kept;
}
