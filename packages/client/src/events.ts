import type {
  ChangedFile,
  Question,
  StreamAgentUpdated,
  StreamChangedFile,
  StreamError,
  StreamMessages,
  StreamMeta,
  StreamQuestion,
  StreamRawResponse,
  StreamResumed,
  StreamRunItem,
} from '@runwire/contract';
import { parseObject } from './json.ts';
import type { Frame, RunEvent, RunResult } from './run-types.ts';

type UnnamedFrame = StreamRawResponse | StreamRunItem | StreamAgentUpdated | StreamError;
/** What the client knows of the fields of `raw_item`. */
type RawItem = Partial<Record<'call_id' | 'name' | 'arguments' | 'text', string>> & Partial<StreamChangedFile>;

/** Returns a frame's typed event. Null if the frame is none: such frames are in `frames()` only. */
export function toEvent({ id, event, data }: Frame): RunEvent | null {
  if (event === 'meta') {
    const { run_id: runId, ignored_fields: ignoredFields = [], ...meta } = JSON.parse(data) as StreamMeta;
    return { type: 'started', id, runId, ...meta, ignoredFields };
  }
  if (event === 'resumed') {
    const { attempt, discard_after: discardAfter, void_items: voidItems = [] } = JSON.parse(data) as StreamResumed;
    return { type: 'resumed', id, attempt, discardAfter, voidItems };
  }
  return event === null ? unnamedEvent(id, JSON.parse(data)) : null;
}

function unnamedEvent(id: number, frame: UnnamedFrame): RunEvent | null {
  if ('error' in frame) return { type: 'error', id, code: frame.code, message: frame.error };
  const { data } = frame;
  const speaker = { id, agent: data.agent, callerAgent: data.callerAgent };
  if (data.type === 'agent_updated_stream_event') return { type: 'agent', ...speaker, agent: data.new_agent.name };
  if (data.type === 'run_item_stream_event') return itemEvent(speaker, data);
  const raw = data.data;
  if (raw.type === 'response.output_text.delta' && speaker.callerAgent === null) {
    return { type: 'text', ...speaker, delta: raw.delta, itemId: raw.item_id };
  }
  if (raw.type === 'response.reasoning_summary_text.delta') {
    return { type: 'reasoning', ...speaker, delta: raw.delta, itemId: raw.item_id };
  }
  return null;
}

function itemEvent(
  speaker: { readonly id: number; readonly agent: string; readonly callerAgent: string | null },
  { name, item }: StreamRunItem['data'],
): RunEvent | null {
  const raw = item.raw_item as RawItem;
  const callId = raw.call_id ?? '';
  // A model can send arguments that are no JSON; the call then fails on the server.
  const call = () => ({ tool: raw.name ?? '', arguments: parseObject(raw.arguments ?? '') });
  switch (name) {
    case 'tool_called':
      return { type: 'tool_call', ...speaker, callId, ...call() };
    case 'tool_progress':
      return { type: name, ...speaker, callId, text: raw.text ?? '' };
    case 'tool_output': {
      const { output = '', failed = false, attachments = [] } = item;
      return { type: name, ...speaker, callId, output, failed, attachments };
    }
    case 'file_changed':
      return { type: 'file', ...speaker, callId, file: getFile(raw as StreamChangedFile) };
    case 'tool_approval_requested':
    case 'client_tool_requested': {
      const { id: _id, ...asker } = speaker;
      const kind = name === 'client_tool_requested' ? 'tool' : 'approval';
      const question: Question = { questionId: item.question_id ?? '', kind, callId, ...asker, ...call() };
      return { type: 'question', ...speaker, question };
    }
    default:
      return null;
  }
}

const getFile = ({ name, path, mime_type, size_bytes, change }: StreamChangedFile): ChangedFile => ({
  ...{ name, path, contentType: mime_type, size: size_bytes, change },
});

const getQuestion = ({ question_id, call_id, ...rest }: StreamQuestion): Question => ({
  ...{ questionId: question_id, callId: call_id, ...rest },
});

/** Reads the frame `messages`. `before` is the text of the runs that it continues. */
export function toResult(data: string, before: string): RunResult {
  const messages = JSON.parse(data) as StreamMessages;
  const { run_id: runId, chatId, status, output, usage, error, new_messages: newMessages } = messages;
  return {
    ...{ runId, chatId, status, text: before + answerIn(newMessages), output: output ?? null },
    ...{ pending: messages.pending.map(getQuestion), files: messages.files.map(getFile), usage, error, newMessages },
  };
}

const answerIn = (messages: StreamMessages['new_messages']) =>
  messages
    .flatMap((item) => ('id' in item && item.type === 'message' && item.callerAgent === null ? item.content : []))
    .map(({ text }) => text)
    .join('');
