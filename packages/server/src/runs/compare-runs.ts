import type { Scope } from '../domain/account/scope.ts';
import type { RunId } from '../domain/ids.ts';
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
}

/** Steps that are in memory with their outputs. */
const PAGE = 50;

/** Compares two runs of an integration, step by step. Throws `run_not_found` and `chat_not_found`. */
export async function compareRuns(
  { reads, runReads }: CompareDeps,
  scope: Scope,
  requested: readonly [string, string],
) {
  const read = async (runId: string) => {
    const row = await runReads.row(scope, runId);
    await checkHasSteps(reads, row);
    return { run: await runReads.get(scope, runId), steps: await readSteps(reads, row.run_id) };
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
async function readSteps(reads: Reads, runId: RunId): Promise<ComparedStep<ReturnType<typeof stepJson>>[]> {
  const only = await first(reads.all(onlyStepOfRun, { runId }));
  const row = only === undefined ? null : onlyStepRow(only);
  if (row !== null) return [toCompared(shownStep(row), new Map())];
  const calls = await readCalls(reads, runId);
  const found: ComparedStep<ReturnType<typeof stepJson>>[] = [];
  for await (const page of readPages(reads, runId))
    found.push(...(await settleWaiting(reads, page)).map((step) => toCompared(step, calls)));
  return found.reverse();
}

/** Yields a run's steps, newest first. */
async function* readPages(reads: Reads, runId: RunId): AsyncGenerator<ShownStep[]> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const page = (await reads.all(stepsBefore, { runId, before, limit: PAGE })).map(shownStep);
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.step;
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
