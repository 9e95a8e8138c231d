import type { ModelTool, PromptItem } from '../agent/ports.ts';
import { promptBytes } from '../agent/progress.ts';
import { type MeasuredTurn, turnsToLeaveOut } from '../chats/fit-window.ts';
import {
  type HistoryItem,
  type healTurn,
  isEmpty,
  isRootStep,
  type LaterMessage,
  type StoredStep,
  type StoredTurn,
  userItem,
} from '../chats/heal-history.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import type { StoredAttachment } from '../domain/attachment.ts';
import { attachedBytes } from '../domain/attachment-text.ts';
import { historyBudget } from '../domain/model-window.ts';
import { type SandboxFile, sandboxFilesOf } from '../domain/sandbox-file.ts';
import { estimateTokens } from '../domain/usage.ts';
import { stepOutcome } from '../runs/journal.ts';
import { attachmentOf, historyAttachments } from '../store/queries/attachments.ts';
import { chatLength, history, historySteps } from '../store/queries/chats.ts';
import { first, type Reads } from '../store/store.ts';
import type { Chain } from './chain.ts';

export interface PromptSetting {
  readonly heal: typeof healTurn;
  /** The window of a model whose window is unknown. */
  readonly windowTokens: number;
}

/** What the model is shown besides the chat. */
export interface PromptAgent {
  readonly instructions: string;
  /** The tokens that every model accepts that may be shown the chat. */
  readonly windowTokens: number;
  readonly tools: readonly ModelTool[];
}

/** The prompt of a run before its attachments are ready. */
export interface PlannedPrompt {
  readonly items: readonly HistoryItem[];
  /** Messages that arrived while calls of the root loop were open, with the number of its steps at that time. */
  readonly later: readonly { readonly afterSteps: number; readonly item: HistoryItem }[];
  /** How many of the oldest turns of the chat do not fit into the window. */
  readonly turnsLeftOut: number;
}

/**
 * Plans the prompt: the stored earlier turns, healed, then the new message. Earlier turns are byte for byte the same each
 * time, so that the caches of providers work. The run's own attachments are ready, and `agent` has all its tools. A run that
 * continues others has the prompt of the first of them: the loops add what the chain has done since.
 */
export async function planPrompt(
  reads: Reads,
  run: AdmittedRun,
  chain: Chain,
  agent: PromptAgent,
  { heal }: PromptSetting,
): Promise<PlannedPrompt> {
  if (!run.hasHistory) return { items: [userItem(run)], later: [], turnsLeftOut: 0 };
  const { place, own, later } = await planChain(reads, run, chain);
  const others = itemBytes(agent.instructions, [own]) + toolsBytes(agent.tools);
  const budget = historyBudget(agent.windowTokens, estimateTokens(others));
  const { turns, unread } = await newestTurns(reads, place, heal, budget);
  const leftOut = turnsToLeaveOut(turns, budget);
  const callIds = new Set<string>();
  const shown = turns.slice(leftOut).flatMap(({ stored }) => heal(stored, callIds));
  return { items: [...shown, own], later, turnsLeftOut: unread + leftOut };
}

/** The end of the earlier turns in the chat. */
interface ChatPlace {
  readonly chatKey: string;
  /** The position of the first message that belongs to the run or its chain. */
  readonly before: number;
  /** The bytes of all texts before it. */
  readonly textBytes: number;
}

/** Finds where the chain of the run begins, and its messages. */
async function planChain(reads: Reads, run: AdmittedRun, chain: Chain) {
  const { chatKey } = run;
  const chat = await first(reads.all(chatLength, { chatKey }));
  // The run's own message is the last one of the chat: until the run ends, no other is added.
  const last = chat?.num_messages ?? 1;
  const before = last - chain.runIds.length * MESSAGES_A_TURN;
  const turns = chain.runIds.length === 0 ? [] : await storedTurns(reads, chatKey, before, last);
  const bytes = turns.reduce((sum, turn) => sum + textBytes(turn), Buffer.byteLength(run.message));
  const place: ChatPlace = { chatKey, before, textBytes: (chat?.text_bytes ?? 0) - bytes };
  const messages = [...turns, run];
  const later = messages.slice(1).flatMap((message, index) => {
    const afterSteps = chain.rootSteps[index] ?? 0;
    return isEmpty(message) ? [] : [{ afterSteps, item: userItem(message) }];
  });
  return { place, own: userItem(turns[0] ?? run), later };
}

const bytesByTools = new WeakMap<readonly ModelTool[], number>();

/** An agent has the same list in all its runs. */
function toolsBytes(tools: readonly ModelTool[]): number {
  let bytes = bytesByTools.get(tools);
  if (bytes === undefined) {
    const text = JSON.stringify(tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]));
    bytes = Buffer.byteLength(text);
    bytesByTools.set(tools, bytes);
  }
  return bytes;
}

/** Attachments count by the sizes in their rows, because only those of the shown turns are made ready later. */
function itemBytes(instructions: string, items: readonly HistoryItem[]): number {
  let attached = 0;
  const texts = items.map((item): PromptItem => {
    if (item.kind !== 'user') return item;
    const { attachments = [], ...text } = item;
    for (const one of attachments) attached += attachedBytes(one);
    return text;
  });
  return promptBytes(instructions, texts) + attached;
}

