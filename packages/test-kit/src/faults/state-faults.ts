import { setTimeout as sleep } from 'node:timers/promises';
import { FinishedSteps } from '@runwire/server/src/agent/finished-steps.ts';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { stateJson } from '@runwire/server/src/domain/chat/chat-state.ts';
import type { RunId } from '@runwire/server/src/domain/ids.ts';
import { findLastingAgent } from '@runwire/server/src/domain/run/beginning-agent.ts';
import type { HiddenPart } from '@runwire/server/src/domain/run/hidden-part.ts';
import { stateAfter } from '@runwire/server/src/domain/run/state-steps.ts';
import { Engine } from '@runwire/server/src/engine/engine.ts';
import { ExecutionScope } from '@runwire/server/src/engine/execution-scope.ts';
import { storeState } from '@runwire/server/src/store/queries/chat-states.ts';
import type { Store } from '@runwire/server/src/store/store.ts';

/** How long a step is stored after its change of the state: a kill between the two leaves the state alone. */
const PAUSE_MS = 1500;

/** A change of the state is stored when its call ends, and not together with the call's step. */
function writeAtOnce(): Overrides {
  let store: Store | null = null;
  const { journal } = ExecutionScope.prototype;
  ExecutionScope.prototype.journal = async function (step) {
    if (step.state !== undefined && store !== null) {
      const changed = stateAfter(await this.state.now(), step);
      const { runId } = this;
      await store.transact('step', async (tx) => {
        const [run] = await tx.query((db) =>
          db
            .selectFrom('runs')
            .select('chat_key')
            .where('run_id', '=', runId as RunId),
        );
        if (run === undefined) return;
        await tx.run(storeState, { chatKey: run.chat_key, stateJson: stateJson(changed), agent: null });
      });
      await sleep(PAUSE_MS);
    }
    return journal.call(this, step);
  };
  return {
    wrapStore(one) {
      store = one;
      return one;
    },
  };
}

/** A hand-off that lasts counts from its own step on, and not from the end of a completed run. */
function handOffAtOnce(): Overrides {
  let store: Store | null = null;
  const { journal } = ExecutionScope.prototype;
  ExecutionScope.prototype.journal = async function (step) {
    await journal.call(this, step);
    const agent = findLastingAgent(step.output);
    if (agent === undefined) return;
    const { runId } = this;
    await store?.transact('step', async (tx) => {
      const [run] = await tx.query((db) =>
        db
          .selectFrom('runs')
          .select('chat_key')
          .where('run_id', '=', runId as RunId),
      );
      if (run === undefined) return;
      const stateText = stateJson(await this.state.now());
      await tx.run(storeState, { chatKey: run.chat_key, stateJson: stateText, agent });
    });
  };
  return {
    wrapStore(one) {
      store = one;
      return one;
    },
  };
}

/** Every attempt but the first begins with the entry point. */
function forgetBeginning(): Overrides {
  const { start } = Engine.prototype;
  Engine.prototype.start = function (this: Engine, run, ...rest) {
    const { begins: _, ...extras } = run.extras;
    return start.call(this, run.attempt === 1 ? run : { ...run, extras }, ...rest);
  };
  return {};
}

/** A later attempt decides again what a stored step hides, and otherwise than the step. */
function decideAgain(): Overrides {
  const { modelStep } = FinishedSteps.prototype;
  const decided = new WeakSet();
  FinishedSteps.prototype.modelStep = function (loop, index) {
    const step: { hidden?: readonly HiddenPart[] } | undefined = modelStep.call(this, loop, index);
    if (step === undefined || decided.has(step)) return step as ReturnType<typeof modelStep>;
    decided.add(step);
    if (step.hidden === undefined) step.hidden = [{ kind: 'tool', name: 'keep_sometimes' }];
    else delete step.hidden;
    return step as ReturnType<typeof modelStep>;
  };
  return {};
}

export const STATE_FAULTS = {
  'write-at-once': writeAtOnce,
  'decide-again': decideAgain,
  'hand-off-at-once': handOffAtOnce,
  'forget-beginning': forgetBeginning,
};
