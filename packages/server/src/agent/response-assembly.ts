import type { Replay } from '@runwire/models';
import { newId } from '../domain/ids.ts';
import { addUsage, NO_USAGE, type Usage } from '../domain/model/usage.ts';
import type {
  MessageItem,
  OutputItem,
  ReasoningItem,
  ResponseRef,
  RunEventBody,
  RunItemName,
  Speaker,
} from '../domain/run/events.ts';
import type { ChatTrace } from '../telemetry/run-trace.ts';
import type { InputUsage, ModelOutput } from './ports.ts';
import type { Progress } from './progress.ts';
import type { RunScope } from './run-scope.ts';
import type { TeamAgent } from './team.ts';

/** A longer answer that is held is cut off: it is in memory, and the store does not slow it down. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

export interface AssemblyOptions {
  /** The agent that answers. */
  readonly agent: Pick<TeamAgent, 'handOffs' | 'tools' | 'guardrails'>;
  /**
   * Given if the answer is structured, or if guardrails check its text: readers get it after it was checked, and nothing of a
   * wrong one. Aborted if the model writes more than may be held.
   */
  readonly tooLong: AbortController | null;
  /** True if only the text is held back, and readers get reasoning and calls immediately. */
  readonly holdsOnlyText: boolean;
  /** The prompt's size. */
  readonly inputBytes: number;
  /** Null if traces are off. */
  readonly trace: ChatTrace | null;
}

type AssemblyScope = Pick<RunScope, 'progress' | 'room' | 'emit'>;

/** A part of an answer that no reader has seen yet, besides its text. */
type HeldPart =
  | { readonly kind: 'reasoning'; text: string }
  | { readonly kind: 'tool_call'; readonly callId: string; readonly name: string; readonly text: string };

const isCall = ({ kind }: { readonly kind: string }) => kind === 'tool_call';

/** Turns a model's output, piece by piece, into the items and events of one response. */
export class ResponseAssembly implements ModelOutput {
  readonly output: OutputItem[] = [];
  readonly #response: ResponseRef;
  readonly #speaker: Speaker;
  readonly #agent: AssemblyOptions['agent'];
  #holdsAnswer: boolean;
  #holdsText: boolean;
  /** The text that no reader has seen yet. */
  heldText = '';
  #heldParts: HeldPart[] = [];
  #heldBytes = 0;
  readonly #tooLong: AbortController | null;
  readonly #progress: Progress;
  readonly #scope: AssemblyScope;
  readonly #calledAt = performance.now();
  readonly #trace: ChatTrace | null;
  #open: MessageItem | ReasoningItem | null = null;
  #begun = false;
  #hasOutput = false;
  /** From the call to its first output, also if it is an unfinished call of a tool. Null if there is none yet. */
  firstTokenMs: number | null = null;
  /** True if the run's first output is of this response. */
  #isFirstOfRun = false;
  #argumentsBytes = 0;
  reportedUsage: Usage | null = null;
  /** The input that the provider reported before its answer was complete. */
  reportedInput: InputUsage | null = null;
  /** What the provider wants back in later steps. */
  returned: Replay | null = null;
  /** The reported usage of answers that were discarded and requested again. */
  earlierUsage: Usage = NO_USAGE;

  constructor(model: string, speaker: Speaker, scope: AssemblyScope, options: AssemblyOptions) {
    const { agent, tooLong, holdsOnlyText, inputBytes, trace } = options;
    this.#trace = trace;
    this.#holdsText = tooLong !== null;
    this.#holdsAnswer = tooLong !== null && !holdsOnlyText;
    this.#tooLong = tooLong;
    this.#speaker = speaker;
    this.#response = { id: newId('resp'), model, ...speaker };
    this.#agent = agent;
    this.#progress = scope.progress;
    this.#scope = scope;
    this.#emit({ type: 'response_created', response: this.#response, inputBytes });
  }

