import {
  type ImportedAnswer,
  type ImportedCall,
  type ImportedTurn,
  importedText,
} from '../domain/chat/imported-turn.ts';
import type { ChatKey, RunId } from '../domain/ids.ts';
import { newId, newImportedId } from '../domain/ids.ts';
import type { MessageItem, RunItem, ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import type { StepOutcome } from '../domain/run/step.ts';
import { jsonRows } from '../store/queries/file-batches.ts';
import { insertImportedMessages, insertImportedSteps } from '../store/queries/imported-turns.ts';
import type { Tx } from '../store/store.ts';

interface NewChat {
  readonly chatKey: ChatKey;
  /** For turns that name no agent. */
  readonly agent: string;
  readonly now: number;
}

/**
 * Stores earlier turns as the first messages of a new chat: one statement for all messages, and one for all steps if there
 * are any. Resolves to the ids under which attachments of the turns are stored.
 */
export async function storeImported(tx: Tx, chat: NewChat, turns: readonly ImportedTurn[]): Promise<readonly RunId[]> {
  const { chatKey, now } = chat;
  const stored = turns.map((turn) => ({ turn, id: newImportedId() }));
  const messages = stored.flatMap(({ turn, id }, index) => messageRows(turn, chat.agent, id, index * 2));
  const steps = stored.flatMap(({ turn, id }) => stepRows(turn, chat, id));
  await Promise.all([
    tx.run(insertImportedMessages, { chatKey, now, messages: jsonRows(messages) }),
    steps.length > 0 && tx.run(insertImportedSteps, { now, steps: jsonRows(steps) }),
  ]);
  return stored.map(({ id }) => id);
}

function messageRows(turn: ImportedTurn, runAgent: string, run: RunId, before: number) {
  const agent = turn.agent ?? runAgent;
  const row = (role: 'user' | 'assistant', position: number, text: string) => ({
    id: newId('msg'),
    run,
    role,
    position,
    agent,
    content: JSON.stringify(text),
  });
  return [row('user', before + 1, turn.message), row('assistant', before + 2, importedText(turn))];
}

/** A turn with one text needs no steps: its message is enough. */
function stepRows({ answers, agent }: ImportedTurn, { agent: runAgent, now }: NewChat, run: RunId) {
  if (answers.length < 2 && answers.every(({ kind }) => kind === 'text')) return [];
  const by = { agent: agent ?? runAgent, callerAgent: null, timestamp: now * 1000 };
  return answers.map((answer, index) => {
    const outcome: StepOutcome = { usage: null, output: toItems(by, answer) as StepOutcome['output'] };
    return { run, step: index + 1, agent: by.agent, tools: toolNames(answer), record: JSON.stringify(outcome) };
  });
}

/** A search finds them without the record, which can have long outputs. */
const toolNames = (answer: ImportedAnswer): string | null =>
  answer.kind === 'text' ? null : [...new Set(answer.calls.map(({ tool }) => tool))].join(' ');

type By = Pick<MessageItem, 'agent' | 'callerAgent' | 'timestamp'>;

function toItems(by: By, answer: ImportedAnswer): RunItem[] {
  if (answer.kind === 'text') {
    const { text } = answer;
    return [{ kind: 'message', id: newId('msg'), ...by, outputIndex: 0, text, complete: true } satisfies MessageItem];
  }
  return answer.calls.flatMap((call, outputIndex) => callItems(by, call, outputIndex));
}

function callItems(by: By, { callId, tool, argumentsText, output, failed }: ImportedCall, outputIndex: number) {
  const call: ToolCallItem = {
    kind: 'tool_call',
    id: newId('fc'),
    ...by,
    outputIndex,
    callId,
    name: tool,
    text: argumentsText,
    complete: true,
  };
  if (output === null) return [call];
  const result: ToolOutputItem = { kind: 'tool_output', ...by, callId, text: output, ...(failed ? { failed } : {}) };
  return [call, result];
}
