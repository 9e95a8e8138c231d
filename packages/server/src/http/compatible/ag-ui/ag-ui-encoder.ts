import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import { lastFrameId, type OutputItem, type RunEvent, type ToolOutputItem } from '../../../domain/run/events.ts';
import { EventEncoder } from '../event-encoder.ts';
import { toCallId } from '../question-calls.ts';
import { AgUiUsage } from './ag-ui-usage.ts';
import { frame } from './frame.ts';
import { type EndOfRun, runEnd } from './run-end.ts';

/** What the encoder knows about a request besides its run's events. */
export interface AgUiRun {
  readonly threadId: string;
  /** The id that the caller chose. */
  readonly runId: string;
  /** True if the run existed before the request. */
  readonly isReplay: boolean;
  /** The ids under which the client knows the calls whose questions this run settles, by the ids of the journal. */
  readonly settled: ReadonlyMap<string, string>;
  /** Ids of the calls whose outputs the client has sent: it has their messages already. */
  readonly sentOutputs: ReadonlySet<string>;
}

const PROTOCOL_VERSION = '1.0';

/** A call that the model made and that no frame has shown yet. */
interface HiddenCall {
  readonly eventId: number;
  readonly name: string;
  readonly argumentsText: string;
  readonly loop: string | undefined;
}

/** Clients accept only the field's absence if the first agent speaks. */
const belongsTo = (loop: string | undefined) => (loop === undefined ? {} : { subagentRunId: loop });

/** The text of a delegation that ends with its run. */
const NOT_ANSWERED = 'Not answered: the run ended first.';

/**
 * Events of AG-UI 1.0. Its client throws on an event that continues nothing, and on anything that is open at the end of the
 * run. So a call is sent whole when it is known who makes it: with its output if the server has made it, alone if it waits
 * for the caller. A message and a subagent that are open at the end are closed there.
 *
 * The framing has no event for text that became void after a crash: the connection breaks, and a replay has the text of the
 * new attempt only. In a replay the items of delegated agents are sent when they are finished, because a log keeps
 * unfinished ones too.
 */
export class AgUiEncoder extends EventEncoder {
  readonly #run: AgUiRun;
  readonly #usage = new AgUiUsage();
  /** Started items without their end, and the loops of their agents. */
  readonly #open = new Map<string, OutputItem>();
  readonly #calls = new Map<string, HiddenCall>();
  /** The loops of delegated agents that have begun and not ended, with the loops that began them. */
  readonly #loops = new Map<string, string | undefined>();
  /** The loops whose agents asked, by question. */
  readonly #asking = new Map<string, string>();
  #lastShown = 0;

  constructor(run: AgUiRun) {
    super();
    this.#run = run;
  }

  protected encode(event: RunEvent): string | null {
    if (event.type === 'resumed') return this.#resume(event);
    const frames = this.#beginLoop(event) + this.#frames(event);
    if (frames !== '') this.#lastShown = lastFrameId(event);
    return frames;
  }

  #frames(event: RunEvent): string {
    switch (event.type) {
      case 'meta': {
        const { runId: run_id, chatId: chat_id, agent } = event.meta;
        const metadata = { runwire: { run_id, chat_id, agent } };
        return frame({ type: 'RUN_STARTED', ...this.#ids, protocolVersion: PROTOCOL_VERSION, metadata });
      }
      case 'item_added':
        return this.#isWhole(event.item) ? '' : this.#start(event.item);
      case 'delta':
        return this.#open.has(event.item.id) ? content(event.item, event.text) : '';
      case 'item_done':
        return this.#finish(event.item, event.id);
      case 'response_done':
        this.#usage.add(event.id, event.response.model, event.usage);
        return '';
      case 'run_item':
        return this.#runItem(event);
      case 'messages':
        return this.#end(event);
      default:
        return '';
    }
  }

  get #ids() {
    return { threadId: this.#run.threadId, runId: this.#run.runId };
  }

  /** True if the item is sent when it is finished. */
  #isWhole({ kind, loop }: OutputItem): boolean {
    return kind === 'tool_call' || (this.#run.isReplay && loop !== undefined);
  }

  #start(item: OutputItem): string {
    this.#open.set(item.id, item);
    const { id: messageId, agent, loop } = item;
    const owner = belongsTo(loop);
    if (item.kind === 'message') {
      return frame({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', name: agent, ...owner });
    }
    return (
      frame({ type: 'REASONING_START', messageId, ...owner }) +
      frame({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...owner })
    );
  }

  #finish(item: OutputItem, eventId: number): string {
    if (item.kind === 'tool_call') {
      const { name, text, loop } = item;
      this.#calls.set(item.callId, { eventId, name, argumentsText: text, loop });
      return '';
    }
    if (this.#open.has(item.id)) return this.#close(item);
    return item.text === '' ? '' : this.#start(item) + content(item, item.text) + this.#close(item);
  }

  #close({ id: messageId, kind, loop }: OutputItem): string {
    this.#open.delete(messageId);
    const owner = belongsTo(loop);
    if (kind === 'message') return frame({ type: 'TEXT_MESSAGE_END', messageId, ...owner });
    return (
      frame({ type: 'REASONING_MESSAGE_END', messageId, ...owner }) +
      frame({ type: 'REASONING_END', messageId, ...owner })
    );
  }

  #runItem({ item }: Extract<RunEvent, { type: 'run_item' }>): string {
    if (item.kind === 'tool_output') return this.#toolOutput(item);
    if (item.kind !== 'question') return '';
    const { questionId, callId, name, text: argumentsText, loop } = item;
    if (loop !== undefined) this.#asking.set(questionId, loop);
    this.#calls.delete(callId);
    return call(toCallId(questionId), { name, argumentsText, loop });
  }

