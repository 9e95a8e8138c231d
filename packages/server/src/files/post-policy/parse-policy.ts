import { JsonRefused, parseStrictJson } from '@runwire/lib/strict-json.ts';
import { againstPolicy, invalidPolicy, type S3Error } from './s3-error.ts';

/** A value that a field must equal or begin with. */
export interface FieldCondition {
  readonly kind: 'eq' | 'starts-with';
  /** In lower case, because S3 compares the names of fields regardless of case. */
  readonly field: string;
  readonly value: string;
  /** The condition as S3 prints it in an error. */
  readonly shown: string;
}

/** The file's allowed size, both limits inclusive. */
export interface RangeCondition {
  readonly kind: 'range';
  readonly min: number;
  readonly max: number;
}

/** A condition that S3 parses and that no form meets: its field has no `$`, or its range is no number. */
export interface UnmetCondition {
  readonly kind: 'unmet';
  readonly shown: string;
}

export type Condition = FieldCondition | RangeCondition | UnmetCondition;

export interface Policy {
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  readonly conditions: readonly Condition[];
}

const LIMITS = { maxDepth: 8, maxValues: 2000 };
/** S3 keeps sizes as 64-bit integers. */
const MAX_SIZE = 2n ** 63n - 1n;

/** Parses the base64 text of a policy whose signature is good. */
export function parsePolicy(text: string): Policy {
  const { expiration, conditions, ...others } = members(text);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidPolicy(`Unexpected: ${JSON.stringify(unknown)}`);
  if (expiration === undefined) throw invalidPolicy('Policy missing expiration.');
  if (conditions === undefined) throw invalidPolicy('Policy missing conditions.');
  const expiresAt = getMoment(expiration);
  if (!Array.isArray(conditions)) throw invalidPolicy("Invalid 'conditions' value: must be a List.");
  return { expiresAt, conditions: conditions.map(toCondition) };
}

function members(text: string): Record<string, unknown> {
  if (text === '') throw invalidPolicy("Expecting '{' but found End-of-Input");
  const json = decoded(text);
  let value: unknown;
  try {
    value = parseStrictJson(json, LIMITS);
  } catch (error) {
    // This includes two members of one name: parsers differ in which of them they use.
    if (error instanceof JsonRefused) throw invalidJson();
    throw error;
  }
  if (!isObject(value) || hasOtherThanWholeNumbers(json.toString())) throw invalidJson();
  return value;
}

/** Node's decoder ignores characters that are not base64, so the result is encoded again and compared. */
function decoded(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const padded = bytes.toString('base64');
  // The padding may be missing.
  if (text !== padded && text !== padded.replace(/=+$/, '')) throw invalidPolicy('invalid Base64 encoding.');
  return bytes;
}

/** S3's parser knows no other numbers: it calls a policy with `512.0` invalid JSON. `JSON.parse` reads that as 512. */
function hasOtherThanWholeNumbers(json: string): boolean {
  const outsideStrings = json.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return /-|\d[.eE]/.test(outsideStrings);
}

function getMoment(expiration: unknown): number {
  if (typeof expiration !== 'string') throw invalidJson();
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(expiration) ? Date.parse(expiration) : Number.NaN;
  // `Date` reads the 30th of February as a day in March.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 19) !== expiration.slice(0, 19)) {
    throw invalidPolicy(`Invalid 'expiration' value: '${expiration}'`);
  }
  return at;
}

function toCondition(condition: unknown): Condition {
  if (Array.isArray(condition)) return listCondition(condition);
  if (!isObject(condition)) throw invalidPolicy('Invalid condition test: must be a List or Object.');
  const [property, ...more] = Object.entries(condition);
  if (property === undefined || more.length > 0) {
    throw invalidPolicy('Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.');
  }
  const [field, value] = property;
  if (value === null) throw invalidJson();
  if (typeof value !== 'string') throw invalidPolicy('Invalid Simple-Condition: value must be a string.');
  return { kind: 'eq', field: field.toLowerCase(), value, shown: shown(['eq', `$${field}`, value]) };
}

/** `["eq", "$key", "a"]`, `["starts-with", "$key", "a"]` or `["content-length-range", 1, 10]`. */
function listCondition(condition: readonly unknown[]): Condition {
  const [named, left, right] = condition;
  if (named === undefined) throw invalidPolicy('Invalid Condition: missing operation identifier.');
  if (typeof named !== 'string') throw invalidJson();
  const operation = named.toLowerCase();
  if (operation !== 'eq' && operation !== 'starts-with' && operation !== 'content-length-range') {
    throw invalidPolicy(`Invalid Condition: unknown operation '${named}'.`);
  }
  if (condition.length !== 3) throw invalidPolicy(`Invalid ${named}: wrong number of arguments.`);
  if (operation === 'content-length-range') return rangeCondition(condition, left, right);
  if (typeof left !== 'string' || (typeof right !== 'string' && typeof right !== 'number')) throw invalidJson();
  const asShown = shown(condition);
  if (!left.startsWith('$')) return { kind: 'unmet', shown: asShown };
  return { kind: operation, field: left.slice(1).toLowerCase(), value: String(right), shown: asShown };
}

function rangeCondition(condition: readonly unknown[], left: unknown, right: unknown): RangeCondition | UnmetCondition {
  const [min, max] = [measureSize(left), measureSize(right)];
  if (min === null || max === null) return { kind: 'unmet', shown: shown(condition) };
  return { kind: 'range', min, max };
}

/** Returns null if the bound is text that is no size: S3 then reports that the condition failed. */
function measureSize(bound: unknown): number | null {
  if (typeof bound === 'string') return /^\d{1,19}$/.test(bound) && BigInt(bound) <= MAX_SIZE ? Number(bound) : null;
  if (typeof bound !== 'number' || bound > Number(MAX_SIZE)) throw invalidJson();
  return bound;
}

export const conditionFailed = (asShown: string): S3Error => againstPolicy(`Policy Condition failed: ${asShown}`);

const invalidJson = (): S3Error => invalidPolicy('Invalid JSON.');

const shown = (condition: readonly unknown[]) => `[${condition.map((part) => JSON.stringify(part)).join(', ')}]`;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
