import { promptBytes } from '@runwire/models';
import type { PromptItem } from '../agent/ports.ts';
import {
  type HistoryItem,
  type healTurn,
  isRootStep,
  type LaterMessage,
  type StoredMessage,
  type StoredStep,
  type StoredTurn,
  toShownMessage,
} from '../chats/heal-history.ts';
import type { ChatTurns, EarlierTurn, StoredRun } from '../chats/turn-memory.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { attachedBytes } from '../domain/attachment/attachment-text.ts';
import { isImported } from '../domain/chat/imported-turn.ts';
import { parseSandboxFiles } from '../domain/file/sandbox-file.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
import { estimateTokens } from '../domain/model/usage.ts';
import { stepOutcome } from '../runs/journal.ts';
import { historyAttachments } from '../store/queries/attachments.ts';
import { chatLength, END_OF_CHAT, history, historySteps } from '../store/queries/chats.ts';
import { first, type Reads } from '../store/store.ts';

/** How many messages a chat has, and the bytes of their texts. */
export interface ChatLength {
  readonly num_messages: number;
  readonly text_bytes: number;
  /** The run that made its newest summary, or null. */
  readonly summary_run_id: RunId | null;
}

/**
 * The run whose earlier turns are read. Its message is the last one of the chat, because no other is added until it ends,
 * or the last one of `length`.
 */
export interface ReadingRun {
  readonly chatKey: ChatKey;
  readonly runId: RunId;
  readonly message: string;
  /** How many of the runs before it belong to its chain. */
  readonly chained: number;
  /** Absent if the run is the chat's last one. */
  readonly length?: ChatLength | undefined;
}

/** The turns before a run's chain, and the messages of the chain before its own. */
export interface TurnsBefore extends Omit<ChatTurns, 'summary'> {
  readonly chain: readonly StoredMessage[];
  readonly summaryRunId: RunId | null;
}

type Turns = Pick<ChatTurns, 'turns' | 'from' | 'before' | 'textBytes'>;

type Heal = typeof healTurn;

/** A turn has two messages: the user's from admission on, and the assistant's from any kind of end on. */
export const MESSAGES_A_TURN = 2;
/** The tokens of an item besides its text. */
const TOKENS_AN_ITEM = 4;
const FIRST_PAGE_TURNS = 16;
const LARGEST_PAGE_TURNS = 256;

/** Reads the position at which the turns end, and the chain. The turns are left to `readOlder`. */
export async function readEnd(reads: Reads, { chatKey, message, chained, length }: ReadingRun): Promise<TurnsBefore> {
  const chat = length ?? (await first(reads.all(chatLength, { chatKey })));
  const last = chat?.num_messages ?? 1;
  const before = last - chained * MESSAGES_A_TURN;
  const { runs, attachments } = chained === 0 ? NO_RUNS : await readRuns(reads, chatKey, before, last);
  const textBytes = (chat?.text_bytes ?? 0) - runsBytes(runs) - Buffer.byteLength(message);
  const summaryRunId = chat?.summary_run_id ?? null;
  const messages = runs.map((run) => withAttachments(run, attachments));
  return { turns: [], from: before, before, textBytes, chain: messages, summaryRunId };
}

/**
 * Reads what was added to the chat since `known`, in one round trip. Resolves to null if `known` is not the beginning of
 * this chat, by the number of its messages and its texts' bytes. A deleted chat has no message of the run.
 */
export async function readAdded(
  reads: Reads,
  { chatKey, runId, chained }: ReadingRun,
  known: Turns,
  heal: Heal,
): Promise<TurnsBefore | null> {
  const firstAttached = known.turns.find(({ attached }) => attached !== null);
  const [chat, { runs, attachments }] = await Promise.all([
    first(reads.all(chatLength, { chatKey })),
    readRuns(reads, chatKey, known.before, END_OF_CHAT, firstAttached?.position),
  ]);
  const own = runs.at(-1);
  const isWhole = runs.every(({ position }, index) => position === known.before + index * MESSAGES_A_TURN);
  if (own === undefined || own.runId !== runId || own.position !== chat?.num_messages || !isWhole) return null;
  if (known.textBytes + runsBytes(runs) !== chat.text_bytes) return null;
  const added = runs.slice(0, -1 - chained);
  const chain = runs.slice(added.length, -1);
  // Then a turn that was read as a whole one has grown.
  if (chain.length < chained || runs[0]?.continues === known.turns.at(-1)?.lastRunId) return null;
  const turns =
    firstAttached === undefined
      ? [...known.turns]
      : known.turns.map((turn) =>
          turn.attached === null ? turn : toTurn(turn.attached, attachments, turn.begins, heal),
        );
  let textBytes = known.textBytes;
  for (const ofTurn of chains(added)) {
    const begins = textTokens((ofTurn[0]?.position ?? 1) - 1, textBytes);
    turns.push(toTurn(ofTurn, attachments, begins, heal));
    textBytes += runsBytes(ofTurn);
  }
  const { from } = known;
  const before = (chain[0] ?? own).position;
  const messages = chain.map((run) => withAttachments(run, attachments));
  return { turns, from, before, textBytes, chain: messages, summaryRunId: chat.summary_run_id };
}

