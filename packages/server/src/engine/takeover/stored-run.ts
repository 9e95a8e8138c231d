import type { LoadedAgent } from '../../agencies/loaded-agency.ts';
import { estimatedUsage } from '../../agent/progress.ts';
import { historyBudget } from '../../chats/fit-window.ts';
import type { RunIdentity } from '../../domain/admitted-run.ts';
import { attemptBase, type OutputItem, type RunEvent, type RunItem } from '../../domain/events.ts';
import { modelWindow } from '../../domain/model-window.ts';
import { type SandboxFile, sandboxFilesOf, shownMessage } from '../../domain/sandbox-file.ts';
import {
  addModelUsage,
  addUsage,
  BYTES_A_TOKEN,
  estimateTokens,
  type ModelUsage,
  type Usage,
} from '../../domain/usage.ts';
import { parseOwnJson } from '../../lib/strict-json.ts';
import { userMessageOfRun } from '../../store/queries/chats.ts';
import type { StepRow } from '../../store/queries/runs.ts';
import type { UnfinishedRun } from '../../store/queries/takeover.ts';
import { first, type Tx } from '../../store/store.ts';
import { aboutRun } from '../about-run.ts';
import type { PromptSetting } from '../build-prompt.ts';
import type { EngineDeps } from '../deps.ts';

export const runIdentity = (row: UnfinishedRun): RunIdentity => ({
  runId: row.run_id,
  integrationId: row.integration_id,
  consumerId: row.consumer_id,
  chatKey: row.chat_key,
  chatId: row.chat_id,
  agency: row.agency,
  agent: row.agent,
  day: row.day,
});

/** Reads the message that the run answers. Returns an empty one if its row is missing. */
export async function storedMessage(tx: Tx, run: UnfinishedRun) {
  const row = await first(tx.all(userMessageOfRun, { chatKey: run.chat_key, runId: run.run_id }));
  return {
    message: row === undefined ? '' : (JSON.parse(row.content_json) as string),
    sandboxFiles: sandboxFilesOf(row?.sandbox_files_json ?? null),
  };
}

/**
 * The last event that the next attempt keeps: the last event of a journalled step, or the event that opened the orphaned
 * attempt (`meta` or `resumed`).
 */
export function lastKeptId(attempt: number, journal: readonly StepRow[]): number {
  return Math.max(attemptBase(attempt) + 1, ...journal.map((row) => row.last_event_id));
}

/** Rebuilds the items of the run from its stored events: texts from their deltas, and the outputs of tools. */
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

export interface UsageTotals {
  readonly usage: Usage;
  readonly byModel: readonly ModelUsage[];
}

/** What the model was shown besides the earlier turns of the chat. */
export interface PromptParts {
  readonly instructions: string;
  /** The message of the run as it is stored. */
  readonly message: string;
  /** The message as the model is shown it, with the sandbox files. */
  readonly shown: string;
  /** The number of tokens that a model accepts if its window is unknown. */
  readonly windowTokens: number;
}

interface PromptDeps extends Pick<EngineDeps, 'agencies'> {
  readonly prompt: Pick<PromptSetting, 'windowTokens'>;
}

export async function promptParts(
  tx: Tx,
  { agencies, prompt }: PromptDeps,
  run: UnfinishedRun,
  message: string,
  sandboxFiles: readonly SandboxFile[],
): Promise<PromptParts> {
  const agent = agencies.agent(run.agency, run.agent);
  const instructions = agent === null ? '' : await instructionsOf(tx, agent, run).catch(() => '');
  return { instructions, message, shown: shownMessage(message, sandboxFiles), windowTokens: prompt.windowTokens };
}

async function instructionsOf(tx: Tx, agent: LoadedAgent, run: UnfinishedRun): Promise<string> {
  const userContext = run.user_context_json === null ? undefined : parseOwnJson(run.user_context_json);
  return await agent.instructions(await aboutRun(tx, { ...runIdentity(run), userContext }, agent));
}

/**
 * The usage of a run up to its last stored event (`contract-6-charged-cut-step`): the sum in its row, plus the model call
 * that was under way after `keptId`. For that call counts what the provider reported, or else an estimate from the text.
 * A call of which no event was stored is not counted; it is at most 0.1 s old. The estimate leaves out the turns that the
 * model's window had no room for.
 */
export function spentSoFar(
  run: UnfinishedRun,
  { instructions, message, shown: own, windowTokens }: PromptParts,
  stored: readonly RunEvent[],
  keptId: number,
): UsageTotals {
  const spent: UsageTotals = {
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
