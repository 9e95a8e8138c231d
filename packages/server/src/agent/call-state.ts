import type { CallState as ShownState } from '@runwire/agency';
import { isDeeperThan } from '@runwire/lib/strict-json.ts';
import {
  type ChatState,
  entryBytes,
  MAX_STATE_BYTES,
  MAX_STATE_DEPTH,
  type StateChange,
  tooLarge,
} from '../domain/chat/chat-state.ts';

/** The chat's state as one call of a tool sees it. Its changes count if the call succeeds. */
export class CallState {
  /** The state before the call. */
  readonly before: ChatState;
  readonly #changes = new Map<string, string | null>();
  #bytes: number;
  #isOpen = true;

  constructor(before: ChatState) {
    this.before = before;
    this.#bytes = before.bytes;
  }

  /** What the tool gets. Its functions also work if the tool takes them from the object. */
  readonly shown: ShownState = {
    get: (key) => {
      const json = this.#find(key);
      return json === null ? undefined : JSON.parse(json);
    },
    set: (key, value) => this.#set(key, value),
  };

  /** Ends the call, and returns its changes in the order in which their keys were set first. */
  end(): readonly StateChange[] {
    this.#isOpen = false;
    return [...this.#changes];
  }

  #find(key: string): string | null {
    const changed = this.#changes.get(key);
    return changed === undefined ? (this.before.values.get(key) ?? null) : changed;
  }

  #set(key: string, value: unknown): void {
    if (!this.#isOpen) throw new Error('The call has ended, so it cannot change the state of the chat any more.');
    if (typeof key !== 'string') throw new TypeError('A key of the state must be a string.');
    const json = value === undefined ? null : toJson(key, value);
    const earlier = this.#find(key);
    const removed = earlier === null ? 0 : entryBytes(key, earlier);
    const bytes = this.#bytes - removed + (json === null ? 0 : entryBytes(key, json));
    if (bytes > MAX_STATE_BYTES) throw new RangeError(tooLarge(bytes));
    this.#bytes = bytes;
    this.#changes.set(key, json);
  }
}

/** Changes of another process are in the outcome already. */
export function withChanges<Outcome extends { readonly status: 'completed' | 'failed' }>(
  outcome: Outcome,
  changes: readonly StateChange[],
): Outcome {
  return outcome.status === 'failed' || changes.length === 0 ? outcome : { ...outcome, state: changes };
}

function toJson(key: string, value: unknown): string {
  // Functions and symbols have no JSON.
  const json: string | undefined = JSON.stringify(value);
  const about = `The value of \`${key.slice(0, 100)}\` in the state`;
  if (json === undefined) throw new TypeError(`${about} must be JSON, but it is a ${typeof value}.`);
  if (isDeeperThan(json, MAX_STATE_DEPTH))
    throw new RangeError(`${about} is nested deeper than ${MAX_STATE_DEPTH} levels.`);
  return json;
}