/** Leaves out the turns before a position, which a summary replaces. */
export function turnsFrom<T extends Turns>(chat: T, position: number): T {
  if (chat.from >= position) return chat;
  return { ...chat, from: position, turns: chat.turns.filter((turn) => turn.position >= position) };
}

/**
 * Reads older turns page by page, newest first, until all turns exceed the budget, or back to the turn at `oldest`: a long chat is
 * not read whole.
 */
export async function readOlder<T extends Turns>(
  reads: Reads,
  chatKey: ChatKey,
  chat: T,
  heal: Heal,
  { budgetTokens, oldest }: { readonly budgetTokens: number; readonly oldest: number },
): Promise<T> {
  let { from } = chat;
  let ends = chat.turns[0]?.begins ?? textTokens(chat.before - 1, chat.textBytes);
  let tokens = 0;
  for (const turn of chat.turns) tokens += turn.tokens;
  const older: EarlierTurn[] = [];
  for (let pageTurns = FIRST_PAGE_TURNS; from > oldest && tokens <= budgetTokens; pageTurns *= 2) {
    const before = from;
    from = Math.max(oldest, before - Math.min(pageTurns, LARGEST_PAGE_TURNS) * MESSAGES_A_TURN);
    let page = await readRuns(reads, chatKey, from, before);
    // A chain is one turn, so it is read whole.
    while (from > oldest && page.runs[0]?.continues !== null) {
      from = Math.max(oldest, from - FIRST_PAGE_TURNS * MESSAGES_A_TURN);
      page = await readRuns(reads, chatKey, from, before);
    }
    for (const ofTurn of chains(page.runs).reverse()) {
      const begins = ends - textTokens(ofTurn.length * MESSAGES_A_TURN, runsBytes(ofTurn));
      const turn = toTurn(ofTurn, page.attachments, begins, heal);
      older.push(turn);
      tokens += turn.tokens;
      ends = begins;
    }
  }
  return older.length === 0 ? chat : { ...chat, from, turns: [...older.reverse(), ...chat.turns] };
}

/**
 * Reads the oldest turns of a range of positions, until they exceed the budget. The range ends with a whole turn. The turns have
 * no positions in the chat's text, because they are only summed up.
 */
export async function readOldest(
  reads: Reads,
  chatKey: ChatKey,
  range: { readonly from: number; readonly before: number },
  heal: Heal,
  budgetTokens: number,
): Promise<readonly EarlierTurn[]> {
  const turns: EarlierTurn[] = [];
  let { from } = range;
  let pageTurns = FIRST_PAGE_TURNS;
  for (let tokens = 0; from < range.before && tokens <= budgetTokens; ) {
    const before = Math.min(range.before, from + pageTurns * MESSAGES_A_TURN);
    const { runs, attachments } = await readRuns(reads, chatKey, from, before);
    const found = chains(runs);
    // The next page can continue the chain of the last turn.
    if (before < range.before) found.pop();
    for (const ofTurn of found) {
      const turn = toTurn(ofTurn, attachments, 0, heal);
      turns.push(turn);
      tokens += turn.tokens;
      from = turn.lastPosition + 1;
    }
    // A longer chain is read whole.
    if (found.length === 0 && before === range.before) break;
    if (found.length === 0) pageTurns *= 2;
  }
  return turns;
}

/** Attachments count by the sizes in their rows, because only those of the shown turns are made ready later. */
export function itemBytes(instructions: string, items: readonly HistoryItem[]): number {
  let attached = 0;
  const texts = items.map((item): PromptItem => {
    if (item.kind !== 'user' || item.attachments === undefined) return item as PromptItem;
    const { attachments, ...text } = item;
    for (const one of attachments) attached += attachedBytes(one);
    return text;
  });
  return promptBytes(instructions, texts) + attached;
}

/** Not rounded, so that sums and differences are exact. */
function textTokens(messages: number, bytes: number): number {
  return messages * TOKENS_AN_ITEM + bytes / 4;
}

function runsBytes(runs: readonly StoredRun[]): number {
  let bytes = 0;
  for (const { message, answer } of runs) bytes += Buffer.byteLength(message) + Buffer.byteLength(answer);
  return bytes;
}

/** The memory of an item besides its text, and of a step besides its record. */
const ITEM_BYTES = 300;