  get isFull(): boolean {
    return this.#scope.room.isFull;
  }

  onceRoom(onRoom: () => void): void {
    this.#scope.room.onceRoom(onRoom);
  }

  #emit(event: RunEventBody): void {
    this.#scope.emit(event);
  }

  /** True once the model has accepted the call: its provider answered 2xx, or its first event arrived. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  #accept(): void {
    this.#begun = true;
    this.#progress.accepted = true;
  }

  #acceptOutput(): void {
    this.#accept();
    if (this.#hasOutput) return;
    this.#hasOutput = true;
    this.#noteOutput();
  }

  #noteOutput(): void {
    if (this.firstTokenMs !== null) return;
    const afterMs = performance.now() - this.#calledAt;
    this.firstTokenMs = Math.round(afterMs);
    if (this.#progress.firstOutputAt === undefined) {
      this.#progress.firstOutputAt = Date.now();
      this.#isFirstOfRun = true;
    }
    this.#trace?.firstOutput();
    this.#progress.watcher?.onFirstOutput(afterMs, this.#response.model);
  }

  /** True if the model has produced output, even if no reader has seen it. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  /** Arguments count from their first piece, and only once. */
  get outputBytes(): number {
    let written = 0;
    let called = 0;
    for (const item of this.output) {
      if (item.kind === 'tool_call') called += Buffer.byteLength(item.text);
      else written += Buffer.byteLength(item.text);
    }
    for (const part of this.#heldParts) if (part.kind === 'tool_call') called += Buffer.byteLength(part.text);
    return written + this.#heldBytes + Math.max(called, this.#argumentsBytes);
  }

  /** An earlier's output, unfinished answer is void: no reader got it. The usage that it reported still counts. */
  begun(): void {
    this.#accept();
    this.#argumentsBytes = 0;
    if (!this.#hasOutput) this.#discardFirst();
    const earlier =
      this.reportedUsage ?? (this.reportedInput && { ...NO_USAGE, requestCount: 1, ...this.reportedInput });
    if (earlier !== null) this.earlierUsage = addUsage(this.earlierUsage, earlier);
    this.reportedUsage = null;
    this.reportedInput = null;
  }

  #discardFirst(): void {
    this.firstTokenMs = null;
    if (this.#isFirstOfRun) this.#progress.firstOutputAt = undefined;
    this.#isFirstOfRun = false;
  }

  argumentsPiece(text: string): void {
    this.#accept();
    this.#noteOutput();
    this.#argumentsBytes += Buffer.byteLength(text);
  }

  text(text: string): void {
    if (!this.#holdsText) {
      this.#say(text);
      return;
    }
    // Readers see that the reasoning before the text is complete.
    this.#close();
    if (this.#hasRoomFor(text)) this.heldText += text;
  }

  /** True if the model wrote more than may be held. Nothing is held then. */
  get isTooLong(): boolean {
    return this.#heldBytes > MAX_HELD_BYTES;
  }

  /** True if the model has made calls, so that its answer is not the last one. */
  get hasCalls(): boolean {
    return this.#heldParts.some(isCall) || this.output.some(isCall);
  }

  #hasRoomFor(text: string): boolean {
    this.#acceptOutput();
    if (this.isTooLong) return false;
    this.#heldBytes += Buffer.byteLength(text);
    if (!this.isTooLong) return true;
    this.heldText = '';
    this.#heldParts = [];
    this.#tooLong?.abort();
    return false;
  }

  #say(text: string): void {
    const item = this.#open?.kind === 'message' ? this.#open : this.#begin('message');
    item.text += text;
    this.#emit({ type: 'delta', item, text });
  }

  reasoning(text: string): void {
    if (this.#holdsAnswer) {
      if (!this.#hasRoomFor(text)) return;
      const last = this.#heldParts.at(-1);
      if (last?.kind === 'reasoning') last.text += text;
      else this.#heldParts.push({ kind: 'reasoning', text });
      return;
    }
    const item = this.#open?.kind === 'reasoning' ? this.#open : this.#begin('reasoning');
    item.text += text;
    this.#emit({ type: 'delta', item, text });
  }

  toolCall(callId: string, name: string, argumentsText: string): void {
    if (this.#holdsAnswer) {
      if (this.#hasRoomFor('')) this.#heldParts.push({ kind: 'tool_call', callId, name, text: argumentsText });
      return;
    }
    this.#close();
    const item: OutputItem = {
      kind: 'tool_call',
      id: newId('fc'),
      ...this.#speaker,
      outputIndex: this.output.length,
      callId: this.#progress.callId(callId),
      name,
      text: '',
      complete: false,
      timestamp: this.#progress.timestamp(),
    };
    this.#keep(item);
    item.text = argumentsText;
    this.#emit({ type: 'delta', item, text: argumentsText });
    item.complete = true;
    this.#emit({ type: 'item_done', item });
  }

  replay(replay: Replay): void {
    this.returned = replay;
  }

  inputUsage(input: InputUsage): void {
    this.#accept();
    this.reportedInput = input;
  }

  usage(usage: Usage): void {
    this.#accept();
    this.reportedUsage = usage;
  }

  /** Ends the response. What was held is sent now, if it is right. A structured agent's text beside calls is not sent. */
  finish(usage: Usage, isRight = true): void {
    this.#accept();
    if (isRight) this.#release();
    this.heldText = '';
    this.#close();
    this.#emit({ type: 'response_done', response: this.#response, output: this.output, usage });
    for (const item of this.output) {
      const name = this.#getName(item);
      if (name === 'tool_called' && this.#mayAsk(item)) this.#emit({ type: 'run_item', name, item, mayAsk: true });
      else this.#emit({ type: 'run_item', name, item });
    }
  }

  #release(): void {
    const text = this.#holdsAnswer && this.hasCalls ? '' : this.heldText;
    const parts = this.#heldParts;
    this.#holdsAnswer = false;
    this.#holdsText = false;
    this.#heldParts = [];
    for (const part of parts) {
      if (part.kind === 'reasoning') this.reasoning(part.text);
      else this.toolCall(part.callId, part.name, part.text);
    }
    if (text !== '') this.#say(text);
  }

  /** Ends an item that the model will not finish, in a run that continues without it. */
  abandon(): void {
    const item = this.#open;
    this.#open = null;
    if (item !== null) this.#emit({ type: 'item_done', item });
  }

  #getName(item: OutputItem): RunItemName {
    if (item.kind === 'message') return 'message_output_created';
    if (item.kind === 'reasoning') return 'reasoning_item_created';
    return this.#agent.handOffs.has(item.name) ? 'handoff_requested' : 'tool_called';
  }

  #mayAsk(item: OutputItem): boolean {
    if (item.kind !== 'tool_call') return false;
    const { tools, guardrails } = this.#agent;
    if (guardrails?.has('toolCall') === true) return true;
    return tools.some((tool) => tool.name === item.name && tool.asks !== undefined);
  }

  #begin(kind: 'message' | 'reasoning'): MessageItem | ReasoningItem {
    this.#close();
    const item: MessageItem | ReasoningItem = {
      kind,
      id: newId(kind === 'message' ? 'msg' : 'rs'),
      ...this.#speaker,
      outputIndex: this.output.length,
      text: '',
      complete: false,
      timestamp: this.#progress.timestamp(),
    };
    this.#open = item;
    this.#keep(item);
    return item;
  }

  #keep(item: OutputItem): void {
    this.#acceptOutput();
    this.output.push(item);
    this.#progress.items.push(item);
    this.#emit({ type: 'item_added', item });
  }

  #close(): void {
    const item = this.#open;
    if (item === null) return;
    this.#open = null;
    item.complete = true;
    this.#emit({ type: 'item_done', item });
  }
}
