import { JsonRefused, parseStrictJson } from '../../lib/strict-json.ts';
import { againstPolicy, invalidPolicy } from './s3-error.ts';

/** What a field must be, or begin with. */
export interface FieldCondition {
  readonly kind: 'eq' | 'starts-with';
  /** In lower case: names of fields are the same in any. */
  readonly field: string;
  readonly value: string;
  readonly shown: string;
}

/** How many bytes the file may have; both ends included. */
export interface RangeCondition {
  readonly kind: 'range';
  readonly min: number;
  readonly max: number;
  readonly shown: string;
}

export interface Policy {
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  readonly conditions: readonly (FieldCondition | RangeCondition)[];
}

const LIMITS = { maxDepth: 8, maxValues: 2000 };
const RANGE = 'content-length-range';

/** Of the base64 text whose signature was found good. */
export function parsePolicy(text: string): Policy {
  const { expiration, conditions, ...others } = members(text);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidPolicy(`Unexpected: ${JSON.stringify(unknown)}`);
  if (expiration === undefined) throw invalidPolicy('Policy missing expiration.');
  const expiresAt = momentOf(expiration);
  if (conditions === undefined) throw invalidPolicy('Policy missing conditions.');
  if (!Array.isArray(conditions)) throw invalidPolicy("Invalid 'conditions' value: must be a List.");
  return { expiresAt, conditions: conditions.map(conditionOf) };
}

function members(text: string): Record<string, unknown> {
  if (text === '') throw invalidPolicy("Expecting '{' but found End-of-Input");
  const bytes = Buffer.from(text, 'base64');
  // Node passes over what is no base64; S3 does not.
  if (bytes.toString('base64') !== text) throw invalidPolicy('Invalid Base64.');
  let value: unknown;
  try {
    value = parseStrictJson(bytes, LIMITS);
  } catch (error) {
    // Two members of one name too: which of them counts, readers do not agree on.
    if (error instanceof JsonRefused) throw invalidPolicy('Invalid JSON.');
    throw error;
  }
  if (!isObject(value)) throw invalidPolicy("Expecting '{'.");
  return value;
}

function momentOf(expiration: unknown): number {
  const text = typeof expiration === 'string' ? expiration : JSON.stringify(expiration);
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  // `Date` takes the 30th of February for a day in March.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 19) !== text.slice(0, 19)) {
    throw invalidPolicy(`Invalid 'expiration' value: '${text}'`);
  }
  return at;
}

function conditionOf(condition: unknown): FieldCondition | RangeCondition {
  if (Array.isArray(condition)) return listCondition(condition);
  if (!isObject(condition)) throw invalidPolicy('Invalid condition test: must be a List or Object.');
  const [property, ...more] = Object.entries(condition);
  if (property === undefined || more.length > 0) {
    throw invalidPolicy('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.');
  }
  const [field, value] = property;
  if (typeof value !== 'string') throw invalidPolicy('Invalid Simple-Condition: value must be a string.');
  return { kind: 'eq', field: field.toLowerCase(), value, shown: shown(['eq', `$${field}`, value]) };
}

function listCondition(condition: readonly unknown[]): FieldCondition | RangeCondition {
  const [operation, left, right] = condition;
  if (operation === undefined) throw invalidPolicy('Invalid Condition: missing operation identifier.');
  if (operation !== 'eq' && operation !== 'starts-with' && operation !== RANGE) {
    const named = typeof operation === 'string' ? operation : JSON.stringify(operation);
    throw invalidPolicy(`Invalid Condition: unknown operation '${named}'.`);
  }
  if (condition.length !== 3) throw invalidPolicy(`Invalid Condition: '${operation}' takes exactly two arguments.`);
  if (operation === RANGE) return { kind: 'range', ...rangeOf(left, right, shown(condition)), shown: shown(condition) };
  if (typeof left !== 'string' || typeof right !== 'string') throw invalidPolicy('Invalid JSON.');
  if (!left.startsWith('$')) throw invalidPolicy(`Invalid Condition: field '${left}' must begin with '$'.`);
  return { kind: operation, field: left.slice(1).toLowerCase(), value: right, shown: shown(condition) };
}

function rangeOf(left: unknown, right: unknown, asShown: string): { min: number; max: number } {
  const [min, max] = [left, right].map((bound) => {
    // A text that is no number is a condition that nothing meets.
    if (typeof bound === 'string' && !/^\d{1,15}$/.test(bound)) throw conditionFailed(asShown);
    const bytes = Number(bound);
    if (!['number', 'string'].includes(typeof bound) || !Number.isSafeInteger(bytes) || bytes < 0) {
      throw invalidPolicy(`Invalid Condition: '${RANGE}' takes whole numbers from 0 on.`);
    }
    return bytes;
  }) as [number, number];
  return { min, max };
}

export const conditionFailed = (asShown: string) => againstPolicy(`Policy Condition failed: ${asShown}`);

const shown = (condition: readonly unknown[]) => `[${condition.map((part) => JSON.stringify(part)).join(', ')}]`;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