  #toolOutput(item: ToolOutputItem): string {
    const toolCallId = this.#run.settled.get(item.callId) ?? item.callId;
    let frames = '';
    if (this.#loops.delete(item.callId)) {
      const ended = { subagentRunId: item.callId };
      frames += frame(
        item.failed === true
          ? { type: 'SUBAGENT_ERROR', ...ended, message: item.text }
          : { type: 'SUBAGENT_FINISHED', ...ended, outcome: { type: 'success' } },
      );
    }
    frames += this.#showCall(item.callId);
    return this.#run.sentOutputs.has(toolCallId)
      ? frames
      : frames + result(toolCallId, bracketedOutput(item.text, item.images), item.loop);
  }

  #showCall(callId: string): string {
    const hidden = this.#calls.get(callId);
    if (hidden === undefined) return '';
    this.#calls.delete(callId);
    return call(callId, hidden);
  }

  /** The first event of a delegated agent begins its loop. The call that began it is shown before. */
  #beginLoop(event: RunEvent): string {
    const speaker = toSpeaker(event);
    if (speaker?.loop === undefined || this.#loops.has(speaker.loop)) return '';
    const { loop, agent: name } = speaker;
    const parent = this.#calls.get(loop)?.loop;
    this.#loops.set(loop, parent);
    const above = parent === undefined ? {} : { parentSubagentRunId: parent };
    const started = { type: 'SUBAGENT_STARTED', subagentRunId: loop, name, ...above, parentToolCallId: loop };
    return this.#showCall(loop) + frame(started);
  }

  #resume({ discardAfter, voidItems = [] }: Extract<RunEvent, { type: 'resumed' }>): string | null {
    if (this.#lastShown > discardAfter || voidItems.some((id) => this.#open.has(id))) return null;
    for (const [callId, { eventId }] of this.#calls) if (eventId > discardAfter) this.#calls.delete(callId);
    this.#usage.discardAfter(discardAfter);
    return '';
  }

  #end(event: EndOfRun): string {
    let frames = '';
    for (const item of [...this.#open.values()]) frames += this.#close(item);
    const isAsking = event.status === 'completed';
    // Loops that began later are inside of earlier ones.
    for (const [loop, parent] of [...this.#loops].reverse()) {
      frames += isAsking ? this.#suspend(loop) : interrupted(loop, parent);
    }
    return frames + runEnd(event, this.#ids, this.#usage.entries(event.usage), this.#asking);
  }

  #suspend(subagentRunId: string): string {
    const interruptIds = [...this.#asking].filter(([, loop]) => loop === subagentRunId).map(([id]) => id);
    return frame({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended', interruptIds } });
  }
}

const interrupted = (loop: string, parent: string | undefined) =>
  frame({ type: 'SUBAGENT_ERROR', subagentRunId: loop, message: NOT_ANSWERED }) + result(loop, NOT_ANSWERED, parent);

function toSpeaker(event: RunEvent): { readonly agent: string; readonly loop?: string } | null {
  switch (event.type) {
    case 'response_created':
      return event.response;
    case 'item_added':
    case 'item_done':
      return event.item;
    case 'run_item':
      return event.item.kind === 'user' ? null : event.item;
    default:
      return null;
  }
}

function content({ id: messageId, kind, loop }: OutputItem, delta: string): string {
  const type = kind === 'message' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
  return frame({ type, messageId, delta, ...belongsTo(loop) });
}

function call(toolCallId: string, { name, argumentsText, loop }: Omit<HiddenCall, 'eventId'>): string {
  const owner = belongsTo(loop);
  return (
    frame({ type: 'TOOL_CALL_START', toolCallId, toolCallName: name, ...owner }) +
    frame({ type: 'TOOL_CALL_ARGS', toolCallId, delta: argumentsText, ...owner }) +
    frame({ type: 'TOOL_CALL_END', toolCallId, ...owner })
  );
}

function result(toolCallId: string, text: string, loop: string | undefined): string {
  const messageId = `${toolCallId}:output`;
  return frame({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content: text, role: 'tool', ...belongsTo(loop) });
}