/** The tokens of an item besides its text. */
const TOKENS_AN_ITEM = 4;
/** A turn has two messages: the user's from admission on, and the assistant's from any kind of end on. */
const MESSAGES_A_TURN = 2;
const FIRST_PAGE_TURNS = 16;
const LARGEST_PAGE_TURNS = 256;

interface ReadTurn extends MeasuredTurn {
  readonly stored: StoredTurn;
}

/** Reads turns page by page, newest first, until they exceed the budget: a long chat is not read whole. */
async function newestTurns(reads: Reads, place: ChatPlace, heal: PromptSetting['heal'], budget: number) {
  const { chatKey } = place;
  let { before } = place;
  let ends = textTokens(before - 1, place.textBytes);
  const turns: ReadTurn[] = [];
  let tokens = 0;
  for (let pageTurns = FIRST_PAGE_TURNS; before > 1 && tokens <= budget; pageTurns *= 2) {
    let from = Math.max(1, before - Math.min(pageTurns, LARGEST_PAGE_TURNS) * MESSAGES_A_TURN);
    let page = await storedTurns(reads, chatKey, from, before);
    // A chain is one turn, so it is read whole.
    while (from > 1 && page[0]?.continues !== null) {
      from = Math.max(1, from - FIRST_PAGE_TURNS * MESSAGES_A_TURN);
      page = await storedTurns(reads, chatKey, from, before);
    }
    for (const stored of joinChains(page).reverse()) {
      const messages = (1 + (stored.later?.length ?? 0)) * MESSAGES_A_TURN;
      const begins = ends - textTokens(messages, textBytes(stored));
      const items = heal(stored);
      const turn = {
        stored,
        begins,
        ends,
        tokens: estimateTokens(itemBytes('', items)) + items.length * TOKENS_AN_ITEM,
      };
      turns.push(turn);
      tokens += turn.tokens;
      ends = begins;
    }
    before = from;
  }
  return { turns: turns.reverse(), unread: (before - 1) / MESSAGES_A_TURN };
}

/** Not rounded, so that sums and differences are exact. */
function textTokens(messages: number, bytes: number): number {
  return messages * TOKENS_AN_ITEM + bytes / 4;
}

interface ReadStoredTurn {
  readonly runId: string;
  /** The run whose questions this one settled, or null. */
  readonly continues: string | null;
  readonly message: string;
  readonly attachments: StoredAttachment[];
  readonly sandboxFiles: readonly SandboxFile[];
  answer: string;
  readonly steps: StoredStep[];
}

/** The bytes of all messages of the turn. */
function textBytes({ message, answer, later = [] }: Pick<StoredTurn, 'message' | 'answer' | 'later'>): number {
  return [message, answer, ...later.map((one) => one.message)].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Makes one turn of each chain of runs. */
function joinChains(turns: readonly ReadStoredTurn[]): StoredTurn[] {
  const joined: (StoredTurn & { runId: string; steps: StoredStep[]; answer: string; later: LaterMessage[] })[] = [];
  for (const { continues, ...turn } of turns) {
    const before = joined.at(-1);
    if (before === undefined || before.runId !== continues) {
      joined.push({ ...turn, later: [] });
      continue;
    }
    before.later.push({ ...turn, afterSteps: before.steps.filter(isRootStep).length });
    before.steps.push(...turn.steps);
    before.answer += turn.answer;
    before.runId = turn.runId;
  }
  return joined;
}

async function storedTurns(reads: Reads, chatKey: string, from: number, before: number) {
  const [messages, stepRows, attachmentRows] = await Promise.all([
    reads.all(history, { chatKey, from, before }),
    reads.all(historySteps, { chatKey, from, before }),
    reads.all(historyAttachments, { chatKey, from, before }),
  ]);
  const turns = new Map<string, ReadStoredTurn>();
  const failed = new Set<string>();
  for (const row of messages) {
    const text = JSON.parse(row.content_json) as string;
    const turn = turns.get(row.run_id);
    if (row.role === 'user') {
      const sandboxFiles = sandboxFilesOf(row.sandbox_files_json);
      const { run_id: runId, continues } = row;
      turns.set(runId, { runId, continues, message: text, attachments: [], sandboxFiles, answer: '', steps: [] });
    } else if (turn !== undefined) turn.answer = text;
    if (row.status === 'failed') failed.add(row.run_id);
  }
  for (const row of stepRows) {
    const { kind, caller_agent: callerAgent, call_id: callId } = row;
    const { output, asks } = stepOutcome(row.record_json);
    const step = { kind, callerAgent, callId, output, ...(asks === undefined ? {} : { asks }) };
    turns.get(row.run_id)?.steps.push(step);
  }
  for (const row of attachmentRows) {
    // `contract-7-failed-turn`: none of its attachments is sent again. `contract-7-cancelled-turn`: the fetched ones are.
    if (failed.has(row.run_id) || row.form === null) continue;
    turns.get(row.run_id)?.attachments.push(attachmentOf(row));
  }
  return [...turns.values()];
}
