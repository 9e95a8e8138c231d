import { isUtf8 } from 'node:buffer';
import { memberName } from './member-name.ts';
import { DuplicateMember, NotJson, readJson } from './read-json.ts';

export interface StrictJsonLimits {
  readonly maxDepth: number;
  readonly maxValues: number;
}

/** The text was refused. The message is one sentence. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
}

/**
 * Parses JSON of callers. `JSON.parse` keeps the last of two equal members and accepts lone surrogates and any depth;
 * here they are refused, and so is invalid UTF-8, which decoding would replace silently. A scan before parsing counts
 * depth, values and members (a colon outside of strings is a member) at about a nanosecond per character. If a name
 * contains an escape or the count differs, the slower reader is used: it reads every name correctly and finds
 * duplicates.
 */
export function parseStrictJson(bytes: Buffer, limits: StrictJsonLimits): unknown {
  const text = bytes.toString('utf8');
  if (!isUtf8(bytes)) throw new JsonRefused(`The body is not valid UTF-8: see byte ${firstInvalidByte(bytes, text)}.`);
  if (text.charCodeAt(0) === 0xfeff) throw new JsonRefused('The body starts with a byte order mark; send it without.');
  const { members, escapes, escapedNames } = scan(text, limits);
  const value = escapedNames ? readSlowly(text) : readFast(text);
  if (walk(value, escapes, '') === members) return value;
  const whole = readSlowly(text);
  walk(whole, escapes, '');
  return whole;
}

/** Parses JSON that this server wrote. Callers may have chosen its names. */
export function parseOwnJson(text: string): unknown {
  return text.includes('\\') && scan(text, NO_LIMITS).escapedNames ? readJson(text) : JSON.parse(text);
}

/** True if the JSON text is nested deeper than this. */
export function isDeeperThan(text: string, maxDepth: number): boolean {
  // A shorter text cannot be: each level needs a character.
  if (text.length <= maxDepth) return false;
  try {
    scan(text, { ...NO_LIMITS, maxDepth });
    return false;
  } catch (error) {
    if (error instanceof JsonRefused) return true;
    throw error;
  }
}

const NO_LIMITS: StrictJsonLimits = { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };

function readFast(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // `JSON.parse` does not always report the position. The slower reader does, and it refuses the same texts.
    readSlowly(text);
    throw new JsonRefused('The body is not valid JSON.');
  }
}

function readSlowly(text: string): unknown {
  try {
    return readJson(text);
  } catch (error) {
    if (error instanceof NotJson) {
      const where = textPosition(text, error.offset);
      throw new JsonRefused(
        error.offset >= text.trimEnd().length
          ? `The body is not valid JSON: it ends too early, at ${where}.`
          : `The body is not valid JSON: see ${where}.`,
      );
    }
    if (!(error instanceof DuplicateMember)) throw error;
    const name = JSON.stringify(memberName(error.member));
    const where = textPosition(text, error.offset);
    throw new JsonRefused(`The body names the member ${name} twice in one object: see ${where}.`);
  }
}

/** Describes an offset for people: `line 3, column 7`, both counted from 1, in characters. */
function textPosition(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line += 1;
  let column = 1;
  for (const _ of before.slice(lineStart)) column += 1;
  return `line ${line}, column ${column}`;
}

/** Returns the offset, counted from 0. Decoding replaces invalid bytes, so the decoded text differs from there on. */
function firstInvalidByte(bytes: Buffer, decoded: string): number {
  const valid = Buffer.from(decoded, 'utf8');
  let at = 0;
  while (at < bytes.length && bytes[at] === valid[at]) at += 1;
  return at;
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

interface Scan {
  readonly members: number;
  readonly escapes: boolean;
  readonly escapedNames: boolean;
}

function scan(text: string, limits: StrictJsonLimits): Scan {
  let depth = 0;
  let members = 0;
  let separators = 0;
  let containers = 0;
  let escapes = false;
  let escapedNames = false;
  let isEscaped = false;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        isEscaped = false;
        for (i += 1; i < text.length && text.charCodeAt(i) !== QUOTE; i += 1) {
          if (text.charCodeAt(i) === BACKSLASH) {
            isEscaped = true;
            i += 1;
          }
        }
        escapes ||= isEscaped;
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
        // The string before a colon is a name.
        escapedNames ||= isEscaped;
        break;
      case COMMA:
        separators += 1;
        break;
    }
    // Each non-empty container has a first value, and each comma adds another.
    if (separators + containers > limits.maxValues) {
      throw new JsonRefused(`The body contains more than ${limits.maxValues} values.`);
    }
  }
  return { members, escapes, escapedNames };
}

/** Counts members and finds lone surrogates, which only an escape can contain. */
function walk(value: unknown, escapes: boolean, path: string): number {
  if (typeof value === 'string') {
    if (escapes && !value.isWellFormed()) {
      throw new JsonRefused(`${path === '' ? 'The body' : `\`${path}\``} contains a lone surrogate.`);
    }
    return 0;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new JsonRefused('The body contains a number that is too large.');
  }
  if (value === null || typeof value !== 'object') return 0;
  let members = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) members += walk(value[i], escapes, escapes ? `${path}[${i}]` : '');
    return members;
  }
  for (const key of Object.keys(value)) {
    if (escapes && !key.isWellFormed()) throw new JsonRefused('A member name in the body contains a lone surrogate.');
    const below = escapes ? getPath(path, key) : '';
    members += 1 + walk((value as Record<string, unknown>)[key], escapes, below);
  }
  return members;
}

function getPath(path: string, key: string): string {
  const name = memberName(key);
  return path === '' ? name : `${path}.${name}`;
}
