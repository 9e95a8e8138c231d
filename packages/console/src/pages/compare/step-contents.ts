import type { Frame, RunComparison, Step } from '@runwire/client';
import { formatJsonText } from '../../lib/format.ts';
import { type StepContent, toContent } from '../runs/step-content.ts';

type StepPair = RunComparison['steps'][number];

/** What a step did, as texts that can be compared. Null if it has no such text. */
export interface StepTexts {
  readonly arguments: string | null;
  readonly reasoning: string | null;
  readonly output: string | null;
  readonly calls: string | null;
}

/** By the number of the step. */
export type TextsByStep = ReadonlyMap<number, StepTexts>;

function toTexts({ input, reasoning, output, calls }: StepContent): StepTexts {
  const lines = calls.map(({ tool, arguments: given }) => `${tool} ${formatJsonText(given)}`);
  return {
    arguments: input === null ? null : formatJsonText(input),
    reasoning,
    output: output === null ? null : formatJsonText(output),
    calls: lines.length === 0 ? null : lines.join('\n'),
  };
}

/** Reads what the steps of a run did. Steps that a rerun keeps have no events of their own. */
export function readTexts(frames: readonly Frame[], steps: readonly Step[]): TextsByStep {
  const items = frames.filter(({ data }) => data.startsWith('{"data":{"type":"run_item_stream_event"'));
  return new Map(steps.map((step) => [step.step, toTexts(toContent(items, step))]));
}

/** What a pair of steps is called. Equal steps can still have other texts: a model answers anew. */
export type PairState = StepPair['change'] | 'other text';

export function toState({ change }: StepPair, left: StepTexts | undefined, right: StepTexts | undefined): PairState {
  if (change !== 'equal' || left === undefined || right === undefined) return change;
  return left.output === right.output && left.calls === right.calls ? 'equal' : 'other text';
}
