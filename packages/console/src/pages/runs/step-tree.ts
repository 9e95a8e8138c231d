import type { Step } from '@runwire/client';

/** A step in the timeline. */
export interface TimelineStep {
  readonly step: Step;
  /** 0 for the agent that answers the user, 1 for an agent that it asked, and so on. */
  readonly depth: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Orders steps so that those of an asked agent follow the call that asked it. `steps` has the oldest first. */
export function toTimeline(steps: readonly Step[]): readonly TimelineStep[] {
  const calls = new Set(steps.map(({ callId }) => callId));
  const byLoop = Map.groupBy(steps, ({ loop }) => loop);
  const shown: TimelineStep[] = [];
  const add = (step: Step, depth: number): number => {
    const index =
      shown.push({ step, depth, startMs: Date.parse(step.startedAt), endMs: Date.parse(step.completedAt) }) - 1;
    // The store has only the end of a call that asked an agent; it began before the first step of that agent.
    const asked = step.callId === null ? [] : (byLoop.get(step.callId) ?? []);
    const startMs = Math.min(...asked.map((child) => add(child, depth + 1)), Date.parse(step.startedAt));
    shown[index] = { ...(shown[index] as TimelineStep), startMs };
    return startMs;
  };
  for (const step of byLoop.get(null) ?? []) add(step, 0);
  // While an agent is being asked, the call has not finished.
  for (const [loop, inLoop] of byLoop) {
    if (loop !== null && !calls.has(loop)) for (const step of inLoop) add(step, 1);
  }
  return shown;
}
