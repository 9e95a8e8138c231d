import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import type { Question, QuestionKind, Settlement } from '../../../domain/question/question.ts';
import type { MessageItem, ReasoningItem, RunEvent, ToolCallItem, ToolOutputItem } from '../../../domain/run/events.ts';
import { toCallId } from '../question-calls.ts';
import { toInput, toOutput } from './json-values.ts';

/** A chunk of the UI message stream, as `uiMessageChunkSchema` of `ai` describes it. */
export type Chunk = { readonly type: string; readonly [field: string]: unknown };

/** A call that the message shows. */
interface ShownCall {
  /** Its id in the message. */
  readonly toolCallId: string;
  /** Null if the server makes the call without asking. */
  readonly asks: QuestionKind | null;
}

/** A part of the message that `reset-step` can remove: a response of the root agent and what its calls show. */
interface OpenStep {
  /** The id of its first event. */
  readonly startId: number;
  readonly agent: string | null;
  /** True once the model's response is complete. */
  isComplete: boolean;
  /** Texts and reasoning whose end is not sent yet. */
  readonly open: Map<string, 'text' | 'reasoning'>;
  /** The calls that it added, by the journal's ids. */
  readonly calls: string[];
}

/** Calls of the server: a client shows them and never makes them. */
const OF_SERVER = { dynamic: true, providerExecuted: true };

type RunItemEvent = Extract<RunEvent, { type: 'run_item' }>;

/**
 * The parts of one assistant message. A message contains the run that began it, and the runs that continue it with
 * answers to its questions. Only the root agent's items are parts; a delegated agent's work is the output of its call.
 *
 * `reset-step` removes the parts since the last `start-step`. A response of the root agent is either journalled as a
 * whole or void as a whole, so each response is a step. Questions are shown when their run ends: then none of them can
 * become void, and they are the message's last step, at which `sendAutomaticallyWhen` looks.
 */
export class UiAnswer {
  readonly #write: (chunk: Chunk) => void;
  readonly #fileUrl: (path: string) => string;
  /** By the journal's ids. */
  readonly #calls = new Map<string, ShownCall>();
  /** Calls that may ask: they are shown with their output, or as questions. */
  readonly #withheld = new Map<string, ToolCallItem>();
  /** The files that were shown, by call and path. */
  readonly #files = new Set<string>();
  /** The calls whose output the reader has: it sent them. */
  readonly #known = new Set<string>();
  #step: OpenStep | null = null;
  #agent: string | null = null;

  constructor(write: (chunk: Chunk) => void, fileUrl: (path: string) => string) {
    this.#write = write;
    this.#fileUrl = fileUrl;
  }

  read(event: RunEvent): void {
    switch (event.type) {
      case 'meta':
        this.#agent = event.meta.agent;
        break;
      case 'response_created':
        if (event.response.callerAgent === null) this.#enterStep(event.id);
        break;
      case 'item_added':
        if (isShown(event.item)) this.#openPart(event.item, event.id);
        break;
      case 'delta':
        if (isShown(event.item)) this.#delta(event.item, event.text, event.id);
        break;
      case 'item_done':
        this.#closePart(event.item.id);
        break;
      case 'response_done':
        if (event.response.callerAgent === null && this.#step !== null) this.#step.isComplete = true;
        break;
      case 'run_item':
        this.#runItem(event);
        break;
      case 'agent_updated':
        if (event.callerAgent === null) this.#showAgent(event.newAgent, event.id);
        break;
      case 'file_changed':
        this.#showFile(event);
        break;
      case 'resumed':
        this.#reset(event.discardAfter, event.id);
        break;
      case 'messages':
        this.#closeStep();
        this.#withheld.clear();
        for (const question of event.pending ?? []) this.#showQuestion(question, event.id);
        this.#closeStep();
        break;
      default:
        break;
    }
  }

  /** The next run settles the questions. `isReplay` is true if the reader gets the message from its start. */
  settle(settlements: readonly Settlement[], isReplay: boolean): void {
    for (const settlement of settlements) {
      const { callId, verdict, questionId } = settlement;
      const asks = this.#calls.get(callId)?.asks;
      if (verdict === 'output' && !isReplay) this.#known.add(callId);
      if (asks !== 'approval') continue;
      const isApproved = verdict === 'approved';
      const reason = isApproved && settlement.reason !== null ? { reason: settlement.reason } : {};
      if (isReplay)
        this.#write({ type: 'tool-approval-response', approvalId: questionId, approved: isApproved, ...reason });
      if (isApproved) continue;
      this.#write({ type: 'tool-output-denied', toolCallId: toCallId(questionId) });
      this.#known.add(callId);
    }
  }

  /** Enters the step to which the event's parts belong. */
  #enterStep(id: number): OpenStep {
    const { agent } = this.#step ?? { agent: this.#agent };
    if (this.#step !== null && !this.#step.isComplete) return this.#step;
    this.#closeStep();
    this.#write({ type: 'start-step' });
    this.#step = { startId: id, agent: this.#agent ?? agent, isComplete: false, open: new Map(), calls: [] };
    return this.#step;
  }

  #closeStep(): void {
    if (this.#step === null) return;
    for (const itemId of [...this.#step.open.keys()]) this.#closePart(itemId);
    this.#write({ type: 'finish-step' });
    this.#step = null;
  }

  /** Removes the step's parts if the new attempt sends it again. */
  #reset(discardAfter: number, id: number): void {
    const step = this.#step;
    if (step === null || step.startId <= discardAfter) return;
    this.#write({ type: 'reset-step' });
    this.#agent = step.agent;
    this.#withheld.clear();
    for (const callId of step.calls) this.#calls.delete(callId);
    this.#step = { startId: id, agent: step.agent, isComplete: false, open: new Map(), calls: [] };
  }

  #openPart(item: MessageItem | ReasoningItem, id: number): void {
    const { open } = this.#enterStep(id);
    const kind = item.kind === 'message' ? 'text' : 'reasoning';
    open.set(item.id, kind);
    this.#write({ type: `${kind}-start`, id: item.id });
  }

  #delta(item: MessageItem | ReasoningItem, text: string, id: number): void {
    // A compacted log has no start of an item.
    if (this.#step?.open.has(item.id) !== true) this.#openPart(item, id);
    this.#write({ type: item.kind === 'message' ? 'text-delta' : 'reasoning-delta', id: item.id, delta: text });
  }

  #closePart(itemId: string): void {
    const kind = this.#step?.open.get(itemId);
    if (kind === undefined) return;
    this.#step?.open.delete(itemId);
    this.#write({ type: `${kind}-end`, id: itemId });
  }

