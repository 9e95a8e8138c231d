import { isUtf8 } from 'node:buffer';

export interface StrictJsonLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
}

/** Why a text is not taken; one sentence. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

/**
 * `JSON.parse` for text from outside. It keeps the last of two equal members, takes lone surrogates and any depth;
 * here these are refused, and so is invalid UTF-8, which decoding would repair silently. A scan before parsing counts
 * depth, values and members (a colon outside strings is a member), at about a nanosecond a character.
 */
export function parseStrictJson(bytes: Buffer, limits: StrictJsonLimits): unknown {
  if (!isUtf8(bytes)) throw new JsonRefused('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) throw new JsonRefused('The body starts with a byte order mark; send it without.');
  const { members, escapes } = scan(text, limits);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new JsonRefused('The body is not valid JSON.');
  }
  const seen = walk(value, escapes, '');
  if (seen !== members) {
    throw new JsonRefused(`The body names the member ${JSON.stringify(duplicateMember(text))} twice in one object.`);
  }
  return value;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

function scan(text: string, limits: StrictJsonLimits): { members: number; escapes: boolean } {
  let depth = 0;
  let members = 0;
  let separators = 0;
  let containers = 0;
  let escapes = false;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        for (i += 1; i < text.length && text.charCodeAt(i) !== QUOTE; i += 1) {
          if (text.charCodeAt(i) === BACKSLASH) {
            escapes = true;
            i += 1;
          }
        }
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth += 1;
        containers += 1;
        if (depth > limits.maxDepth) {
          throw new JsonRefused(`The body is nested deeper than ${limits.maxDepth} levels.`);
        }
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COLON:
        members += 1;
        break;
      case COMMA:
        separators += 1;
        break;
    }
    // Each container but an empty one begins a first value, each comma another.
    if (separators + containers > limits.maxValues) {
      throw new JsonRefused(`The body holds more than ${limits.maxValues} values.`);
    }
  }
  return { members, escapes };
}

/** Counts members, and looks for lone surrogates, which only an escape can have brought in. */
function walk(value: unknown, escapes: boolean, path: string): number {
  if (typeof value === 'string') {
    if (escapes && !value.isWellFormed()) {
      throw new JsonRefused(`${path === '' ? 'The body' : `\`${path}\``} holds a lone surrogate.`);
    }
    return 0;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new JsonRefused('The body holds a number that is too large.');
  }
  if (value === null || typeof value !== 'object') return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) members += walk(value[i], escapes, escapes ? `${path}[${i}]` : '');
    return members;
  }
  for (const key of Object.keys(value)) {
    if (escapes && !key.isWellFormed()) throw new JsonRefused('A member’s name in the body holds a lone surrogate.');
    const below = escapes ? (path === '' ? key : `${path}.${key}`) : '';
    members += 1 + walk((value as Record<string, unknown>)[key], escapes, below);
  }
  return members;
}

/** Only for the message: which member it is. The text is known to be JSON. */
function duplicateMember(text: string): string {
  const objects: (Set<string> | null)[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/gs;
  let lastString = '';
  for (const [token] of text.matchAll(tokens)) {
    if (token.startsWith('"')) lastString = token;
    else if (token === '{') objects.push(new Set());
    else if (token === '[') objects.push(null);
    else if (token === '}' || token === ']') objects.pop();
    else {
      const name = JSON.parse(lastString) as string;
      const names = objects.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return '';
}
