import type { StateChange } from '../chat/chat-state.ts';
import type { RunId } from '../ids.ts';
import { isOwnStep, type JournalledStep, KEPT_EVENT_ID, type Step } from './step.ts';

/** A call that an eval gives, with its outcome. */
export interface GivenCall {
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly name: string;
  /** The arguments. */
  readonly text: string;
  readonly outcome: GivenOutcome;
}

export interface GivenOutcome {
  readonly text: string;
  readonly failed: boolean;
  /** How the call changed the chat's state. Absent if it changed nothing. */
  readonly state?: readonly StateChange[];
}

/** What an eval gives its run in place of an original. */
export interface EvalSettings {
  /** What a tool's calls return, by its name. */
  readonly tools: Readonly<Record<string, GivenOutcome>>;
  /** Another run's calls. */
  readonly recorded: readonly GivenCall[];
  /** True if the root agent only asks its model once, without tools. */
  readonly alone: boolean;
}

interface RerunChanges {
  /** The last step of the original that is kept; 0 if none is. */
  readonly afterStep: number;
  /** `recorded`: calls get the outcomes that they had in the original run. */
  readonly tools: 'recorded' | 'live';
  /** For the root agent and every agent that names no model. Null if the models are those of any run. */
  readonly model: string | null;
  /** Replace the root agent's own. Null if they are not replaced. */
  readonly instructions: string | null;
}

/**
 * How a rerun differs from the original run. Stored with the run. A takeover reads it. A run for an eval is a rerun without an
 * original.
 */
export type RerunSettings = RerunChanges &
  (
    | { /** The original run. */ readonly of: RunId; readonly eval?: undefined }
    | { readonly of: null; readonly eval: EvalSettings }
  );

/** True if a rerun can keep the original's steps up to this one: it is a finished step of the root loop. */
export const isKeepable = ({ loop, kind }: Pick<Step, 'loop' | 'kind'>): boolean =>
  loop === '' && (kind === 'model' || kind === 'tool');

/**
 * Selects the steps that a rerun keeps: the model steps of the root loop up to `afterStep`, the outcomes of calls up to it, and
 * everything in delegations whose outcome is kept. A call that has begun is kept with its outcome. The summary of the turns
 * before the run is always kept: it is part of the prompt.
 */
export function keptSteps<S extends Pick<Step, 'step' | 'loop' | 'kind' | 'callId'>>(
  journal: readonly S[],
  afterStep: number,
): readonly S[] {
  const isInRoot = (one: S) => one.kind === 'summary' || (isKeepable(one) && one.step <= afterStep);
  const outcomes = new Set<string | null>();
  // From its end: the outcome of a call follows the steps of the loop that the call began.
  for (const one of journal.toReversed())
    if (one.kind === 'tool' && (isInRoot(one) || outcomes.has(one.loop))) outcomes.add(one.callId);
  return journal.filter(
    (one) => isInRoot(one) || outcomes.has(one.loop) || (one.kind === 'begin' && outcomes.has(one.callId)),
  );
}

/** Returns the steps that a rerun keeps as it stores them. It changes the journal's own steps: 100 copies would cost 0.1 ms. */
export function takeKept(journal: readonly JournalledStep[], afterStep: number): readonly JournalledStep[] {
  const kept = keptSteps(journal, afterStep).map((step) =>
    // The rerun has no event of the step, and its first attempt has the step.
    Object.assign(step, { attempt: 1, firstEventId: KEPT_EVENT_ID, lastEventId: KEPT_EVENT_ID }),
  );
  return kept.sort((one, other) => one.step - other.step);
}

/** A loop asks first the model that answered last. In a rerun with another model, the models of kept steps do not count. */
export function toWalked(
  steps: readonly JournalledStep[],
  rerun: Pick<RerunSettings, 'model'> | undefined,
): readonly JournalledStep[] {
  if (rerun === undefined || rerun.model === null) return steps;
  return steps.map((step) => (isOwnStep(step) ? step : { ...step, model: null }));
}
