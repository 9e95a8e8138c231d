import type { ToolOutputItem } from '../domain/run/events.ts';
import type { Step } from '../domain/run/step.ts';
import type { Exchange } from './team.ts';

const NO_STEPS: ReadonlyMap<string, Step> = new Map();
const NO_OUTCOMES: ReadonlyMap<string, ToolOutputItem> = new Map();
/** Calls are only deleted after the constructor, so this set stays empty. */
const NO_CALLS = new Set<string>();

/**
 * The steps that earlier attempts of the run finished, and those of the runs that it continues. A loop finds its model
 * steps by their index in the loop and the outcomes of its calls by the call id, so the order in which parallel loops took
 * turns decides nothing.
 */
export class FinishedSteps {
  readonly #modelSteps: ReadonlyMap<string, Step>;
  readonly #outcomes: ReadonlyMap<string, ToolOutputItem>;
  readonly #open: Set<string>;
  #exchanges: Map<string, Exchange[]> | null = null;
  readonly modelSteps: number;
  readonly handOffs: number;

  /**
   * `earlier` are the steps of the runs that this one continues. `leftBetweenSteps`: no call was under way when the earlier
   * attempt ended, so a call without an outcome was not made.
   */
  constructor(steps: readonly Step[], leftBetweenSteps: boolean, earlier: readonly Step[] = []) {
    this.modelSteps = 0;
    this.handOffs = 0;
    this.#modelSteps = NO_STEPS;
    this.#outcomes = NO_OUTCOMES;
    this.#open = NO_CALLS;
    // A new run has none, and most runs are new.
    if (steps.length === 0 && earlier.length === 0) return;
    const modelSteps = new Map<string, Step>();
    const outcomes = new Map<string, ToolOutputItem>();
    this.#modelSteps = modelSteps;
    this.#outcomes = outcomes;
    this.#open = new Set();
    let handOffs = 0;
    const lengths = new Map<string, number>();
    const begun = new Set<string>();
    for (const step of [...earlier, ...steps]) {
      if (step.kind === 'begin' && step.callId !== null) begun.add(step.callId);
      if (step.kind === 'model') {
        // An earlier version did not store the index. The steps of one loop are in their order.
        const index = step.indexInLoop === 0 ? (lengths.get(step.loop) ?? 0) + 1 : step.indexInLoop;
        lengths.set(step.loop, index);
        modelSteps.set(stepKey(step.loop, index), step);
      }
      const [output] = step.output;
      if (step.kind !== 'tool' || output?.kind !== 'tool_output') continue;
      outcomes.set(output.callId, output);
      if (output.handoff !== undefined && !earlier.includes(step)) handOffs += 1;
      if (step.asked !== undefined && step.status === 'completed') {
        this.addExchange(step.agent, step.asked, output);
      }
    }
    this.modelSteps = steps.filter(({ kind }) => kind === 'model' || kind === 'summary').length;
    this.handOffs = handOffs;
    if (leftBetweenSteps) return;
    for (const { output, asks } of this.#modelSteps.values()) {
      for (const item of output) {
        if (item.kind !== 'tool_call' || this.#outcomes.has(item.callId)) continue;
        // A call that asks begins only after its answer, and a step records that.
        if (asks?.[item.callId] === undefined || begun.has(item.callId)) this.#open.add(item.callId);
      }
    }
  }

  modelStep(loop: string, index: number): Step | undefined {
    return this.#modelSteps.size === 0 ? undefined : this.#modelSteps.get(stepKey(loop, index));
  }

  outcome(callId: string): ToolOutputItem | undefined {
    return this.#outcomes.get(callId);
  }

  /** True if an earlier attempt may have made the call, and its outcome is not known. */
  isOpen(callId: string): boolean {
    return this.#open.has(callId);
  }

  /** This attempt knows the call's outcome, or has entered its loop. */
  close(callId: string): void {
    this.#open.delete(callId);
  }

  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  addExchange(sender: string, { agent, message }: NonNullable<Step['asked']>, output: ToolOutputItem): void {
    const pair = key(sender, agent);
    const exchange = { message, answer: output.text, answeredAt: output.timestamp };
    this.#exchanges ??= new Map();
    const known = this.#exchanges.get(pair);
    if (known === undefined) this.#exchanges.set(pair, [exchange]);
    else known.push(exchange);
  }

  /**
   * The exchanges of this run that were complete when the sender made its call. Later ones, of a parallel loop of the same
   * agent, do not count: a later attempt enters the call's loop again and must see what the first attempt saw.
   */
  exchanges(sender: string, recipient: string, calledAt: number): readonly Exchange[] {
    const known = this.#exchanges?.get(key(sender, recipient)) ?? [];
    return known.filter(({ answeredAt }) => answeredAt < calledAt);
  }
}

const stepKey = (loop: string, index: number) => `${index} ${loop}`;

const key = (...parts: readonly unknown[]) => JSON.stringify(parts);
