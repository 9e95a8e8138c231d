import { toResumePoint } from '@runwire/server/src/admission/store-rerun.ts';
import { RecordedCalls } from '@runwire/server/src/agent/recorded-calls.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import type { AdmittedRun } from '@runwire/server/src/domain/run/admitted-run.ts';
import { isKeepable } from '@runwire/server/src/domain/run/rerun.ts';
import { KEPT_EVENT_ID } from '@runwire/server/src/domain/run/step.ts';
import { Engine } from '@runwire/server/src/engine/engine.ts';
import { journalledStep } from '@runwire/server/src/runs/journal.ts';
import { type Params, rows } from './tampered-store.ts';

/** Reruns start as other runs do. */
function startAs(change: (run: AdmittedRun) => AdmittedRun): void {
  const { start } = Engine.prototype;
  Engine.prototype.start = function (this: Engine, run, ...rest) {
    return start.call(this, run.rerunOf === null ? run : change(run), ...rest);
  };
}

/** No rerun finds a recorded call, so repeatable tools are called. */
function callAgain(): Overrides {
  RecordedCalls.prototype.find = () => null;
  return {};
}

/** A rerun keeps the root loop's next step, too, if it is not the last one. */
function shiftStep(): Overrides {
  const journals = new Map<unknown, readonly Params[]>();
  startAs((run) => {
    const journal = (journals.get(run.rerunOf) ?? []).map((row) => journalledStep(row as never));
    const steps = run.resumed?.steps ?? [];
    const last = Math.max(0, ...steps.map(({ step }) => step));
    const next = journal.slice(0, -1).find((one) => isKeepable(one) && one.step > last);
    if (next === undefined) return run;
    const kept = { ...next, attempt: 1, firstEventId: KEPT_EVENT_ID, lastEventId: KEPT_EVENT_ID };
    return { ...run, resumed: toResumePoint({ steps: [...steps, kept] }, run.createdAt) };
  });
  return rows('journal of', (found) => {
    if (found[0] !== undefined) journals.set(found[0].run_id, found);
    return found;
  });
}

/** A rerun's end charges the member. */
function chargeRerun(): Overrides {
  startAs((run) => ({ ...run, rerunOf: null }));
  return {};
}

export const RERUN_FAULTS = { 'call-again': callAgain, 'shift-step': shiftStep, 'charge-rerun': chargeRerun };
