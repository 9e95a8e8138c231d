import { parseOwnJson } from '@runwire/lib/strict-json.ts';

/** A chat's state has at most so many bytes as JSON. */
export const MAX_STATE_BYTES = 64 * 1024;

/** Values may be nested as deep as in requests, so that a caller can send back what it read. */
export const MAX_STATE_DEPTH = 64;

/** The values that tools keep in a chat, and the agent with which its next run begins. */
export interface ChatState {
  /** Each value's JSON by its key. Keys come from people's code, so they are never names of an object's fields. */
  readonly values: ReadonlyMap<string, string>;
  /** The size as JSON. */
  readonly bytes: number;
  /** The agent to which a lasting hand-off led. Null if the entry point begins. */
  readonly agent: string | null;
}

export const EMPTY_STATE: ChatState = { values: new Map(), bytes: 2, agent: null };

/** A key's new value as JSON. Null removes the key. */
export type StateChange = readonly [key: string, json: string | null];

/** How many bytes a value adds. Every value counts a comma, also the first one. */
export const entryBytes = (key: string, json: string): number =>
  Buffer.byteLength(JSON.stringify(key)) + Buffer.byteLength(json) + 2;

/** Reads a stored state. */
export function parseState(json: string, agent: string | null = null): ChatState {
  const entries = Object.entries(parseOwnJson(json) as object);
  return toState(new Map(entries.map(([key, value]) => [key, JSON.stringify(value)])), agent);
}

export const stateJson = ({ values }: ChatState): string =>
  `{${[...values].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`;

/** Returns the values as people's code and callers get them. Each call makes a new object. */
export const stateObject = (state: ChatState): Readonly<Record<string, unknown>> =>
  state.values.size === 0 ? {} : (parseOwnJson(stateJson(state)) as Record<string, unknown>);

function toState(values: ReadonlyMap<string, string>, agent: string | null): ChatState {
  let bytes = values.size === 0 ? 2 : 1;
  for (const [key, json] of values) bytes += entryBytes(key, json);
  return { values, bytes, agent };
}

export function applyChanges(state: ChatState, changes: readonly StateChange[]): ChatState {
  const values = new Map(state.values);
  for (const [key, json] of changes) {
    if (json === null) values.delete(key);
    else values.set(key, json);
  }
  return toState(values, state.agent);
}

/** Changes as callers read them. */
export const changesJson = (changes: readonly StateChange[]) => ({
  set: Object.fromEntries(changes.flatMap(([key, json]) => (json === null ? [] : [[key, parseOwnJson(json)]]))),
  removed: changes.flatMap(([key, json]) => (json === null ? [key] : [])),
});

/** A sentence about a state that is too large, for the tool's author and the model. */
export const tooLarge = (bytes: number): string =>
  `The state of the chat would have ${bytes} bytes as JSON, and at most ${MAX_STATE_BYTES} are allowed.`;
