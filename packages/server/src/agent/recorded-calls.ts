import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import type { EvalSettings, GivenOutcome } from '../domain/run/rerun.ts';
import { sameArguments } from '../domain/run/same-arguments.ts';
import type { Step } from '../domain/run/step.ts';

/** What became of a call in the original run: its outcome, or nothing because it waited for an answer. */
export type RecordedOutcome = (GivenOutcome & Pick<ToolOutputItem, 'images'>) | 'waited';

type Call = Pick<ToolCallItem, 'agent' | 'callerAgent' | 'name' | 'text' | 'callId'>;

interface RecordedCall {
  readonly call: Omit<Call, 'callId'>;
  readonly outcome: RecordedOutcome;
}

/** What calls get that no recorded call equals. */
interface OtherCalls {
  /** By the tool's name. They win over recorded calls. */
  readonly tools: ReadonlyMap<string, GivenOutcome>;
  readonly otherwise: RecordedOutcome | null;
}

/**
 * The calls that the original run made. Calls are equal if agent, caller and tool are, and the arguments as JSON values. The
 * n-th call of equal ones gets what became of the n-th one in the original run, further ones what became of the last.
 */
export class RecordedCalls {
  readonly #calls: Iterable<RecordedCall>;
  readonly #known: readonly Step[];
  readonly #others: OtherCalls;
  /** Null until the first call. */
  #recorded: ReadonlyMap<string, readonly RecordedOutcome[]> | null = null;
  /** How often the rerun has made an equal call. */
  readonly #made = new Map<string, number>();
  readonly #found = new Map<string, RecordedOutcome | null>();

  private constructor(calls: Iterable<RecordedCall>, others: OtherCalls, known: readonly Step[]) {
    this.#calls = calls;
    this.#others = others;
    this.#known = known;
  }

  /** `original`: the journal of the run and of the runs that it continues. `known`: the same of the rerun. Both in their order. */
  static ofRun(original: readonly Step[], known: readonly Step[]): RecordedCalls {
    return new RecordedCalls(callsIn(original), { tools: new Map(), otherwise: null }, known);
  }

  /** The other calls that need an answer ask for it, because no person has decided about them. */
  static ofEval({ tools, recorded }: EvalSettings, known: readonly Step[]): RecordedCalls {
    const calls = recorded.map(({ outcome, ...call }) => ({ call, outcome }));
    return new RecordedCalls(calls, { tools: new Map(Object.entries(tools)), otherwise: 'waited' }, known);
  }

  /** Returns null if the original run has no equal call. The same call gets the same answer each time. */
  find(call: Call): RecordedOutcome | null {
    const { tools, otherwise } = this.#others;
    const ofTool = tools.get(call.name);
    if (ofTool !== undefined) return ofTool;
    if (this.#recorded === null) {
      this.#recorded = groupOutcomes(this.#calls);
      // Assigned by the journal: a later attempt makes its calls in another order.
      for (const { output } of this.#known) for (const item of output) if (item.kind === 'tool_call') this.find(item);
    }
    let found = this.#found.get(call.callId);
    if (found !== undefined) return found;
    const key = toKey(call);
    const equal = this.#recorded.get(key) ?? [];
    const made = this.#made.get(key) ?? 0;
    this.#made.set(key, made + 1);
    found = equal[made] ?? equal.at(-1) ?? otherwise;
    this.#found.set(call.callId, found);
    return found;
  }
}

/** What became of equal calls, in their order. */
function groupOutcomes(calls: Iterable<RecordedCall>): ReadonlyMap<string, readonly RecordedOutcome[]> {
  const grouped = new Map<string, RecordedOutcome[]>();
  for (const { call, outcome } of calls) {
    const key = toKey(call);
    const equal = grouped.get(key);
    if (equal === undefined) grouped.set(key, [outcome]);
    else equal.push(outcome);
  }
  return grouped;
}

function* callsIn(original: readonly Step[]): Iterable<RecordedCall> {
  const outcomes = new Map<string, ToolOutputItem>();
  for (const { kind, output } of original) {
    const [first] = output;
    if (kind === 'tool' && first?.kind === 'tool_output') outcomes.set(first.callId, first);
  }
  for (const { output, asks } of original) {
    for (const item of output) {
      if (item.kind !== 'tool_call') continue;
      const outcome = outcomes.get(item.callId);
      if (outcome !== undefined) {
        const { text, failed = false, images } = outcome;
        yield { call: item, outcome: { text, failed, ...(images !== undefined && { images }) } };
      }
      // A call that was cut off has no outcome.
      else if (asks?.[item.callId] !== undefined) yield { call: item, outcome: 'waited' };
    }
  }
}

const toKey = ({ agent, callerAgent, name, text }: Omit<Call, 'callId'>) =>
  JSON.stringify([agent, callerAgent, name, sameArguments(text)]);
