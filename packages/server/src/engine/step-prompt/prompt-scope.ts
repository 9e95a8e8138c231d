import type { FinishedSteps } from '../../agent/finished-steps.ts';
import { modelRequest } from '../../agent/model-step.ts';
import type { ModelStepInput } from '../../agent/model-step-input.ts';
import type { ModelRequest } from '../../agent/ports.ts';
import { Progress } from '../../agent/progress.ts';
import type { RunContinuation, RunLimits, RunScope } from '../../agent/run-scope.ts';
import { emptyRunState } from '../../agent/run-state.ts';
import { StepGate } from '../../agent/step-gate.ts';
import { visibleAgent } from '../../agent/visible-agent.ts';
import type { RunId } from '../../domain/ids.ts';
import type { HiddenPart } from '../../domain/run/hidden-part.ts';
import type { Step } from '../../domain/run/step.ts';
import type { PromptTeam } from './prompt-team.ts';
import { STORED_IMAGES } from './stored-attachments.ts';

/** The model step whose prompt is sought. */
export interface SoughtStep {
  readonly loop: string;
  readonly indexInLoop: number;
  readonly hidden?: readonly HiddenPart[];
}

/** The loops have reached a step that the journal does not contain. */
class WalkEnd extends Error {}

interface ScopeParts {
  readonly runId: RunId;
  readonly team: PromptTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly limits: RunLimits;
  readonly sought: SoughtStep;
}

/**
 * A run's scope that is walked along its journal up to one step. It calls no model, no tool and no agency code, and
 * stores nothing: the walk ends with the journal.
 */
export class PromptScope implements RunScope {
  readonly runId: RunId;
  readonly attempt = 1;
  readonly team: PromptTeam;
  readonly finished: FinishedSteps;
  readonly continuation: RunContinuation | null;
  readonly recorded = null;
  readonly state = emptyRunState();
  readonly limits: RunLimits;
  readonly gate: StepGate;
  readonly propagatesTrace = false;
  readonly userContext = undefined;
  readonly progress = new Progress();
  readonly room = { isFull: false, onceRoom: () => {} };
  readonly signal: AbortSignal = new AbortController().signal;
  readonly images = STORED_IMAGES;
  readonly unfinished = { cut: () => {}, wait: () => {} };
  readonly #sought: SoughtStep;
  /** What the step's model was sent. Null if the walk did not reach it. */
  found: { readonly agent: string; readonly request: ModelRequest } | null = null;

  constructor({ runId, team, finished, continuation, limits, sought }: ScopeParts) {
    this.runId = runId;
    this.team = team;
    this.finished = finished;
    this.continuation = continuation;
    this.limits = limits;
    this.#sought = sought;
    const stop = { signal: this.signal, stopsAfterStep: () => false, stepDone: () => {} };
    this.gate = new StepGate(stop, finished);
  }

  /** Called before every tool call. */
  readonly mayCall = (): Promise<void> => Promise.reject(new WalkEnd());

  emit(): void {}

  async modelStep(input: ModelStepInput): Promise<Step> {
    const { loop, indexInLoop } = input;
    const { hidden } = this.#sought;
    if (loop === this.#sought.loop && indexInLoop === this.#sought.indexInLoop) {
      const agent = visibleAgent(input.agent, hidden);
      const request = modelRequest(this, { ...input, agent }, agent.model, {
        step: 0,
        tries: { count: 0 },
        trace: null,
      });
      this.found = { agent: agent.name, request };
    }
    throw new WalkEnd();
  }

  async journal(): Promise<void> {}

  publish(): Promise<never> {
    return Promise.reject(new WalkEnd());
  }
}

/** True if the walk ended as it must. */
export const isWalkEnd = (error: unknown): boolean => error instanceof WalkEnd;
