/**
 * The arguments of a call as later prompts show them. A model that wrote no JSON object was told so in the call's
 * output; shown its own text again, some providers refuse the whole prompt, and with it the chat for ever.
 */
export function shownArguments(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
