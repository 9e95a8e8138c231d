import { bracketedOutput } from '@runwire/lib/bracketed-images.ts';
import type {
  MessageItem,
  Meta,
  OutputItem,
  QuestionItem,
  ReasoningItem,
  RunEvent,
  RunItem,
  ToolCallItem,
  ToolOutputItem,
} from '../../../../domain/run/events.ts';
import { outputItemJson } from '../../../encoders/responses-json.ts';
import { toCallId } from '../../question-calls.ts';
import { ResponseJson, type ResponseStatus } from './response-object.ts';

/** A call of the root agent whose output may still follow. */
export interface KnownCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
  /** The question with which the caller was asked to make the call; then the output is the caller's, and not shown again. */
  readonly askedBy: string | null;
}

export type KnownCalls = ReadonlyMap<string, KnownCall>;

/** The runs that this one continues made calls whose outcomes it shows. */
export interface ResponseContext {
  /** The name of the agency, for `server_label`. */
  readonly agency: string;
  readonly earlierCalls: KnownCalls;
  /** True if the reader may not see what a backend sent with the request. */
  readonly hidesSecrets: boolean;
}

export const NO_CALLS: KnownCalls = new Map();

type TextItem = MessageItem | ReasoningItem;

/** An item of the response. `json` is null while it is open. */
export interface OutputEntry {
  readonly index: number;
  /** The frame with which it began. */
  readonly since: number;
  readonly item: TextItem | null;
  text: string;
  json: string | null;
}

/** Delegated agents' items are no part of the response. */
export const isShown = ({ callerAgent }: { readonly callerAgent: string | null }): boolean => callerAgent === null;

const isStreamed = (item: OutputItem): item is TextItem => item.kind !== 'tool_call';

export const toCall = ({ id, name, text }: ToolCallItem): KnownCall => ({
  id: `mcp_${id.slice(id.indexOf('_') + 1)}`,
  name,
  argumentsText: text.trim() === '' ? '{}' : text,
  askedBy: null,
});

type Messages = Extract<RunEvent, { type: 'messages' }>;

/**
 * What a run's response is after some of its events, always read from the first one on. `output_index` counts all items that
 * were ever announced; items that became void keep theirs and are missing in the final object.
 */
export class ResponseOutput {
  readonly #context: ResponseContext;
  #entries: OutputEntry[] = [];
  #count = 0;
  readonly #calls = new Map<string, KnownCall>();
  #json: ResponseJson | null = null;
  /** The one item of which more text follows. */
  open: OutputEntry | null = null;
  #end: Messages | null = null;

  constructor(context: ResponseContext) {
    this.#context = context;
  }

  get hasBegun(): boolean {
    return this.#json !== null;
  }

  begin(meta: Meta): void {
    this.#json = new ResponseJson(meta, this.#context.hidesSecrets);
  }

  /** Announces a message or reasoning. */
  add(item: TextItem, since: number): OutputEntry {
    this.open = this.#push(since, item, null);
    return this.open;
  }

  /** Returns the JSON of the whole item. It is `incomplete` if it was cut short. */
  close(item: TextItem | null): string {
    const entry = this.open as OutputEntry;
    this.open = null;
    entry.json = item?.complete ? outputItemJson(item) : incompleteJson(entry);
    // The JSON has the text.
    entry.text = '';
    return entry.json;
  }

  /** Remembers a call: its item is sent when its outcome is known. */
  call(item: ToolCallItem): void {
    if (isShown(item)) this.#calls.set(item.callId, toCall(item));
  }

