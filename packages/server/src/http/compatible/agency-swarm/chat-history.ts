import type { RequestTurn } from '../../../admission/completion-request.ts';
import type { SentInstructions } from '../caller-instructions.ts';
import type { Fields } from '../fields.ts';
import { HistoryTurns } from '../history-turns.ts';
import { type PartRules, readContent } from '../message-parts.ts';

export interface ChatHistory {
  readonly turns: readonly RequestTurn[];
  readonly instructions: readonly SentInstructions[];
}

/**
 * Reads `chat_history`: earlier `new_messages`, as this API and agency-swarm's own server send them. The items
 * between agents, which have a `callerAgent`, are left out: the user did not take part in them.
 */
export function readChatHistory(items: readonly Fields[], rules: PartRules): ChatHistory {
  const turns = new HistoryTurns();
  const instructions: SentInstructions[] = [];
  for (const item of items) {
    if ((item.text('callerAgent') ?? '') !== '' && item.text('callerAgent') !== 'None') continue;
    const type = item.text('type') ?? 'message';
    if (type === 'message') readMessage(item, rules, turns, instructions);
    else if (type === 'function_call') {
      turns.call(item.requiredText('call_id'), item.requiredText('name'), item.text('arguments') ?? '{}');
    } else if (type === 'function_call_output') {
      const output = item.any('output');
      turns.output(item.requiredText('call_id'), typeof output === 'string' ? output : JSON.stringify(output));
    }
    // Reasoning and hosted tools' calls are bound to the provider that made them.
  }
  return { turns: turns.turns, instructions };
}

function readMessage(item: Fields, rules: PartRules, turns: HistoryTurns, instructions: SentInstructions[]): void {
  const role = item.requiredText('role');
  const { text, attachments } = readContent(item, 'content', rules);
  if (role === 'user') turns.user(text, attachments);
  else if (role === 'assistant') turns.assistant(text, item.text('agent'));
  else if (role === 'system' || role === 'developer') instructions.push({ name: item.nameOf('content'), text });
  else throw item.refusal('role', 'must be `user`, `assistant`, `system` or `developer`');
}
