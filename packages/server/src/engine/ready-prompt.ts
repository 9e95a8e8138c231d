import type { OutputImages } from '../agent/output-images.ts';
import type { PromptItem } from '../agent/ports.ts';
import { promptAttachment, type ReadyAttachment } from '../attachments/prompt-attachment.ts';
import type { RunAttachments } from '../attachments/run-attachments.ts';
import type { HistoryItem } from '../chats/heal-history.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { type Overflow, type PromptAgent, type PromptRun, planPrompt } from './build-prompt.ts';
import type { Chain } from './chain.ts';
import type { EngineDeps } from './deps.ts';
import { retryWhileUnavailable } from './retry-while-unavailable.ts';
import type { StopHandle } from './stop-handle.ts';

export interface ReadyPrompt {
  readonly prompt: readonly PromptItem[];
  /** See `ModelRequest.earlierItems`. */
  readonly earlierItems: number;
  /** See `RunContinuation.messages`. */
  readonly laterMessages: ReadonlyMap<number, readonly PromptItem[]>;
  readonly turnsLeftOut: number;
  /** See `PlannedPrompt.usesSummary`. */
  readonly usesSummary: boolean;
}

const NO_MESSAGES: ReadyPrompt['laterMessages'] = new Map();

const hasAttachments = (item: HistoryItem) => item.kind === 'user' && item.attachments !== undefined;
const hasFiles = (item: HistoryItem) =>
  hasAttachments(item) || (item.kind === 'tool_output' && item.images !== undefined);

const NONE_UNREAD: readonly StoredAttachment[] = [];

/** The attachments of earlier turns that were never fetched. Only imported turns have some. */
function findUnread(items: readonly HistoryItem[]): readonly StoredAttachment[] {
  if (!items.some(hasAttachments)) return NONE_UNREAD;
  return items.flatMap((item) => {
    return item.kind === 'user' && item.attachments !== undefined
      ? item.attachments.filter(({ form }) => form === null)
      : [];
  });
}

export interface PromptDeps extends Pick<EngineDeps, 'prompt' | 'retryMs'> {
  readonly store: Pick<EngineDeps['store'], 'reads'>;
  /** Resolves to true if the chat has a new summary. Absent if none may be made. */
  readonly summarize?: ((overflow: Overflow) => Promise<boolean>) | undefined;
}

/** What the files of a prompt become. */
export interface PromptFiles {
  readonly attachments: Pick<RunAttachments, 'ready' | 'read'>;
  readonly images: Pick<OutputImages, 'show'>;
}

/**
 * Builds the prompt and makes its attachments ready. The run's own attachments come first, because their size decides how
 * many earlier turns fit into the model's window; then those of the turns that fit. If not all fit, the oldest may be summed up
 * before.
 */
export async function readyPrompt(
  deps: PromptDeps,
  run: PromptRun,
  chain: Chain,
  agent: PromptAgent,
  { attachments, images }: PromptFiles,
  stop: Pick<StopHandle, 'reason' | 'signal'>,
): Promise<ReadyPrompt> {
  const own = run.attachments.length === 0 ? [] : await attachments.ready(run.attachments);
  const planned = own.length === 0 ? run : { ...run, attachments: own };
  const plan = () => {
    stop.signal.throwIfAborted();
    return planPrompt(deps.store.reads, planned, chain, agent, deps.prompt);
  };
  let plannedPrompt = await retryWhileUnavailable(deps, stop, plan);
  const { overflow } = plannedPrompt;
  if (overflow !== null && (await deps.summarize?.(overflow)) === true)
    plannedPrompt = await retryWhileUnavailable(deps, stop, plan);
  // Attachments of imported turns: their sizes are known after the fetch, so the prompt is planned again.
  for (let unread = findUnread(plannedPrompt.items); unread.length > 0; unread = findUnread(plannedPrompt.items)) {
    await attachments.ready(unread);
    plannedPrompt = await retryWhileUnavailable(deps, stop, plan);
  }
  const { items, earlierItems, later, turnsLeftOut, usesSummary } = plannedPrompt;
  const shown = { earlierItems, turnsLeftOut, usesSummary };
  if (later.length === 0 && !items.some(hasFiles)) {
    return { prompt: items as readonly PromptItem[], laterMessages: NO_MESSAGES, ...shown };
  }
  const ready = new Map<StoredAttachment, ReadyAttachment>(own.map((one) => [one, one]));
  const earlier: StoredAttachment[] = [];
  const collect = (item: HistoryItem) => {
    if (item.kind !== 'user' || item.attachments === undefined) return;
    for (const one of item.attachments) if (!ready.has(one)) earlier.push(one);
  };
  for (const item of items) collect(item);
  for (const { item } of later) collect(item);
  for (const [index, one] of (await attachments.ready(earlier)).entries()) {
    ready.set(earlier[index] as StoredAttachment, one);
  }
  const readyItem = (item: HistoryItem): PromptItem => {
    if (item.kind === 'tool_output' && item.images !== undefined) return { ...item, images: images.show(item.images) };
    if (item.kind !== 'user' || item.attachments === undefined) return item as PromptItem;
    const sent = item.attachments.flatMap((one) => ready.get(one) ?? []);
    return { ...item, attachments: sent.map((one) => promptAttachment(one, () => attachments.read(one))) };
  };
  const laterMessages = new Map<number, PromptItem[]>();
  for (const { afterSteps, item } of later) {
    laterMessages.set(afterSteps, [...(laterMessages.get(afterSteps) ?? []), readyItem(item)]);
  }
  return { prompt: items.map(readyItem), laterMessages, ...shown };
}
