import type { EvalRunRequest, Run, RunResult, Runwire, Step } from '@runwire/client';
import type { EvalCase, EvalRecord, RecordedCall, RecordStep } from './eval-case.ts';

/** Starts runs for evals on a server, and reads their records. */
export class EvalRuns {
  readonly #client: Runwire;
  readonly #active = new Set<Run>();

  constructor(client: Runwire) {
    this.#client = client;
  }

  /** Rejects if the server refuses the request, or cannot be reached. */
  async run(request: EvalRunRequest): Promise<EvalRecord> {
    const run = this.#client.evaluate(request);
    this.#active.add(run);
    try {
      const result = await run.result();
      const { runId } = result;
      const steps: Step[] = [];
      for await (const step of this.#client.runs.steps({ runId })) steps.push(step);
      const { agents, cost, durationMs } = await this.#client.runs.get({ runId });
      const calls = callsIn(result.newMessages);
      return {
        ...{ status: result.status, error: result.error, text: result.text, output: result.output },
        asks: result.pending.map(({ tool }) => tool),
        calls: [...calls.values()],
        agents: agents ?? [],
        steps: steps.reverse().map((step) => toRecordStep(step, calls)),
        ...{ usage: result.usage, cost, seconds: (durationMs ?? 0) / 1000 },
      };
    } finally {
      this.#active.delete(run);
    }
  }

  /** Cancels what is running. Resolves when the server has stopped it. */
  async cancel(): Promise<void> {
    await Promise.allSettled([...this.#active].map((run) => run.cancel()));
  }
}

/** The request of a case. A case with a recorded run has its message from there. */
export function caseRequest(
  { message, agent, userContext, history, tools, recorded }: EvalCase,
  agency: string,
  model: string | null,
): EvalRunRequest {
  const context = userContext ?? recorded?.userContext;
  const outcomes = (recorded?.calls ?? []).flatMap(({ output, ...call }) =>
    output === null ? [] : { ...call, output },
  );
  return {
    request: {
      message: recorded?.message ?? message ?? '',
      ...{ agent: agent ?? recorded?.agent, agency, history: recorded?.history ?? history },
      ...(model === null ? {} : { model }),
      ...(context === undefined ? {} : { user_context: context }),
    },
    tools,
    ...(recorded === null ? {} : { recorded: outcomes }),
  };
}

interface ShownItem {
  readonly type?: string;
  readonly agent?: string;
  readonly callerAgent?: string | null;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
  readonly failed?: boolean;
}

/** The calls in a run's messages with their outcomes, by their ids, in order. */
export function callsIn(items: RunResult['newMessages']): ReadonlyMap<string, RecordedCall> {
  const calls = new Map<string, RecordedCall>();
  for (const item of items as readonly ShownItem[]) {
    const { type, agent = '', callerAgent = null, call_id: callId = '', name = '' } = item;
    if (type === 'function_call') {
      calls.set(callId, {
        agent,
        callerAgent,
        tool: name,
        arguments: item.arguments ?? '',
        output: null,
        failed: false,
      });
    }
    const call = calls.get(callId);
    if (type !== 'function_call_output' || call === undefined) continue;
    calls.set(callId, { ...call, output: item.output ?? '', failed: item.failed === true });
  }
  return calls;
}

function toRecordStep(step: Step, calls: ReadonlyMap<string, RecordedCall>): RecordStep {
  const call = step.callId === null ? undefined : calls.get(step.callId);
  return {
    ...{
      kind: step.kind,
      agent: step.agent,
      name: step.tool ?? step.model ?? step.guardrails.map(({ name }) => name).join(', '),
      status: step.status,
    },
    arguments: call?.arguments ?? null,
    output: call?.output ?? null,
    tokens: step.usage?.total_tokens ?? null,
  };
}