  /** An item that is sent whole, for a tool's output. Null if the response does not show it. */
  output(item: ToolOutputItem, since: number): OutputEntry | null {
    if (!isShown(item)) return null;
    const call = this.#calls.get(item.callId) ?? this.#context.earlierCalls.get(item.callId);
    if ((call?.askedBy ?? null) !== null) return null;
    const { id = `mcp_${item.callId}`, name = '', argumentsText = '{}' } = call ?? {};
    const about = { type: 'mcp_call', id, server_label: this.#context.agency, name, arguments: argumentsText };
    const outcome =
      item.failed === true
        ? { output: null, error: item.text, status: 'failed' }
        : { output: bracketedOutput(item.text, item.images), error: null, status: 'completed' };
    return this.#push(since, null, JSON.stringify({ ...about, ...outcome, approval_request_id: null }));
  }

  /** An item that is sent whole, for a call that waits for the caller. Also a delegated agent asks the caller. */
  question({ questionId, name, text }: QuestionItem, isApproval: boolean, since: number): OutputEntry {
    const callId = toCallId(questionId);
    const { agency } = this.#context;
    const json = isApproval
      ? { type: 'mcp_approval_request', id: callId, server_label: agency, name, arguments: text }
      : { type: 'function_call', id: `fc_${callId.slice('call_'.length)}`, call_id: callId, name, arguments: text };
    return this.#push(since, null, JSON.stringify(isApproval ? json : { ...json, status: 'completed' }));
  }

  /** A message or reasoning of which only the end is stored. Null if it is known. */
  whole(item: RunItem, since: number): OutputEntry | null {
    if (item.kind !== 'message' && item.kind !== 'reasoning') return null;
    if (!isShown(item) || this.#entries.some((entry) => entry.item?.id === item.id)) return null;
    return this.#push(since, item, outputItemJson(item));
  }

  /** Adds an item that an earlier attempt began. Null if its events were read. */
  addVoid(id: string, kind: TextItem['kind'], since: number): OutputEntry | null {
    if (this.#entries.some((entry) => entry.item?.id === id)) return null;
    const about = { agent: '', callerAgent: null, outputIndex: 0, timestamp: 0 };
    const entry = this.#push(since, { kind, id, text: '', complete: false, ...about }, null);
    entry.json = incompleteJson(entry);
    return entry;
  }

  /** An earlier attempt's items after `discardAfter` are void. */
  discard(discardAfter: number): void {
    this.#entries = this.#entries.filter(({ since }) => since <= discardAfter);
  }

  finish(messages: Messages): void {
    this.#end = messages;
  }

  /** The whole response as it is now. */
  get json(): string {
    const end = this.#end;
    const status: ResponseStatus = end === null ? 'in_progress' : end.status;
    const completedAt = status === 'completed' ? (end?.completedAt ?? lastTime(end)) : null;
    const state = { status, completedAt, error: end?.error ?? null, usage: end?.usage ?? null };
    return (this.#json as ResponseJson).write({ ...state, output: this.outputJson });
  }

  get outputJson(): string[] {
    const isActive = this.#end === null;
    return this.#entries.map((entry) => entry.json ?? (isActive ? openJson(entry) : incompleteJson(entry)));
  }

  get status(): ResponseStatus {
    return this.#end === null ? 'in_progress' : this.#end.status;
  }

  #push(since: number, item: TextItem | null, json: string | null): OutputEntry {
    const entry: OutputEntry = { index: this.#count, since, item, text: '', json };
    this.#count += 1;
    this.#entries.push(entry);
    return entry;
  }
}

/** Reads an event without sending it. */
export function readEvent(output: ResponseOutput, event: RunEvent): void {
  switch (event.type) {
    case 'meta':
      output.begin(event.meta);
      return;
    case 'item_added':
      if (isStreamed(event.item) && isShown(event.item)) output.add(event.item, event.id);
      return;
    case 'delta':
      if (output.open !== null && output.open.item?.id === event.item.id) output.open.text += event.text;
      return;
    case 'item_done':
      if (event.item.kind === 'tool_call') output.call(event.item);
      else if (output.open !== null && output.open.item?.id === event.item.id) output.close(event.item);
      return;
    case 'run_item':
      readRunItem(output, event);
      return;
    case 'resumed':
      if (output.open !== null) output.close(null);
      output.discard(event.discardAfter);
      return;
    case 'messages':
      if (output.open !== null) output.close(null);
      output.finish(event);
  }
}

/** Returns the item that the event adds whole; null if there is none. */
export function readRunItem(
  output: ResponseOutput,
  { id, name, item }: Extract<RunEvent, { type: 'run_item' }>,
): OutputEntry | null {
  switch (item.kind) {
    case 'tool_call':
      output.call(item);
      return null;
    case 'tool_output':
      return output.output(item, id);
    case 'question':
      return output.question(item, name === 'tool_approval_requested', id);
    default:
      return output.whole(item, id);
  }
}

/** The last item's time. Events from earlier versions have no time for the end. */
function lastTime(messages: Messages | null): number {
  return Math.floor((messages?.items.at(-1)?.timestamp ?? 0) / 1000);
}

const withText = ({ item, text }: OutputEntry): TextItem => ({ ...(item as TextItem), text, complete: false });

const incompleteJson = (entry: OutputEntry): string => outputItemJson(withText(entry));

/** An item of which more text follows. */
export function openJson(entry: OutputEntry): string {
  const item = JSON.parse(incompleteJson(entry)) as Record<string, unknown>;
  return JSON.stringify(item.type === 'message' ? { ...item, status: 'in_progress' } : item);
}
