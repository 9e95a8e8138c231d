import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import { sameArguments } from '../domain/run/same-arguments.ts';
import type { Step } from '../domain/run/step.ts';

/** What became of a call in the original run: its outcome, or nothing because it waited for an answer. */
export type RecordedOutcome = ToolOutputItem | 'waited';

type Call = Pick<ToolCallItem, 'agent' | 'callerAgent' | 'name' | 'text' | 'callId'>;

/**
 * The calls of the run that a rerun repeats. Calls are equal if agent, caller and tool are, and the arguments as JSON values. The
 * n-th call of equal ones gets what became of the n-th one in the original run, further ones what became of the last.
 */
export class RecordedCalls {
  readonly #recorded = new Map<string, RecordedOutcome[]>();
  /** How many of equal calls the rerun has made. */
  readonly #made = new Map<string, number>();
  readonly #found = new Map<string, RecordedOutcome | null>();

  /** `original`: the journal of the run and of the runs that it continues. `known`: the same of the rerun. Both in their order. */
  constructor(original: readonly Step[], known: readonly Step[]) {
    const outcomes = new Map<string, ToolOutputItem>();
    for (const { kind, output } of original) {
      const [first] = output;
      if (kind === 'tool' && first?.kind === 'tool_output') outcomes.set(first.callId, first);
    }
    for (const { output, asks } of original) {
      for (const item of output) {
        if (item.kind !== 'tool_call') continue;
        const outcome = outcomes.get(item.callId) ?? (asks?.[item.callId] === undefined ? null : 'waited');
        // A call that was cut off has no outcome.
        if (outcome === null) continue;
        const key = toKey(item);
        const equal = this.#recorded.get(key);
        if (equal === undefined) this.#recorded.set(key, [outcome]);
        else equal.push(outcome);
      }
    }
    // Assigned by the journal: a later attempt makes its calls in another order.
    for (const { output } of known) for (const item of output) if (item.kind === 'tool_call') this.find(item);
  }

  /** Returns null if the original run has no equal call. The same call gets the same answer each time. */
  find(call: Call): RecordedOutcome | null {
    let found = this.#found.get(call.callId);
    if (found !== undefined) return found;
    const key = toKey(call);
    const equal = this.#recorded.get(key) ?? [];
    const made = this.#made.get(key) ?? 0;
    this.#made.set(key, made + 1);
    found = equal[made] ?? equal.at(-1) ?? null;
    this.#found.set(call.callId, found);
    return found;
  }
}

const toKey = ({ agent, callerAgent, name, text }: Call) =>
  JSON.stringify([agent, callerAgent, name, sameArguments(text)]);
