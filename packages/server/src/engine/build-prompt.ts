import type { LoadedAgent } from '../agencies/agencies.ts';
import type { PromptItem } from '../agent/ports.ts';
import { promptBytes } from '../agent/progress.ts';
import { historyBudget, turnsToLeaveOut } from '../chats/fit-window.ts';
import type { HistoryItem, healTurn, StoredStep } from '../chats/heal-history.ts';
import type { AttachedImage } from '../domain/attached-image.ts';
import { modelWindow } from '../domain/model-window.ts';
import { estimateTokens } from '../domain/usage.ts';
import type { ImageBlobs } from '../files/image-blobs.ts';
import { type AttachmentRow, attachmentsOfChat } from '../store/queries/attachments.ts';
import { history, historySteps } from '../store/queries/chats.ts';
import type { Reads } from '../store/store.ts';
import type { AdmittedRun } from './port.ts';
import { promptImage } from './prompt-image.ts';

export interface PromptSetting {
  readonly heal: typeof healTurn;
  /** Tokens that a model takes whose window is not known. */
  readonly windowTokens: number;
  readonly images: Pick<ImageBlobs, 'read'>;
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
  { heal, windowTokens, images }: PromptSetting,
): Promise<BuiltPrompt> {
  const shown = (item: HistoryItem): PromptItem =>
    item.kind === 'user' && item.images !== undefined
      ? { ...item, images: item.images.map((image) => promptImage(image, run.runId, images)) }
      : (item as PromptItem);
  const own = shown({
    kind: 'user',
    text: run.message,
    ...(run.images.length === 0 ? {} : { images: run.images }),
  });
  if (!run.hasHistory) return { prompt: [own], turnsLeftOut: 0 };
  const callIds = new Set<string>();
  const turns = (await storedTurns(reads, run)).map((turn) => heal(turn, callIds).map(shown));
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
  const [messages, stepRows, attachmentRows] = await Promise.all([
    reads.all(history, { chatKey: run.chatKey }),
    reads.all(historySteps, { chatKey: run.chatKey }),
    reads.all(attachmentsOfChat, { chatKey: run.chatKey }),
  ]);
  const turns = new Map<string, { message: string; images: AttachedImage[]; answer: string; steps: StoredStep[] }>();
  const failed = new Set<string>();
  for (const row of messages) {
    if (row.run_id === run.runId) continue;
    const text = JSON.parse(row.content_json) as string;
    const turn = turns.get(row.run_id);
    if (row.role === 'user') turns.set(row.run_id, { message: text, images: [], answer: '', steps: [] });
    else if (turn !== undefined) turn.answer = text;
    if (row.status === 'failed') failed.add(row.run_id);
  }
  for (const row of stepRows) {
    const { output } = JSON.parse(row.record_json) as Pick<StoredStep, 'output'>;
    turns.get(row.run_id)?.steps.push({ kind: row.kind, callerAgent: row.caller_agent, output });
  }
  for (const row of attachmentRows) {
    // "Failed turn: none of its attachments is sent again."
    if (!failed.has(row.run_id)) turns.get(row.run_id)?.images.push(attachedImage(row));
  }
  return [...turns.values()];
}

function attachedImage(row: AttachmentRow): AttachedImage {
  return {
    runId: row.run_id,
    position: row.position,
    blobKey: row.blob_key,
    mediaType: row.media_type,
    sizeBytes: row.size_bytes,
    detail: row.detail,
  };
}
