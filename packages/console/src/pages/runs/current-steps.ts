import type { Frame, RunRecord, Step } from '@runwire/client';
import { getKind } from './event-text.ts';
import { getStart } from './run-state.ts';

/** A step that has not finished: an answer of a model or a call. */
export interface CurrentStep {
  readonly kind: Step['kind'];
  readonly agent: string;
  /** Null for an answer of a model. */
  readonly tool: string | null;
  /** The call that asked the agent; null for the agent that answers the user. */
  readonly loop: string | null;
  /** The event that began it. */
  readonly eventId: number;
}

interface EventData {
  readonly agent: string;
  readonly parent_run_id?: string;
  readonly item?: { readonly raw_item: { readonly call_id?: string; readonly name?: string } };
  readonly new_agent?: { readonly name: string };
}

const KINDS = [
  'response.created',
  'response.completed',
  'tool_called',
  'handoff_requested',
  'tool_output',
  'handoff_occured',
  'agent_updated_stream_event',
];

/** Knows from the events of an active run what it does now. */
export class CurrentSteps {
  #next = 0;
  #lastFrame: Frame | undefined;
  /** By the call's id, or by the model's loop. */
  readonly #open = new Map<string, CurrentStep>();
  #lastId = 0;
  #agent: string;

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** Takes the events that were not seen yet. Between two steps the agent of the user waits for its model. */
  read(frames: readonly Frame[]): readonly CurrentStep[] {
    // The events are read again from their start after they were compacted.
    if (this.#next > 0 && frames[this.#next - 1] !== this.#lastFrame) this.#reset();
    for (; this.#next < frames.length; this.#next += 1) this.#take(frames[this.#next] as Frame);
    this.#lastFrame = frames[this.#next - 1];
    if (this.#open.size > 0) return [...this.#open.values()];
    return [{ kind: 'model', agent: this.#agent, tool: null, loop: null, eventId: this.#lastId }];
  }

  #reset(): void {
    this.#next = 0;
    this.#lastId = 0;
    this.#open.clear();
  }

  #take(frame: Frame): void {
    if (frame.event === 'resumed') {
      this.#open.clear();
      this.#lastId = frame.id;
      return;
    }
    const kind = getKind(frame);
    if (frame.event !== null || !KINDS.includes(kind)) return;
    const { agent, parent_run_id: loop = null, item, new_agent: next } = JSON.parse(frame.data).data as EventData;
    const { call_id: call = '', name = '' } = item?.raw_item ?? {};
    const model = `model ${loop}`;
    this.#lastId = frame.id;
    if (kind === 'response.created') {
      this.#open.set(model, { kind: 'model', agent, tool: null, loop, eventId: frame.id });
    } else if (kind === 'response.completed') this.#open.delete(model);
    else if (kind === 'tool_called' || kind === 'handoff_requested') {
      this.#open.delete(model);
      this.#open.set(call, { kind: 'tool', agent, tool: name, loop, eventId: frame.id });
    } else if (next === undefined) {
      this.#open.delete(call);
      this.#open.delete(`model ${call}`);
    } else if (loop === null) this.#agent = next.name;
  }
}

/** When a step began: at the end of what was before it in its loop. Events have no time. */
export function startOfCurrent(current: CurrentStep, run: RunRecord, steps: readonly Step[]): number {
  const before = steps.filter(
    ({ kind, loop, firstEventId, lastEventId }) =>
      loop === current.loop && (kind === 'model' ? firstEventId : lastEventId) <= current.eventId,
  );
  return Math.max(getStart(run), ...before.map(({ completedAt }) => Date.parse(completedAt)));
}
