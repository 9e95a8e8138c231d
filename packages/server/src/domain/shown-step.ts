import type { RunItem } from './events.ts';
import { isBlank } from './ids.ts';

export type ShownItem =
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string };

/**
 * Converts a finished response for later prompts of its run and of later turns: texts that are not blank, then calls,
 * so that the outputs of the calls can follow them. Providers refuse an empty assistant message, and Chat Completions
 * refuses anything between a call and its output.
 */
export function shownStep(output: readonly RunItem[]): ShownItem[] {
  const texts: ShownItem[] = [];
  const calls: ShownItem[] = [];
  for (const item of output) {
    if (item.kind === 'message' && !isBlank(item.text)) texts.push({ kind: 'assistant', text: item.text });
    if (item.kind === 'tool_call') {
      calls.push({ kind: 'tool_call', callId: item.callId, name: item.name, arguments: shownArguments(item.text) });
    }
  }
  return [...texts, ...calls];
}

/**
 * If the model wrote no JSON object, the output of the call told it so. The invalid text itself is not sent again,
 * because some providers would refuse the prompt, and the chat could never continue.
 */
function shownArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
