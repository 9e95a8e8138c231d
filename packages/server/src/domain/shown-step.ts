import type { RunItem } from './events.ts';
import { isBlank } from './ids.ts';

export type ShownItem =
  | { readonly kind: 'assistant'; readonly text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly arguments: string };

/**
 * A finished response as later prompts show it, within its run and in later turns alike: its texts that are not blank,
 * then its calls, behind which their outputs follow. Providers refuse an assistant that says nothing, and Chat
 * Completions anything between a call and its output.
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
 * A model that wrote no JSON object was told so in the call's output; shown its own text again, some providers refuse
 * the whole prompt, and with it the chat for ever.
 */
function shownArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
