import { parseOwnJson } from '@runwire/lib/strict-json.ts';

/** A call's arguments as a client reads them: an object, or the model's text if it is not JSON. */
export function toInput(text: string): unknown {
  try {
    return parseOwnJson(text.trim() === '' ? '{}' : text);
  } catch {
    return text;
  }
}

/** An output as a client reads it: the value if it is a JSON object or list, otherwise the text. */
export function toOutput(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return parseOwnJson(text);
  } catch {
    return text;
  }
}
