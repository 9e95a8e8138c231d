import type { Speaker, ToolCallItem, ToolOutputItem } from '../domain/run/events.ts';
import type { GuardrailRecord } from '../domain/run/guardrail-record.ts';
import type { Step } from '../domain/run/step.ts';
import type { StoredImages } from '../domain/run/tool-image.ts';
import type { UnfinishedCall } from '../domain/run/unfinished-step.ts';
import type { CallsSetting } from './loop-setting.ts';
import type { LoopPosition } from './model-step-input.ts';
import { failedCall, type ToolOutcome } from './ports.ts';
import type { RunScope } from './run-scope.ts';

/** A call's outcome, with what its step records besides. */
export interface Outcome extends ToolOutcome {
  readonly handoff?: string;
  readonly lasts?: 'chat';
  readonly asked?: { readonly agent: string; readonly message: string };
  readonly guardrails?: GuardrailRecord;
}

/** The arguments of a call, if the model wrote others. */
export interface ChangedArguments extends Pick<Step, 'arguments' | 'shownArguments'> {
  /** The model reads about a person's change. */
  readonly isByPerson: boolean;
}

export const toSpeaker = (agent: string, { loop, callerAgent }: LoopPosition): Speaker => ({
  agent,
  callerAgent,
  ...(loop === '' ? {} : { loop }),
});

/** Gives a call a step's number. */
export function beginCall(
  { scope: { progress }, loop: { loop, callerAgent }, agent }: CallsSetting,
  call: ToolCallItem,
) {
  progress.steps += 1;
  return {
    step: progress.steps,
    kind: 'tool',
    loop,
    indexInLoop: 0,
    agent: agent.name,
    callerAgent,
    model: null,
    tool: call.name,
    callId: call.callId,
    usage: null,
    startedAt: Date.now(),
  } as const satisfies UnfinishedCall;
}

/** Gets the outcome of a call and makes it durable. */
export async function callStep(
  setting: CallsSetting,
  call: ToolCallItem,
  makeOutcome: () => Promise<Outcome>,
  change?: ChangedArguments,
): Promise<ToolOutputItem> {
  const { scope, loop: position, agent } = setting;
  const { progress, signal, gate, limits } = scope;
  return gate.step(async () => {
    signal.throwIfAborted();
    const begun = beginCall(setting, call);
    const outcome = await unlessCut(scope, begun, async () => storeImages(scope, await makeOutcome()));
    const { handoff, lasts, asked, publication, guardrails } = outcome;
    const speaker = toSpeaker(call.agent, position);
    const toOutputItem = (about: ShownOutcome): ToolOutputItem => ({
      kind: 'tool_output',
      ...speaker,
      callId: call.callId,
      text: withNames(changeNote(change) + cutOutput(about, limits.toolOutputCharacters), about.stored),
      timestamp: progress.timestamp(),
      ...(about.status === 'failed' && { failed: true }),
      ...(handoff === undefined ? {} : { handoff }),
      ...(lasts === undefined ? {} : { lasts }),
      ...(about.stored !== undefined && about.stored.images.length > 0 && { images: about.stored.images }),
    });
    const getStep = (status: Step['status'], item: ToolOutputItem): Step => ({
      ...begun,
      status,
      output: [item],
      ...(change && { arguments: change.arguments, shownArguments: change.shownArguments }),
      ...(guardrails === undefined ? {} : { guardrails }),
      ...(asked === undefined ? {} : { asked }),
      completedAt: Date.now(),
    });
    let shown: ShownOutcome = outcome;
    if (outcome.state !== undefined && outcome.status === 'completed') {
      await scope.state.load();
      const problem = scope.state.problem(outcome.state);
      if (problem !== null) shown = failedCall(`The tool failed: ${problem}`);
    }
    if (publication !== undefined) {
      const published = toOutputItem(outcome);
      const problem = await scope.publish(publication, getStep(outcome.status, published), published);
      if (problem === null) return published;
      shown = failedCall(problem);
    }
    signal.throwIfAborted();
    const { status, state } = shown;
    const item = toOutputItem(shown);
    progress.items.push(item);
    if (asked !== undefined && status === 'completed') scope.finished.addExchange(agent.name, asked, item);
    if (handoff !== undefined) scope.emit({ type: 'agent_updated', ...speaker, newAgent: handoff });
    scope.emit({ type: 'run_item', name: handoff === undefined ? 'tool_output' : 'handoff_occured', item });
    await scope.journal({ ...getStep(status, item), ...(state !== undefined && status === 'completed' && { state }) });
    return item;
  });
}

/** The model reads with which arguments the call was made: its own are in the prompt. */
function changeNote(change: ChangedArguments | undefined): string {
  return change?.isByPerson !== true ? '' : `A person changed the arguments to ${JSON.stringify(change.arguments)}.\n`;
}

/** If the run stops before the outcome, the call is shown as cut. Changed files become visible with their step. */
async function unlessCut(
  { signal, unfinished }: RunScope,
  call: UnfinishedCall,
  makeOutcome: () => Promise<StoredOutcome>,
): Promise<StoredOutcome> {
  try {
    const outcome = await makeOutcome();
    if (outcome.publication === undefined) signal.throwIfAborted();
    return outcome;
  } catch (error) {
    unfinished.cut(call, error);
    throw error;
  }
}

interface StoredOutcome extends Outcome {
  readonly stored?: StoredImages;
}

/** The blobs of the images are durable before the step refers to them. */
async function storeImages({ images: store }: RunScope, outcome: Outcome): Promise<StoredOutcome> {
  const { images, recordedImages } = outcome;
  if (images !== undefined && images.length > 0) return { ...outcome, stored: await store.store(images) };
  if (recordedImages !== undefined) return { ...outcome, stored: await store.adopt(recordedImages) };
  return outcome;
}

/** The images that cannot be shown are named after the text. */
function withNames(text: string, stored: StoredImages | undefined): string {
  if (stored === undefined || stored.names.length === 0) return text;
  return [...(text === '' ? [] : [text]), ...stored.names].join('\n');
}

function cutOutput({ text, textLength = text.length }: OutcomeText, characters: number): string {
  if (textLength <= characters) return text;
  // Does not cut a character of two code units in half.
  const end = text.codePointAt(characters - 1) === text.charCodeAt(characters - 1) ? characters : characters - 1;
  return `${text.slice(0, end)}\n[The output has ${textLength} characters; these are the first ${end}.]`;
}

type OutcomeText = Pick<ToolOutcome, 'text' | 'textLength'>;
type ShownOutcome = OutcomeText & Pick<StoredOutcome, 'status' | 'state' | 'stored'>;

/** Makes durable that an approved call begins, so that no later attempt makes it again. */
export async function recordBegin(setting: CallsSetting, call: ToolCallItem): Promise<void> {
  const { scope } = setting;
  const begun = beginCall(setting, call);
  await scope.journal({ ...begun, kind: 'begin', status: 'completed', output: [], completedAt: begun.startedAt });
  scope.signal.throwIfAborted();
}
