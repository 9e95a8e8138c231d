import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelCall, type ModelController, SCRIPTED_USAGE } from '@runwire/server/testing';
import type { ToolController } from './tool-controller.ts';

/** Each run's answer. */
const ANSWER = 'One. Two.';
const TOKENS = 2 * (SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens);

/**
 * Answers the calls of any number of runs, each after `pauseMs`: the model sends a text and calls a tool, the tool call
 * ends, and the model sends another text. It survives the servers that call it, and counts repeated calls.
 */
export class ThreeStepLoad {
  readonly answer = ANSWER;
  /** One run's calls. */
  readonly tokens = TOKENS;
  readonly model: ModelController;
  readonly gate: ToolController;

  constructor({ model, gate }: Readonly<{ model: ModelController; gate: ToolController }>, pauseMs: number) {
    this.model = model;
    this.gate = gate;
    model.onCall = async (call) => {
      await sleep(pauseMs);
      await this.#play(call);
    };
    gate.onCall = async ({ callId }) => {
      await sleep(pauseMs);
      gate.open(callId, 'opened');
    };
  }

  async #play(call: ModelCall): Promise<void> {
    const { runId, prompt } = call.request;
    const last = prompt.at(-1);
    if (last?.kind === 'tool_output') await call.text(last.output === 'opened' ? 'Two.' : last.output);
    else {
      await call.text('One. ');
      await call.toolCall(`${runId}-gate`, 'gate', JSON.stringify({ port: this.gate.port }));
    }
    await call.end();
  }

  /** A model's calls for the same run's same step, and of the gate for the same call, beyond the first. */
  get repeated(): number {
    const asked = [
      ...this.model.calls.map(({ request: { runId, step } }) => `${runId} ${step}`),
      ...this.gate.calls.map(({ callId }) => callId),
    ];
    return asked.length - new Set(asked).size;
  }
}
