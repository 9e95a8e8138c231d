import { isBlank } from '@runwire/lib/is-blank.ts';
import { isTooDeep } from '@runwire/models';
import type { RunItem } from './events.ts';

export type ShownItem =
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string };

/**
 * A finished response as later prompts show it, within its run and in later turns: first the texts that are not blank, then
 * the calls, so that their outputs can follow directly. Providers refuse a blank assistant message, and Chat Completions
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
 * If the arguments are no JSON object, or are too deep, the call's output has told the model. Some providers refuse a prompt that contains
 * such arguments, and with it every later turn of the chat, so an empty object is shown instead.
 */
function shownArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !isTooDeep(text) ? text : '{}';
  } catch {
    return '{}';
  }
}
