import type { ModelTool } from '../agent/ports.ts';
import { toolsBytes } from '../agent/tools-bytes.ts';
import { turnsToLeaveOut } from '../chats/fit-window.ts';
import {
  type HistoryItem,
  type healTurn,
  isEmpty,
  type StoredMessage,
  toShownMessage,
  userItem,
} from '../chats/heal-history.ts';
import { readSummary } from '../chats/read-summary.ts';
import { type ChatSummary, turnsToSummarize } from '../chats/summary.ts';
import type { ChatTurns, EarlierTurn, TurnMemory } from '../chats/turn-memory.ts';
import { historyBudget } from '../domain/model/model-window.ts';
import { estimateTokens } from '../domain/model/usage.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import type { ShownMessage } from '../domain/run/guardrail-record.ts';
import { END_OF_CHAT } from '../store/queries/chats.ts';
import type { Reads } from '../store/store.ts';
import type { Chain } from './chain.ts';
import {
  type ChatLength,
  itemBytes,
  MESSAGES_A_TURN,
  readAdded,
  readEnd,
  readOlder,
  type TurnsBefore,
  turnsFrom,
} from './earlier-turns.ts';

/** The run for which a prompt is planned. */
export type PromptRun = Pick<
  AdmittedRun,
  'integrationId' | 'chatKey' | 'runId' | 'message' | 'attachments' | 'sandboxFiles' | 'hasHistory'
> & {
  /** What guardrails let prompts show in place of the message. Absent if prompts show the message. */
  readonly shown?: ShownMessage | undefined;
};

export interface PromptSetting {
  readonly heal: typeof healTurn;
  readonly memory: Pick<TurnMemory, 'get' | 'set'>;
  /** The length of the chat with the run's message. Absent if this is the chat's last run. */
  readonly length?: ChatLength | undefined;
  /** The window of a model whose window is unknown. */
  readonly windowTokens: number;
}

/** What the model is shown besides the chat. */
export interface PromptAgent {
  readonly instructions: string;
  /** The tokens that every model accepts that may be shown the chat. */
  readonly windowTokens: number;
  readonly tools: readonly ModelTool[];
  /** False if the oldest turns are left out without a summary. */
  readonly usesSummaries: boolean;
}

/** The turns of the chat do not fit into the window, and these can be summed up. */
export interface Overflow {
  /** The newest summary. Null if there is none. */
  readonly summary: ChatSummary | null;
  /** The positions that the next summary adds to it. `before` is exclusive. */
  readonly from: number;
  readonly before: number;
  /** The position of the run's message. */
  readonly madeAt: number;
  /** The turns at these positions. Null if they must be read. */
  readonly turns: readonly EarlierTurn[] | null;
  /** The tokens that the summary and the turns after it may use. */
  readonly roomTokens: number;
}

/** The prompt of a run before its attachments are ready. */
export interface PlannedPrompt {
  readonly items: readonly HistoryItem[];
  /** How many of them belong to earlier turns. */
  readonly earlierItems: number;
  /** Messages that arrived while calls of the root loop were open, with its steps' number at that time. */
  readonly later: readonly { readonly afterSteps: number; readonly item: HistoryItem }[];
  /** How many of the oldest turns of the chat, without those of the summary, do not fit into the window. */
  readonly turnsLeftOut: number;
  /** True if the prompt begins with a summary. */
  readonly usesSummary: boolean;
  /** Null if no summary is needed. */
  readonly overflow: Overflow | null;
}

/** The prompt of a chat's first run. */
const planFirst = (run: PromptRun): PlannedPrompt => ({
  items: [userItem(toShownMessage(run, run.shown))],
  earlierItems: 0,
  later: [],
  turnsLeftOut: 0,
  usesSummary: false,
  overflow: null,
});

/**
 * Plans the prompt: the stored earlier turns, healed, then the new message. Earlier turns are byte for byte the same each
 * time, so that the caches of providers work. The run's own attachments are ready, and `agent` has all its tools. A run that
 * continues others has the prompt of the first of them: the loops add what the chain has done since.
 */
