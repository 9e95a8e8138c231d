import type { Runwire } from '@runwire/client';
import { parseJsonObject } from '../json-object.ts';
import type { RecordedRun } from './eval-case.ts';
import { callsIn } from './eval-run.ts';

type Context = RecordedRun['userContext'];

/** A run as a line for recorded.jsonl, and what is lost. */
interface ReadRun {
  readonly run: RecordedRun;
  /** True if messages had files or images. Evals cannot have them. */
  readonly lacksAttachments: boolean;
}

export async function readRun(client: Runwire, runId: string, userContext: Context): Promise<ReadRun> {
  const run = await client.runs.get({ runId });
  const { apiIntegrationId, chatId, agent, status, continues, chatDeleted } = run;
  if (chatDeleted) throw new Error(`The chat of ${runId} was deleted, so its messages are gone.`);
  if (run.completedAt === null) throw new Error(`${runId} has not ended (${status}); record it afterwards.`);
  if (continues !== null) {
    throw new Error(
      `${runId} answers the questions of ${continues}, so it has no message of its own; record that run.`,
    );
  }
  const place = { apiIntegrationId, runId, chatId, usageRequestId: null, lastEventId: 0 };
  const { newMessages, text } = await client.attach(place).result();
  const [first] = newMessages as readonly Item[];
  const message = typeof first?.content === 'string' ? first.content : '';
  const shown = await readPrompt(client, runId);
  const recorded = {
    ...{ runId, agent, message, history: toHistory(shown) },
    ...(userContext === undefined ? {} : { userContext }),
    ...{ text, calls: [...callsIn(newMessages).values()] },
  };
  return { run: recorded, lacksAttachments: shown.some(hasAttachment) };
}

const hasAttachment = ({ attachments = [] }: Item) => attachments.length > 0;

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly { readonly text?: string }[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
  readonly failed?: boolean;
  readonly attachments?: readonly unknown[];
}

/** Reads what the first model step was shown. */
async function readPrompt(client: Runwire, runId: string): Promise<readonly Item[]> {
  let first: number | null = null;
  for await (const { step, kind } of client.runs.steps({ runId })) if (kind === 'model') first = step;
  if (first === null) return [];
  const { messages } = await client.runs.prompt({ runId, step: first });
  return messages as readonly Item[];
}

/** The turns before the run's message. */
function toHistory(items: readonly Item[]): RecordedRun['history'] {
  const last = items.findLastIndex(({ role }) => role === 'user');
  return items.slice(0, Math.max(last, 0)).flatMap(toHistoryItem);
}

function toHistoryItem(item: Item): RecordedRun['history'] {
  const { type, role, content, call_id: callId = '' } = item;
  const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('');
  if (role === 'user') return [{ role, content: text }];
  if (type === 'message') return [{ role: 'assistant', content: text }];
  if (type === 'function_call') {
    const call = { callId, tool: item.name ?? '', arguments: parseJsonObject(item.arguments ?? '') ?? {} };
    return [{ role: 'assistant', calls: [call] }];
  }
  if (type !== 'function_call_output') return [];
  return [{ role: 'tool', callId, output: item.output ?? '', ...(item.failed === true ? { failed: true } : {}) }];
}
