import type {
  Frame,
  Message,
  StreamAgentUpdated,
  StreamChangedFile,
  StreamError,
  StreamRawResponse,
  StreamResumed,
  StreamRunItem,
  ToolAttachment,
} from '@runwire/client';
import { BlockSplitter, splitBlocks } from '../../lib/markdown-blocks.ts';
import { Changes } from './changes.ts';

export interface TextPart {
  readonly kind: 'text' | 'reasoning';
  readonly agent: string;
  readonly splitter: BlockSplitter;
  readonly changes: Changes;
}

export interface CallPart {
  readonly kind: 'call';
  readonly callId: string;
  readonly agent: string;
  /** Empty if the run before made the call, and its name is not known here. */
  readonly tool: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
  output: string | null;
  /** The images that the call returned. */
  attachments: readonly ToolAttachment[];
  /** False for outputs that older servers stored, which do not say it. */
  hasFailed: boolean;
  /** The tool's last report. */
  progress: string | null;
  isAsking: boolean;
  /** What the asked agent does, if the call asks one. */
  readonly children: PartList;
  readonly changes: Changes;
}

export interface FilePart {
  readonly kind: 'file';
  readonly file: StreamChangedFile;
}

export type Part =
  | TextPart
  | CallPart
  | { readonly kind: 'handoff'; readonly from: string; readonly to: string }
  | FilePart
  | { readonly kind: 'note'; readonly text: string };

/** Parts in the order in which they began. */
export class PartList {
  readonly changes = new Changes();
  parts: Part[] = [];

  add<P extends Part>(part: P): P {
    this.parts.push(part);
    this.changes.add();
    return part;
  }
}

type UnnamedFrame = Exclude<StreamRawResponse | StreamRunItem | StreamAgentUpdated, StreamError>;

interface StoredEvent {
  readonly id: number;
  readonly data: UnnamedFrame['data'] | { readonly type: 'resumed'; readonly attempt: number };
}

type RawItem = Readonly<Partial<Record<'id' | 'call_id' | 'name' | 'arguments' | 'text', string>>> & {
  readonly turns?: number;
};

/** A call of the run before, which this run answers. */
export type KnownCall = Pick<CallPart, 'callId' | 'tool' | 'arguments'>;

/** The parts of a run, made from its events as they arrive. */
export class RunParts {
  readonly root = new PartList();
  /** True if a piece of the answer has arrived. */
  hasText = false;
  /** What is needed to make the parts again without void events. */
  #events: StoredEvent[] = [];
  readonly #texts = new Map<string, TextPart>();
  readonly #calls = new Map<string, CallPart>();
  readonly #known: readonly KnownCall[];

  constructor(known: readonly KnownCall[] = []) {
    this.#known = known;
  }

  /** Releases what only further events need. */
  close(): void {
    this.#events = [];
    this.#texts.clear();
    this.#calls.clear();
  }

  take({ id, event, data }: Frame): void {
    if (event === 'resumed') this.#resume(id, JSON.parse(data));
    if (event !== null) return;
    const frame = JSON.parse(data) as UnnamedFrame | StreamError;
    if (!('error' in frame)) this.#store({ id, data: frame.data });
  }

