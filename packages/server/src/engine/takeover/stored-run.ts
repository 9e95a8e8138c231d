import { estimatedUsage } from '../../agent/progress.ts';
import { historyBudget } from '../../chats/fit-window.ts';
import { attemptBase, type OutputItem, type RunEvent, type RunItem } from '../../domain/events.ts';
import { modelWindow } from '../../domain/model-window.ts';
import {
  addModelUsage,
  addUsage,
  BYTES_A_TOKEN,
  estimateTokens,
  type ModelUsage,
  type Usage,
} from '../../domain/usage.ts';
import type { StepRow } from '../../store/queries/runs.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';

/**
 * The last event that the run's next attempt goes on behind: the last one of a journalled step, or the one that opened
 * the attempt which died (`meta`, `resumed`).
 */
export function lastKeptId(attempt: number, journal: readonly StepRow[]): number {
  return Math.max(attemptBase(attempt) + 1, ...journal.map((row) => row.last_event_id));
}

/** What was said and done up to the last stored event, put together from its deltas. */
export function foldItems(events: readonly RunEvent[]): RunItem[] {
  const items: RunItem[] = [];
  const open = new Map<string, OutputItem>();
  for (const event of events) {
    if (event.type === 'item_added') {
      const item: OutputItem = { ...event.item, text: '', complete: false };
      open.set(item.id, item);
      items.push(item);
    } else if (event.type === 'delta') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.text += event.text;
    } else if (event.type === 'item_done') {
      const item = open.get(event.item.id);
      if (item !== undefined) item.complete = true;
    } else if (event.type === 'run_item' && event.item.kind === 'tool_output') items.push(event.item);
  }
  return items;
}

export interface Spent {
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
}

/** What the model was shown besides the chat's earlier turns, and how many tokens it takes where its window is not known. */
export interface PromptParts {
  readonly instructions: string;
  /** The run's own. */
  readonly message: string;
  /** It as the model is shown it. */
  readonly shown: string;
  readonly windowTokens: number;
}

/**
 * What a run has used up to its last stored event: the row's own sum, and of the call of the model that was under way
 * behind `keptId` what the provider reported, "else an estimate from the text". A call of which nothing was stored yet,
 * at most a tenth of a second old, is not known of. Turns that the model's window had no room for are not in the estimate.
 */
export function spentSoFar(
  run: UnfinishedRun,
  { instructions, message, shown: own, windowTokens }: PromptParts,
  stored: readonly RunEvent[],
  keptId: number,
): Spent {
  const spent: Spent = {
    usage: {
      requestCount: run.request_count,
      inputTokens: run.input_tokens,
      cachedTokens: run.cached_tokens,
      outputTokens: run.output_tokens,
      reasoningTokens: run.reasoning_tokens,
    },
    byModel: JSON.parse(run.by_model_json) as ModelUsage[],
  };
  let model: string | null = null;
  let outputBytes = 0;
  let reported: Usage | null = null;
  for (const event of stored) {
    if (event.id <= keptId) continue;
    if (event.type === 'response_created') model = event.response.model;
    else if (event.type === 'delta') outputBytes += Buffer.byteLength(event.text);
    else if (event.type === 'response_done') reported = event.usage;
  }
  if (model === null) return spent;
  const shown = foldItems(stored.filter(({ id }) => id <= keptId));
  const others = Buffer.byteLength(instructions) + Buffer.byteLength(own);
  const earlier = run.text_bytes - Buffer.byteLength(message) + run.attached_bytes + run.announced_bytes;
  const budget = historyBudget(modelWindow(model, windowTokens), estimateTokens(others));
  const inputBytes =
    others +
    Math.max(0, Math.min(earlier, budget * BYTES_A_TOKEN)) +
    shown.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const cut = reported ?? estimatedUsage(inputBytes, outputBytes);
  return { usage: addUsage(spent.usage, cut), byModel: addModelUsage(spent.byModel, model, cut) };
}
