import {
  applyChanges,
  type ChatState,
  EMPTY_STATE,
  MAX_STATE_BYTES,
  type StateChange,
  tooLarge,
} from '../domain/chat/chat-state.ts';
import { stateAfter } from '../domain/run/state-steps.ts';
import type { Step } from '../domain/run/step.ts';

/** The steps that a run does not make again. */
export interface KnownSteps {
  /** Returns the steps of earlier attempts and the steps that a rerun keeps, in the order in which they were committed. */
  readonly own: () => readonly Step[];
  /** The steps of the runs that it continues. */
  readonly earlier: readonly Step[];
}

/**
 * The chat's state in one run:
 *
 *   start ──▶ T3 of a model's step: what its calls see ──▶ T3 of a call that changes it ──▶ …
 *
 * Nothing is read until code of the agency can use it. Steps are committed in the order in which `commit` was called, so what
 * this object knows is what the store has after the same step.
 */
export class RunState {
  readonly #read: () => Promise<ChatState>;
  readonly #known: KnownSteps;
  #loading: Promise<void> | null = null;
  #isLoaded = false;
  #start = EMPTY_STATE;
  /** The state when it was loaded: until then this attempt has changed nothing. */
  #loaded = EMPTY_STATE;
  #current = EMPTY_STATE;
  readonly #before = new WeakMap<Step, ChatState>();

  constructor(read: () => Promise<ChatState>, known: KnownSteps) {
    this.#read = read;
    this.#known = known;
  }

  /** The state at the run's start, in every attempt. */
  async atStart(): Promise<ChatState> {
    await this.load();
    return this.#start;
  }

  /** The state after the last step that changed it. */
  async now(): Promise<ChatState> {
    await this.load();
    return this.#current;
  }

  /** What the calls of a model's step see. It is the same in every attempt. */
  async beforeCalls(step: Step): Promise<ChatState> {
    await this.load();
    return this.#before.get(step) ?? this.#loaded;
  }

  /** True if a node that does not know the state would execute the run in another way. */
  get isUsed(): boolean {
    return this.#start !== EMPTY_STATE;
  }

  /** Returns a sentence for the model if the changes make the state too large, otherwise null. */
  problem(changes: readonly StateChange[]): string | null {
    const { bytes } = applyChanges(this.#current, changes);
    return bytes > MAX_STATE_BYTES ? tooLarge(bytes) : null;
  }

  /** Call it in the order of the T3s. Returns the state after the step, or null if the step does not change it. */
  commit(step: Step): ChatState | null {
    if (!this.#isLoaded) return null;
    if (step.kind === 'model') this.#before.set(step, this.#current);
    const after = stateAfter(this.#current, step);
    if (after === this.#current) return null;
    this.#current = after;
    return after;
  }

  load(): Promise<void> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<void> {
    this.#start = await this.#read();
    this.#current = this.#start;
    // An approved call of an earlier run sees what has happened since.
    for (const step of this.#known.earlier) this.#before.set(step, this.#start);
    for (const step of this.#known.own()) {
      this.#before.set(step, this.#current);
      this.#current = stateAfter(this.#current, step);
    }
    this.#loaded = this.#current;
    this.#isLoaded = true;
  }
}

/** The state in a run that is only shown: no call is made there. */
export const emptyRunState = (): RunState => new RunState(async () => EMPTY_STATE, { own: () => [], earlier: [] });
