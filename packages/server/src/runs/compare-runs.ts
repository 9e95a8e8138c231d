import { setImmediate } from 'node:timers/promises';
import type { Scope } from '../domain/account/scope.ts';
import type { RunId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { sameArguments } from '../domain/run/same-arguments.ts';
import { continuedRun } from '../store/queries/runs.ts';
import { onlyStepOfRun, stepsBefore } from '../store/queries/steps.ts';
import { first, type Reads } from '../store/store.ts';
import { alignSteps, type ComparedStep } from './align-steps.ts';
import { onlyStepRow } from './only-step.ts';
import type { RunReads } from './read-runs.ts';
import { checkHasSteps, stepJson } from './run-steps.ts';
import { type ShownStep, settleWaiting, shownStep } from './shown-steps.ts';

interface CompareDeps {
  readonly reads: Reads;
  readonly runReads: RunReads;
  /** What a run may have at most. */
  readonly limits: { readonly comparedSteps: number; readonly comparedBytes: number };
}

/** Steps that are in memory with their outputs. */
const PAGE = 50;

/** Compares two runs of an integration, step by step. Throws `run_not_found`, `chat_not_found`, and `invalid_request` for a run that is too long. */
export async function compareRuns(
  { reads, runReads, limits }: CompareDeps,
  scope: Scope,
  requested: readonly [string, string],
) {
  const read = async (runId: string) => {
    const row = await runReads.row(scope, runId);
    await checkHasSteps(reads, row);
    return { run: await runReads.get(scope, runId), steps: await readSteps(reads, row.run_id, limits) };
  };
  const [left, right] = [await read(requested[0]), await read(requested[1])];
  return {
    runs: [left.run, right.run],
    steps: alignSteps(left.steps, right.steps),
    text: { left: left.run.message, right: right.run.message },
    usage: { left: left.run.usage, right: right.run.usage },
  };
}

/** Reads a run's steps, oldest first. */
async function readSteps(
  reads: Reads,
  runId: RunId,
  { comparedSteps, comparedBytes }: CompareDeps['limits'],
): Promise<ComparedStep<ReturnType<typeof stepJson>>[]> {
  const only = await first(reads.all(onlyStepOfRun, { runId }));
  const row = only === undefined ? null : onlyStepRow(only);
  if (row !== null) return [toCompared(shownStep(row), new Map())];
  const settled: ShownStep[] = [];
  let bytes = 0;
  for await (const page of readPages(reads, runId)) {
    for (const step of await settleWaiting(reads, page)) {
      settled.push(step);
      bytes += Buffer.byteLength(JSON.stringify(stepJson(step, true)));
    }
    if (settled.length > comparedSteps || bytes > comparedBytes) throw tooLong(runId, comparedSteps, comparedBytes);
  }
  const calls = await readCalls(reads, runId);
  return settled.reverse().map((step) => toCompared(step, calls));
}

const tooLong = (runId: RunId, steps: number, bytes: number) =>
  new Refusal(
    'invalid_request',
    `${runId} is too long to be compared: only runs with at most ${steps} steps and ${bytes} bytes of steps are. List the steps of both runs instead.`,
  );

/** Yields a run's steps, newest first. Between two pages the server does other work. */
async function* readPages(reads: Reads, runId: RunId): AsyncGenerator<ShownStep[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = (await reads.all(stepsBefore, { runId, before, limit: PAGE })).map(shownStep);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.step;
    await setImmediate();
  }
}

/** Reads the arguments of all calls of a run and of the runs that it continues, by the calls' ids. */
async function readCalls(reads: Reads, runId: RunId): Promise<Map<string, string>> {
  const calls = new Map<string, string>();
  for (let next: RunId | null = runId; next !== null; ) {
    for await (const page of readPages(reads, next))
      for (const { output } of page)
        for (const item of output) if (item.kind === 'tool_call') calls.set(item.callId, sameArguments(item.text));
    next = (await first(reads.all(continuedRun, { runId: next })))?.continues ?? null;
  }
  return calls;
}

function toCompared(step: ShownStep, calls: ReadonlyMap<string, string>) {
  const { kind, agent, tool, callId } = step;
  const key = JSON.stringify([kind, agent, tool, callId === null ? null : (calls.get(callId) ?? null)]);
  return { step: stepJson(step, true), kind, key };
}
