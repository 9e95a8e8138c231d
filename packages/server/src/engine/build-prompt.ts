import type { PromptItem } from '../agent/ports.ts';
import { history } from '../store/queries/chats.ts';
import type { Reads } from '../store/store.ts';
import type { AdmittedRun } from './port.ts';

/** The earlier messages as they are stored, then the new one: byte for byte the same each turn. */
export async function buildPrompt(reads: Reads, run: AdmittedRun): Promise<readonly PromptItem[]> {
  const own: PromptItem = { kind: 'user', text: run.message };
  if (!run.hasHistory) return [own];
  const prompt: PromptItem[] = [];
  for (const row of await reads.all(history, { chatKey: run.chatKey })) {
    if (row.run_id === run.runId) continue;
    const text = JSON.parse(row.content_json) as string;
    // A turn that ended before its first word left an empty answer, which providers refuse.
    if (row.role === 'assistant' && text === '') continue;
    prompt.push({ kind: row.role, text });
  }
  prompt.push(own);
  return prompt;
}