export async function planPrompt(
  reads: Reads,
  run: PromptRun,
  chain: Chain,
  agent: PromptAgent,
  { heal, memory, length }: PromptSetting,
): Promise<PlannedPrompt> {
  if (!run.hasHistory) return planFirst(run);
  const { integrationId, chatKey, runId, message } = run;
  const reading = { chatKey, runId, message, length, chained: chain.runIds.length };
  const known = memory.get(chatKey);
  const end =
    (known === undefined ? null : await readAdded(reads, reading, known, heal)) ?? (await readEnd(reads, reading));
  const lastPosition = length?.num_messages ?? END_OF_CHAT;
  const newest = agent.usesSummaries
    ? await readSummary(reads, end.summaryRunId, lastPosition, known?.summary ?? null)
    : null;
  const { own, later } = planChain(end.chain, run, chain);
  const fixedBytes = itemBytes(agent.instructions, []) + toolsBytes(agent.tools);
  const roomTokens = historyBudget(agent.windowTokens, estimateTokens(fixedBytes));
  const budget = historyBudget(agent.windowTokens, estimateTokens(fixedBytes + itemBytes('', [own])));
  // A large message can leave less room. Then the newest turns matter more than a summary.
  const summary = newest !== null && newest.tokens <= budget / 2 ? newest : null;
  const oldest = (summary?.end ?? 0) + 1;
  const bounds = { budgetTokens: roomTokens, oldest };
  const read = await readOlder(reads, chatKey, turnsFrom(end, oldest), heal, bounds);
  const { turns, from, before, textBytes } = read;
  const turnsBudget = budget - (summary?.tokens ?? 0);
  const leftOut = turnsToLeaveOut(turns, turnsBudget);
  memory.set(integrationId, chatKey, newestTurns({ turns, from, before, textBytes, summary: newest }, roomTokens));
  const firstShown = turns[leftOut]?.position ?? before;
  const items = healTogether(turns.slice(leftOut), heal);
  if (summary !== null) items.unshift(summary.item);
  const earlierItems = items.length;
  // Providers refuse an empty text, or get a text in its place. A request can only continue what was imported.
  if (earlierItems === 0 || !isEmptyItem(own)) items.push(own);
  // A run that continues others begins with their prompt.
  const mayGrow = agent.usesSummaries && chain.runIds.length === 0;
  return {
    items,
    earlierItems,
    later,
    turnsLeftOut: (firstShown - oldest) / MESSAGES_A_TURN,
    usesSummary: summary !== null,
    overflow: mayGrow ? findOverflow(read, newest, roomTokens) : null,
  };
}

/** Returns null if the summary and the turns after it fit, and if the turns cannot be summed up. */
function findOverflow(read: TurnsBefore, summary: ChatSummary | null, roomTokens: number): Overflow | null {
  const from = (summary?.end ?? 0) + 1;
  const { turns } = turnsFrom(read, from);
  const count = turnsToSummarize(turns, summary, roomTokens);
  if (count === null) return null;
  const before = turns[count]?.position ?? read.before;
  const known = read.from <= from ? turns.slice(0, count) : null;
  return { summary, from, before, madeAt: read.before, turns: known, roomTokens };
}

const isEmptyItem = ({ text, attachments, sandboxFiles }: ReturnType<typeof userItem>) =>
  isEmpty({ message: text, attachments: attachments ?? [], sandboxFiles: sandboxFiles ?? [] });

/** Plans the user's messages of the run and its chain. */
function planChain(earlier: readonly StoredMessage[], run: PromptRun, chain: Chain) {
  const message = toShownMessage(run, run.shown);
  const later = [...earlier, message].slice(1).flatMap((message, index) => {
    const afterSteps = chain.rootSteps[index] ?? 0;
    return isEmpty(message) ? [] : [{ afterSteps, item: userItem(message) }];
  });
  return { own: userItem(earlier[0] ?? message), later };
}

/** The items of all turns. No two calls share an id. */
function healTogether(turns: readonly EarlierTurn[], heal: PromptSetting['heal']): HistoryItem[] {
  const items: HistoryItem[] = [];
  const callIds = new Set<string>();
  for (const turn of turns) {
    const isAlone = turn.callIds.every((callId) => !callIds.has(callId));
    if (isAlone || turn.stored === null) {
      items.push(...turn.items);
      for (const callId of turn.callIds) callIds.add(callId);
    } else items.push(...heal(turn.stored, callIds));
  }
  return items;
}

/** Returns only the newest turns that exceed the budget together: no older turn can be shown. */
function newestTurns(chat: ChatTurns, budget: number): ChatTurns {
  let tokens = 0;
  let kept = chat.turns.length;
  for (; kept > 0 && tokens <= budget; kept -= 1) tokens += chat.turns[kept - 1]?.tokens ?? 0;
  if (kept === 0) return chat;
  const turns = chat.turns.slice(kept);
  return { ...chat, turns, from: turns[0]?.position ?? chat.before };
}
