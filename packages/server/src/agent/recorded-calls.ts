import type { ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import type { EvalSettings, GivenOutcome } from '../domain/run/rerun.ts';
import { sameArguments } from '../domain/run/same-arguments.ts';
import type { Step } from '../domain/run/step.ts';

/** What became of a call in the original run: its outcome, or nothing because it waited for an answer. */
export type RecordedOutcome = GivenOutcome | 'waited';

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
 * The calls of the run that a rerun repeats. Calls are equal if agent, caller and tool are, and the arguments as JSON values. The
 * n-th call of equal ones gets what became of the n-th one in the original run, further ones what became of the last.
 */
export class RecordedCalls {
  readonly #recorded = new Map<string, RecordedOutcome[]>();
  readonly #others: OtherCalls;
  /** How many of equal calls the rerun has made. */
  readonly #made = new Map<string, number>();
  readonly #found = new Map<string, RecordedOutcome | null>();

  private constructor(recorded: Iterable<RecordedCall>, others: OtherCalls, known: readonly Step[]) {
    this.#others = others;
    for (const { call, outcome } of recorded) {
      const key = toKey(call);
      const equal = this.#recorded.get(key);
      if (equal === undefined) this.#recorded.set(key, [outcome]);
      else equal.push(outcome);
    }
    // Assigned by the journal: a later attempt makes its calls in another order.
    for (const { output } of known) for (const item of output) if (item.kind === 'tool_call') this.find(item);
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
      if (outcome !== undefined) yield { call: item, outcome: { text: outcome.text, failed: outcome.failed === true } };
      // A call that was cut off has no outcome.
      else if (asks?.[item.callId] !== undefined) yield { call: item, outcome: 'waited' };
    }
  }
}

const toKey = ({ agent, callerAgent, name, text }: Omit<Call, 'callId'>) =>
  JSON.stringify([agent, callerAgent, name, sameArguments(text)]);
