import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import { sameArguments } from '../domain/run/same-arguments.ts';
import type { Step } from '../domain/run/step.ts';

/** What became of a call in the original run: its outcome, or nothing because it waited for an answer. */
export type RecordedOutcome = ToolOutputItem | 'waited';

type Call = Pick<ToolCallItem, 'agent' | 'callerAgent' | 'name' | 'text' | 'callId'>;

/**
 * The calls that the original run made. Calls are equal if agent, caller and tool are, and the arguments as JSON values. The
 * n-th call of equal ones gets what became of the n-th one in the original run, further ones what became of the last.
 */
export class RecordedCalls {
  readonly #original: readonly Step[];
  readonly #known: readonly Step[];
  /** Null until the first call. */
  #recorded: ReadonlyMap<string, readonly RecordedOutcome[]> | null = null;
  /** How often the rerun has made an equal call. */
  readonly #made = new Map<string, number>();
  readonly #found = new Map<string, RecordedOutcome | null>();

  /** `original`: the run's journal, with the runs that it continues. `known`: the same for the rerun. Both in their order. */
  constructor(original: readonly Step[], known: readonly Step[]) {
    this.#original = original;
    this.#known = known;
  }

  /** Returns null if the original run has no equal call. The same call gets the same answer each time. */
  find(call: Call): RecordedOutcome | null {
    if (this.#recorded === null) {
      this.#recorded = groupOutcomes(this.#original);
      // Assigned by the journal: a later attempt makes its calls in another order.
      for (const item of this.#known.flatMap(listCalls)) this.find(item);
    }
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

/** What became of equal calls, in their order. */
function groupOutcomes(steps: readonly Step[]): ReadonlyMap<string, readonly RecordedOutcome[]> {
  const outcomes = new Map<string, ToolOutputItem>();
  for (const { kind, output } of steps) {
    const [first] = output;
    if (kind === 'tool' && first?.kind === 'tool_output') outcomes.set(first.callId, first);
  }
  const grouped = new Map<string, RecordedOutcome[]>();
  for (const step of steps) {
    for (const call of listCalls(step)) {
      const outcome = outcomes.get(call.callId) ?? (step.asks?.[call.callId] === undefined ? null : 'waited');
      // A call that was cut off has no outcome.
      if (outcome === null) continue;
      const key = toKey(call);
      const equal = grouped.get(key);
      if (equal === undefined) grouped.set(key, [outcome]);
      else equal.push(outcome);
    }
  }
  return grouped;
}

const listCalls = ({ output }: Step) => output.filter((item) => item.kind === 'tool_call');

const toKey = ({ agent, callerAgent, name, text }: Call) =>
  JSON.stringify([agent, callerAgent, name, sameArguments(text)]);