function toTurn(runs: readonly StoredRun[], attachments: Attachments, begins: number, heal: Heal): EarlierTurn {
  const stored = joinChain(runs, attachments);
  const items = heal(stored);
  const callIds = items.flatMap((item) => (item.kind === 'tool_call' ? [item.callId] : []));
  const bytes = itemBytes('', items);
  const attached = runs.some(({ hasAttachments }) => hasAttachments) ? runs : null;
  const needsRuns = callIds.length > 0 || attached !== null;
  // The texts are in memory as they are, and in the form in which they were sent.
  let memoryBytes = bytes * 2 + items.length * ITEM_BYTES;
  for (const run of needsRuns ? runs : []) memoryBytes += run.memoryBytes;
  return {
    position: runs[0]?.position ?? 1,
    lastPosition: (runs.at(-1)?.position ?? 1) + MESSAGES_A_TURN - 1,
    lastRunId: runs.at(-1)?.runId ?? '',
    tokens: estimateTokens(bytes) + items.length * TOKENS_AN_ITEM,
    begins,
    ends: begins + textTokens(runs.length * MESSAGES_A_TURN, runsBytes(runs)),
    items,
    callIds,
    stored: callIds.length === 0 ? null : stored,
    attached,
    memoryBytes,
  };
}

/** Groups the runs by turns. */
function chains(runs: readonly StoredRun[]): StoredRun[][] {
  const turns: StoredRun[][] = [];
  for (const run of runs) {
    const turn = turns.at(-1);
    if (turn !== undefined && turn.at(-1)?.runId === run.continues) turn.push(run);
    else turns.push([run]);
  }
  return turns;
}

/** Makes one turn of a chain of runs. */
function joinChain(runs: readonly StoredRun[], attachments: Attachments): StoredTurn {
  const [begun, ...others] = runs;
  if (begun === undefined) throw new Error('A turn has at least one run.');
  const later: LaterMessage[] = [];
  const steps: StoredStep[] = [...begun.steps];
  let { answer } = begun;
  for (const run of others) {
    later.push({ ...withAttachments(run, attachments), afterSteps: steps.filter(isRootStep).length });
    steps.push(...run.steps);
    answer += run.answer;
  }
  const hidesEmpty = begun.position > 1 || isImported(begun.runId);
  const failed = runs.some((run) => run.failed);
  return { ...withAttachments(begun, attachments), steps, answer, later, hidesEmpty, failed };
}

type Attachments = ReadonlyMap<string, readonly StoredAttachment[]>;

/** `contract-7-failed-turn`: none of its attachments is sent again. `contract-7-cancelled-turn`: the fetched ones are. */
function withAttachments(run: StoredRun, attachments: Attachments): StoredMessage {
  const { runId, message, sandboxFiles, failed, shown } = run;
  const sent = failed ? [] : (attachments.get(runId) ?? []);
  const stored = { message, attachments: sent, ...(sandboxFiles === undefined ? {} : { sandboxFiles }) };
  return toShownMessage(stored, shown);
}

interface ReadRuns {
  readonly runs: readonly StoredRun[];
  /** By run, the attachments that were fetched, and those of imported turns, which the next run fetches. */
  readonly attachments: Attachments;
}

const NO_RUNS: ReadRuns = { runs: [], attachments: new Map() };

async function readRuns(
  reads: Reads,
  chatKey: ChatKey,
  from: number,
  before: number,
  attachmentsFrom = from,
): Promise<ReadRuns> {
  const [messages, stepRows, attachmentRows] = await Promise.all([
    reads.all(history, { chatKey, from, before }),
    reads.all(historySteps, { chatKey, from, before }),
    reads.all(historyAttachments, { chatKey, from: attachmentsFrom, before }),
  ]);
  const attachments = new Map<string, StoredAttachment[]>();
  for (const row of attachmentRows) {
    const ofRun = attachments.get(row.run_id) ?? [];
    attachments.set(row.run_id, ofRun);
    if (row.form !== null || isImported(row.run_id)) ofRun.push(row);
  }
  const runs = new Map<string, { -readonly [K in keyof StoredRun]: StoredRun[K] } & { readonly steps: StoredStep[] }>();
  for (const row of messages) {
    const { run_id: runId, position, continues } = row;
    const text = JSON.parse(row.content_json) as string;
    const run = runs.get(runId);
    if (row.role === 'user') {
      runs.set(runId, {
        runId,
        position,
        continues,
        message: text,
        sandboxFiles: parseSandboxFiles(row.sandbox_files_json),
        answer: '',
        steps: [],
        failed: row.status === 'failed',
        hasAttachments: attachments.has(runId),
        memoryBytes: ITEM_BYTES,
      });
    } else if (run !== undefined) {
      run.answer = text;
      run.failed ||= row.status === 'failed';
    }
  }
  for (const row of stepRows) {
    const { kind, caller_agent: callerAgent, call_id: callId } = row;
    const { output, asks, guardrails } = stepOutcome(row.record_json);
    const run = runs.get(row.run_id);
    if (run !== undefined && guardrails?.shown !== undefined) run.shown = guardrails.shown;
    run?.steps.push({ kind, callerAgent, callId, output, ...(asks === undefined ? {} : { asks }) });
    if (run !== undefined) run.memoryBytes += ITEM_BYTES + row.record_json.length;
  }
  return { runs: [...runs.values()], attachments };
}
