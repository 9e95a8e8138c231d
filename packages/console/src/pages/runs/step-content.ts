import type { Frame, Step } from '@runwire/client';

/** What a step did, from the run's events. */
export interface StepContent {
  /** The call's arguments. Null for a step of a model. */
  readonly input: string | null;
  readonly output: string | null;
  readonly reasoning: string | null;
  /** The calls that the model asked for. */
  readonly calls: readonly { readonly callId: string; readonly tool: string; readonly arguments: string }[];
}

interface ItemFrame {
  readonly id: number;
  readonly agent: string;
  readonly parent_run_id?: string | null;
  readonly name: string;
  readonly item: {
    readonly output?: string;
    readonly raw_item: {
      readonly call_id?: string;
      readonly name?: string;
      readonly arguments?: string;
      readonly output?: string;
      readonly content?: readonly { readonly text?: string }[];
      readonly summary?: readonly { readonly text?: string }[];
    };
  };
}

const CALLS = ['tool_called', 'handoff_requested', 'tool_approval_requested', 'client_tool_requested'];
const OUTPUTS = ['tool_output', 'handoff_occured'];

/** Finds what a step did. `frames` has all events until its last one. */
export const toContent = (frames: readonly Frame[], step: Step): StepContent =>
  step.kind === 'tool' ? toolContent(frames, step) : step.kind === 'model' ? modelContent(frames, step) : NO_CONTENT;

/** A check of the user's message has no events. */
const NO_CONTENT: StepContent = { input: null, output: null, reasoning: null, calls: [] };

function toolContent(frames: readonly Frame[], { callId, lastEventId }: Step): StepContent {
  let input: string | null = null;
  let output: string | null = null;
  for (const { name, item } of itemsIn(frames, 0, lastEventId, callId ?? '')) {
    const { raw_item: raw } = item;
    if (raw.call_id !== callId) continue;
    if (CALLS.includes(name)) input ??= raw.arguments ?? null;
    else if (OUTPUTS.includes(name)) output = item.output ?? raw.output ?? null;
  }
  return { input, output, reasoning: null, calls: [] };
}

function modelContent(frames: readonly Frame[], { firstEventId, lastEventId, agent, loop }: Step): StepContent {
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: StepContent['calls'][number][] = [];
  for (const { name, item, ...frame } of itemsIn(frames, firstEventId, lastEventId, '')) {
    if (frame.agent !== agent || (frame.parent_run_id ?? null) !== loop) continue;
    const { call_id: callId = '', name: tool = '', arguments: given = '', content = [], summary = [] } = item.raw_item;
    if (name === 'message_output_created') texts.push(...content.map(({ text = '' }) => text));
    else if (name === 'reasoning_item_created') thoughts.push(...summary.map(({ text = '' }) => text));
    else if (CALLS.includes(name)) calls.push({ callId, tool, arguments: given });
  }
  const joined = (parts: readonly string[]) => (parts.length === 0 ? null : parts.join('\n'));
  return { input: null, output: joined(texts), reasoning: joined(thoughts), calls };
}

/** The finished items between two events that contain the text. */
function* itemsIn(frames: readonly Frame[], firstId: number, lastId: number, text: string): Generator<ItemFrame> {
  for (const { id, data } of frames) {
    if (id > lastId) return;
    if (id < firstId || !data.startsWith('{"data":{"type":"run_item_stream_event"') || !data.includes(text)) continue;
    yield { ...(JSON.parse(data) as { readonly data: Omit<ItemFrame, 'id'> }).data, id };
  }
}
