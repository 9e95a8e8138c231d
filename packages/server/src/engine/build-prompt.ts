import type { LoadedAgent } from '../agencies/agencies.ts';
import type { PromptItem } from '../agent/ports.ts';
import { promptBytes } from '../agent/progress.ts';
import { historyBudget, turnsToLeaveOut } from '../chats/fit-window.ts';
import type { healTurn, StoredStep } from '../chats/heal-history.ts';
import { modelWindow } from '../domain/model-window.ts';
import { estimateTokens } from '../domain/usage.ts';
import { stepOutcome } from '../runs/journal.ts';
import { history, historySteps } from '../store/queries/chats.ts';
import type { Reads } from '../store/store.ts';
import type { AdmittedRun } from './port.ts';

export interface PromptSetting {
  readonly heal: typeof healTurn;
  /** Tokens that a model takes whose window is not known. */
  readonly windowTokens: number;
}

export interface BuiltPrompt {
  readonly prompt: readonly PromptItem[];
  /** How many of the chat's oldest turns the model's window has no room for. */
  readonly turnsLeftOut: number;
}

/** The earlier turns as they are stored and healed, then the new message: byte for byte the same each turn. */
export async function buildPrompt(
  reads: Reads,
  run: AdmittedRun,
  agent: LoadedAgent,
  { heal, windowTokens }: PromptSetting,
): Promise<BuiltPrompt> {
  const own: PromptItem = { kind: 'user', text: run.message };
  if (!run.hasHistory) return { prompt: [own], turnsLeftOut: 0 };
  const callIds = new Set<string>();
  const turns = (await storedTurns(reads, run)).map((turn) => heal(turn, callIds));
  const tools = JSON.stringify(
    agent.tools.map(({ name, description, inputSchema }) => [name, description, inputSchema]),
  );
  const others = promptBytes(agent.definition.instructions, [own]) + Buffer.byteLength(tools);
  const budget = historyBudget(modelWindow(agent.model, windowTokens), estimateTokens(others));
  const turnTokens = turns.map((items) => estimateTokens(promptBytes('', items)) + items.length * TOKENS_AN_ITEM);
  const turnsLeftOut = turnsToLeaveOut(turnTokens, budget);
  return { prompt: [...turns.slice(turnsLeftOut).flat(), own], turnsLeftOut };
}

/** What an item takes besides its text. */
const TOKENS_AN_ITEM = 4;

async function storedTurns(reads: Reads, run: AdmittedRun) {
  const [messages, stepRows] = await Promise.all([
    reads.all(history, { chatKey: run.chatKey }),
    reads.all(historySteps, { chatKey: run.chatKey }),
  ]);
  const turns = new Map<string, { message: string; answer: string; steps: StoredStep[] }>();
  for (const row of messages) {
    if (row.run_id === run.runId) continue;
    const text = JSON.parse(row.content_json) as string;
    const turn = turns.get(row.run_id);
    if (row.role === 'user') turns.set(row.run_id, { message: text, answer: '', steps: [] });
    else if (turn !== undefined) turn.answer = text;
  }
  for (const row of stepRows) {
    const { output } = stepOutcome(row.record_json);
    turns.get(row.run_id)?.steps.push({ kind: row.kind, callerAgent: row.caller_agent, output });
  }
  return [...turns.values()];
}
