import { type ModelCall, type ModelController, SCRIPTED_USAGE, type ToolController } from '@runwire/test-kit';
import { expectAtLeast, expectAtMost, expectEqual, expectNumber } from './proof.ts';

/* The run of `three-step-run.ts` after its process died: how model and tools continue it, and what must be found. */

/** The steps that are answers of the model. The steps between them are tool calls. */
export const MODEL_STEPS = [1, 4, 6];
const CALLS = ['a', 'b', 'c'];

/** The journal of such a run, in order. */
export const STEPS = ['1 model', '2 tool', '3 tool', '4 model', '5 tool', '6 model'];

// biome-ignore lint/suspicious/noExplicitAny: an answer's body, which was checked against its schema.
export type Body = any;

/** Answers every call of the model after the kill from the beginning of the step that the call is for. */
export async function answer(call: ModelCall, chatId: string, tool: string, port: number): Promise<void> {
  const use = (name: string) => call.toolCall(`${chatId}-${name}`, tool, JSON.stringify({ port }));
  const { step } = call.request;
  await call.text(`Anew ${step}. `);
  if (step === MODEL_STEPS[0]) {
    await use('a');
    await use('b');
  } else if (step === MODEL_STEPS[1]) await use('c');
  await call.end();
}

/** Counts the calls of model and tools that repeat a step which an earlier attempt had finished. */
export function repeatedCalls(
  runId: string,
  steps: readonly Body[],
  model: ModelController,
  gate: ToolController,
): number {
  let repeated = 0;
  for (const { kind, step, callId, attempt } of steps) {
    if (kind === 'model')
      repeated += model.calls.filter(
        ({ request: r }) => r.runId === runId && r.step === step && r.attempt > attempt,
      ).length;
    else if (attempt === 1) repeated += Math.max(0, gate.calls.filter((call) => call.callId === callId).length - 1);
  }
  return repeated;
}

/**
 * A tool that may not be repeated is called once. A tool that may be repeated can tell by its key that it was called
 * before.
 */
export function checkTools(gate: ToolController, chatId: string, tool: string): void {
  for (const name of CALLS) {
    const calls = gate.calls.filter(({ callId }) => callId === `${chatId}-${name}`);
    expectAtMost(`calls of tool ${name}`, calls.length, tool === 'gate' ? 1 : 2);
    expectAtMost(`idempotency keys of tool ${name}`, new Set(calls.map((call) => call.idempotencyKey)).size, 1);
  }
}

const TOKENS_PER_STEP = SCRIPTED_USAGE.inputTokens + SCRIPTED_USAGE.outputTokens;

/**
 * The usage is the sum of the finished steps, once each, plus what was stored of a call that died with its process:
 * nothing if only steps are stored, otherwise at most that call. Returns true if the usage is exactly that of the
 * steps.
 */
export function checkUsage(run: Body, steps: readonly Body[], model: ModelController, onlySteps: boolean): boolean {
  const ofSteps = steps.reduce((sum, step) => sum + (step.usage?.total_tokens ?? 0), 0);
  expectNumber('tokens of the finished steps', ofSteps, MODEL_STEPS.length * TOKENS_PER_STEP);
  const died = model.calls.filter(({ request }) => request.runId === run.runId).length - MODEL_STEPS.length;
  const counted = run.usage.request_count - MODEL_STEPS.length;
  expectAtLeast('void calls that are counted', counted, 0);
  expectAtMost('void calls that are counted', counted, onlySteps ? 0 : died);
  if (counted > 0) expectAtLeast('tokens with a void call', run.usage.total_tokens, ofSteps);
  else expectNumber('tokens', run.usage.total_tokens, ofSteps);
  return counted === 0;
}

export type Frames = readonly { readonly id: number; readonly event: string | null; readonly data: string }[];

/**
 * The frames that the reader saw before and after the kill, without the frames that were declared void, are the whole
 * run.
 */
export function checkReader(seen: Frames, rest: Frames, replay: Frames): number {
  let kept = [...seen];
  for (const frame of rest) {
    if (frame.event === 'resumed') {
      const { discard_after: last } = JSON.parse(frame.data) as { discard_after: number };
      kept = kept.filter(({ id }) => id <= last);
    }
    kept.push(frame);
  }
  expectEqual('what a reader put together', kept, replay);
  return seen.length + rest.length - kept.length;
}