  #runItem({ id, name, item, mayAsk }: RunItemEvent): void {
    if (item.kind === 'tool_output') this.#showOutput(item, id);
    if (item.kind === 'user' || item.callerAgent !== null) return;
    if (item.kind === 'message' || item.kind === 'reasoning') this.#closePart(item.id);
    else if (name === 'tool_called' && item.kind === 'tool_call') {
      if (mayAsk === true) this.#withheld.set(item.callId, item);
      else this.#showCall(item, id);
    } else if (item.kind !== 'tool_call') return;
    // A compacted log has no end of a response. Its items follow it.
    if (this.#step !== null) this.#step.isComplete = true;
  }

  #showCall({ callId, name, text }: ToolCallItem, id: number): void {
    const step = this.#step ?? this.#enterStep(id);
    this.#calls.set(callId, { toolCallId: callId, asks: null });
    step.calls.push(callId);
    this.#write({
      type: 'tool-input-available',
      toolCallId: callId,
      toolName: name,
      input: toInput(text),
      ...OF_SERVER,
    });
  }

  #showOutput({ callId, text: shown, failed, images }: ToolOutputItem, id: number): void {
    const text = bracketedOutput(shown, images);
    const withheld = this.#withheld.get(callId);
    if (withheld !== undefined) {
      this.#withheld.delete(callId);
      this.#showCall(withheld, id);
    }
    const call = this.#calls.get(callId);
    if (call === undefined || this.#known.has(callId)) return;
    const { toolCallId, asks } = call;
    const more = asks === 'tool' ? {} : OF_SERVER;
    if (failed === true) this.#write({ type: 'tool-output-error', toolCallId, errorText: text, ...more });
    else this.#write({ type: 'tool-output-available', toolCallId, output: toOutput(text), ...more });
  }

  #showQuestion({ questionId, kind, callId, tool, argumentsText }: Question, id: number): void {
    const toolCallId = toCallId(questionId);
    this.#enterStep(id);
    this.#calls.set(callId, { toolCallId, asks: kind });
    const call = { type: 'tool-input-available', toolCallId, toolName: tool, input: toInput(argumentsText) };
    this.#write(kind === 'tool' ? call : { ...call, ...OF_SERVER });
    if (kind === 'approval') this.#write({ type: 'tool-approval-request', approvalId: questionId, toolCallId });
  }

  #showAgent(agent: string, id: number): void {
    // A repeated hand-off of an attempt that became void.
    if (agent === this.#agent) return;
    if (this.#step === null) this.#enterStep(id);
    this.#agent = agent;
    this.#write({ type: 'data-agent', data: { agent } });
  }

  #showFile({ id, callId, file }: Extract<RunEvent, { type: 'file_changed' }>): void {
    const key = `${callId} ${file.path}`;
    if (file.change === 'deleted' || this.#files.has(key)) return;
    this.#files.add(key);
    if (this.#step === null) this.#enterStep(id);
    const name = file.path.slice(file.path.lastIndexOf('/') + 1);
    const about = { providerMetadata: { runwire: { path: file.path, name, size: file.size, change: file.change } } };
    this.#write({ type: 'file', url: this.#fileUrl(file.path), mediaType: file.contentType, ...about });
  }
}

/** True for texts and reasoning of the root agent. */
const isShown = (item: {
  readonly kind: string;
  readonly callerAgent: string | null;
}): item is MessageItem | ReasoningItem => item.callerAgent === null && item.kind !== 'tool_call';
