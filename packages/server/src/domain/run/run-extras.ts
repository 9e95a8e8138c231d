import { validateJsonSchema } from '@runwire/lib/json-schema.ts';
import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { Refusal } from '../refusal.ts';
import type { RerunSettings } from './rerun.ts';

/** What a request adds to its own run, stored with the run. A takeover reads it. */
export interface RunExtras {
  /** Follow the root agent's instructions. Null if the request has none. */
  readonly instructions: string | null;
  /** The JSON Schema for the root agent's answer. Null if the request has none. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
  /** Returned as it was sent. Null if the request has none. */
  readonly metadata: Readonly<Record<string, string>> | null;
  /** The answer to the request is not the run's stream, so `onDisconnect` does not end the run. */
  readonly startsUnread?: true;
  /** The agent that begins the run, if a lasting hand-off chose another one than the entry point. */
  readonly begins?: string;
  /** Absent if the run is no rerun. */
  readonly rerun?: RerunSettings;
}

export const NO_EXTRAS: RunExtras = { instructions: null, outputSchema: null, metadata: null };

const MAX_INSTRUCTION_BYTES = 32 * 1024;
const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_PAIRS = 16;
const MAX_NAME_CHARACTERS = 64;
const MAX_VALUE_CHARACTERS = 512;

/** Returns the text for the column; null for a run without extras. The traceparent is given if traces are exported. */
export function toExtrasJson(extras: RunExtras, traceparent?: string): string | null {
  const { instructions, outputSchema, metadata, startsUnread, begins, rerun } = extras;
  const isEmpty =
    instructions === null &&
    outputSchema === null &&
    metadata === null &&
    startsUnread === undefined &&
    begins === undefined &&
    rerun === undefined &&
    traceparent === undefined;
  return isEmpty ? null : JSON.stringify({ ...extras, traceparent });
}

export function parseExtras(json: string | null): RunExtras {
  return json === null ? NO_EXTRAS : (parseOwnJson(json) as RunExtras);
}

/** The parent of the run's spans. Undefined if traces were off at its admission. */
export function storedTraceparent(json: string | null): string | undefined {
  return json === null ? undefined : (parseOwnJson(json) as { readonly traceparent?: string }).traceparent;
}

/** Returns the refusal for extras that no integration accepts, or null. Whether this one accepts them is decided later. */
export function checkExtras({ instructions, outputSchema, metadata }: RunExtras): Refusal | null {
  if (instructions !== null && Buffer.byteLength(instructions) > MAX_INSTRUCTION_BYTES) {
    return invalid(`\`instructions\` must have at most ${MAX_INSTRUCTION_BYTES} bytes.`);
  }
  if (metadata !== null && !isMetadata(metadata)) {
    return invalid(
      `\`metadata\` must have at most ${MAX_PAIRS} pairs, with names up to ${MAX_NAME_CHARACTERS} and texts up to ${MAX_VALUE_CHARACTERS} characters.`,
    );
  }
  return outputSchema === null ? null : checkSchema(outputSchema);
}

function isMetadata(metadata: NonNullable<RunExtras['metadata']>): boolean {
  const pairs = Object.entries(metadata);
  return (
    pairs.length <= MAX_PAIRS &&
    pairs.every(
      ([name, value]) =>
        typeof value === 'string' && name.length <= MAX_NAME_CHARACTERS && value.length <= MAX_VALUE_CHARACTERS,
    )
  );
}

function checkSchema(schema: NonNullable<RunExtras['outputSchema']>): Refusal | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    return invalid(`The JSON Schema for the answer must have at most ${MAX_SCHEMA_BYTES} bytes.`);
  }
  try {
    validateJsonSchema(schema);
    return null;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return invalid(`The schema for the answer is not a valid JSON Schema: ${problem}.`);
  }
}

const invalid = (sentence: string) => new Refusal('invalid_request', sentence);