  /** Drops what is void since a crash of the server, and makes the parts again from the rest. */
  #resume(id: number, { attempt, discard_after, void_items = [] }: StreamResumed): void {
    const kept = this.#events.filter(
      ({ id: eventId, data }) => eventId <= discard_after && !void_items.includes(getItemId(data)),
    );
    this.#events = [];
    this.#texts.clear();
    this.#calls.clear();
    this.root.parts = [];
    this.hasText = false;
    for (const event of [...kept, { id, data: { type: 'resumed', attempt } } as const]) this.#store(event);
    this.root.changes.add();
  }

  #store(event: StoredEvent): void {
    if (this.#apply(event.data)) this.#events.push(event);
  }

  /** Returns true if the event changes what is shown. */
  #apply(data: StoredEvent['data']): boolean {
    if (data.type === 'resumed') {
      this.root.add({ kind: 'note', text: `The server stopped. The run continues with attempt ${data.attempt}.` });
      return true;
    }
    const list = data.parent_run_id === undefined ? this.root : this.#calls.get(data.parent_run_id)?.children;
    if (list === undefined) return false;
    if (data.type === 'agent_updated_stream_event') {
      list.add({ kind: 'handoff', from: data.agent, to: data.new_agent.name });
      return true;
    }
    if (data.type === 'run_item_stream_event') return this.#applyItem(list, data);
    const raw = data.data;
    if (raw.type === 'response.output_text.delta') this.#write(list, 'text', data.agent, raw);
    else if (raw.type === 'response.reasoning_summary_text.delta') this.#write(list, 'reasoning', data.agent, raw);
    else return false;
    return true;
  }

  #write(
    list: PartList,
    kind: TextPart['kind'],
    agent: string,
    { item_id, delta }: { readonly item_id: string; readonly delta: string },
  ): void {
    let part = this.#texts.get(item_id);
    if (part === undefined) {
      part = list.add({ kind, agent, splitter: new BlockSplitter(), changes: new Changes() });
      this.#texts.set(item_id, part);
    }
    part.splitter.append(delta);
    part.changes.add();
    if (kind === 'text' && list === this.root) this.hasText = true;
  }

  #applyItem(list: PartList, { name, agent, item }: StreamRunItem['data']): boolean {
    const raw = item.raw_item as RawItem;
    const call = this.#calls.get(raw.call_id ?? '');
    switch (name) {
      case 'tool_called':
        if (call === undefined) this.#addCall(list, agent, raw);
        return true;
      case 'tool_approval_requested':
      case 'client_tool_requested':
        (call ?? this.#addCall(list, agent, raw)).isAsking = true;
        return true;
      case 'tool_progress':
        if (call === undefined) return false;
        call.progress = raw.text ?? null;
        call.changes.add();
        return true;
      case 'tool_output': {
        // The output of a call that the run before asked about has no call here.
        const answered = call ?? this.#addCall(list, agent, raw);
        answered.output = item.output ?? '';
        answered.attachments = item.attachments ?? [];
        answered.hasFailed = item.failed ?? false;
        answered.isAsking = false;
        answered.changes.add();
        return true;
      }
      case 'file_changed':
        list.add({ kind: 'file', file: item.raw_item as unknown as StreamChangedFile });
        return true;
      case 'history_left_out':
        list.add({ kind: 'note', text: `The oldest ${raw.turns} turns of the chat are not in the prompt.` });
        return true;
      case 'history_summarized':
        list.add({
          kind: 'note',
          text: `A model summed up the oldest ${raw.turns} turns of the chat. The prompt has the summary in their place.`,
        });
        return true;
      default:
        return false;
    }
  }

  #addCall(list: PartList, agent: string, raw: RawItem): CallPart {
    const callId = raw.call_id ?? '';
    const known = this.#known.find((call) => call.callId === callId);
    const { name = known?.tool ?? '', arguments: given = known?.arguments ?? '' } = raw;
    const part = list.add(makeCall({ callId, agent, tool: name, arguments: given }));
    this.#calls.set(callId, part);
    return part;
  }
}

const makeCall = (call: Pick<CallPart, 'callId' | 'agent' | 'tool' | 'arguments'>): CallPart => ({
  kind: 'call',
  ...call,
  output: null,
  attachments: [],
  hasFailed: false,
  progress: null,
  isAsking: false,
  children: new PartList(),
  changes: new Changes(),
});

/** What a stored message tells of its run: the calls without their content, and the whole text. */
export function storedParts({ agent, calls, content }: Message): PartList {
  const list = new PartList();
  const by = agent ?? '';
  for (const { callId, tool, agent } of calls) {
    list.add(makeCall({ callId: callId ?? '', agent, tool: tool ?? '', arguments: '' }));
  }
  if (content !== '') list.add({ kind: 'text', agent: by, splitter: splitBlocks(content), changes: new Changes() });
  return list;
}

function getItemId(data: StoredEvent['data']): string {
  if (data.type === 'raw_response_event') return 'item_id' in data.data ? data.data.item_id : '';
  if (data.type === 'run_item_stream_event') return (data.item.raw_item as RawItem).id ?? '';
  return '';
}
