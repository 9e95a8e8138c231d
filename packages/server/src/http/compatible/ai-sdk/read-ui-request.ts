import { hash } from 'node:crypto';
import { isCallerId } from '../../../domain/ids.ts';
import { callerInstructions } from '../caller-instructions.ts';
import { readFunction } from '../caller-tools.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { type CompatibleRequest, headerConsumer } from '../compatible-starts.ts';
import { Fields } from '../fields.ts';
import { HistoryTurns } from '../history-turns.ts';
import type { PartRules } from '../message-parts.ts';
import { addToHistory, getFiles, getOutputs, getText, readMessage, type UiMessage } from './ui-messages.ts';
import { toRunId } from './ui-stream.ts';

/** A request of `useChat`, before the chat is known. */
export interface UiRequest {
  readonly body: Fields;
  readonly chatId: string;
  /** The messages, oldest first, without system messages. At least one. */
  readonly messages: readonly UiMessage[];
  readonly system: readonly UiMessage[];
  /** Replaces the end of the chat: an edit, or another answer to the same message. */
  readonly replaces: 'edit' | 'regenerate' | null;
}

/** The chat that the request names; null if it is not stored. */
export interface StoredChat {
  readonly pending: readonly { readonly questionId: string }[];
}

type RequestAnswers = NonNullable<CompatibleRequest['answers']> | null;

const BAD_ID = 'must have 1–256 characters and no control characters';
const MAX_MESSAGE = 1_000_000;
const MAX_ID = 256;
const MAX_TOOLS = 64;

export function readUiRequest({ request }: Pick<CompatibleCall, 'request'>): UiRequest {
  const body = Fields.of(request.body);
  const chatId = body.requiredText('id');
  const trigger = body.text('trigger') ?? 'submit-message';
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw body.refusal('trigger', 'must be `submit-message` or `regenerate-message`');
  }
  const all = body.objects('messages').map(readMessage);
  const messages = all.filter(({ role }) => role !== 'system');
  const last = messages.at(-1);
  if (last === undefined) throw body.refusal('messages', 'must have a message');
  if (!isCallerId(chatId)) throw body.refusal('id', BAD_ID);
  if (last.id !== '' && !isCallerId(last.id)) throw last.fields.refusal('id', BAD_ID);
  const messageId = body.text('messageId');
  // With outputs and approvals, `messageId` is that of the assistant message.
  const isEdit = messageId !== null && last.role === 'user' && last.id === messageId;
  const replaces = trigger === 'regenerate-message' ? 'regenerate' : isEdit ? 'edit' : null;
  if (replaces === 'regenerate' && last.role !== 'user') {
    throw body.refusal('messages', 'must end with the message of the user that is answered again');
  }
  return { body, chatId, messages, system: all.filter(({ role }) => role === 'system'), replaces };
}

export function toCompatibleRequest(
  call: CompatibleCall,
  given: UiRequest,
  stored: StoredChat | null,
): CompatibleRequest {
  const { request, settings, ignored } = call;
  const { body, chatId, messages, replaces } = given;
  const last = messages.at(-1) as UiMessage;
  const isUsers = last.role === 'user';
  const message = isUsers ? getText(last) : '';
  if (message.length > MAX_MESSAGE) throw body.refusal('messages', `must have at most ${MAX_MESSAGE} characters each`);
  const attachments = isUsers ? getFiles(last, call.parts) : [];
  const agent = body.text('agent');
  const consumerId = readConsumer(body, call);
  const userContext = readContext(body, call);
  const clientTools = readTools(body);
  const isNew = stored === null;
  const history = isNew ? readHistory(given, call.parts) : [];
  const sent = given.system.map((one) => ({ name: one.fields.nameOf('parts'), text: getText(one) }));
  const instructions = callerInstructions(sent, { settings, ignored, request });
  for (const name of body.unread) ignored.add(name);
  const answers = isNew || replaces !== null ? null : readAnswers(messages, stored);
  return {
    message,
    attachments,
    agent,
    consumerId,
    chatId,
    usageRequestId: readUsageRequestId(given),
    ...(userContext === null ? {} : { userContext }),
    compared: { chatId, last: last.parts.map(({ value }) => value), clientTools },
    clientTools,
    history,
    answers,
    ...(instructions === null ? {} : { extras: { instructions, outputSchema: null, metadata: null } }),
    chatRules: {
      historyIfNew: true,
      ...(replaces === null || isNew ? {} : { replacesEnd: { after: runBefore(given) } }),
    },
  };
}

function readConsumer(body: Fields, { request }: Pick<CompatibleCall, 'request'>): string | null {
  const inBody = body.text('consumerId');
  return headerConsumer(request) ?? (inBody === '' ? null : inBody);
}

function readContext(body: Fields, { request }: Pick<CompatibleCall, 'request'>): unknown {
  const context = body.any('user_context');
  if (context === null) return null;
  if (request.clientToken !== null) {
    throw body.refusal('user_context', 'cannot be sent with a client token; your backend sets it as `userContext`');
  }
  return context;
}

function readTools(body: Fields) {
  const tools = body.objects('clientTools');
  if (tools.length > MAX_TOOLS) throw body.refusal('clientTools', `must have at most ${MAX_TOOLS} tools`);
  return tools.map((tool) => readFunction(tool, 'inputSchema'));
}

/** The messages before the newest one. */
function readHistory({ messages }: UiRequest, rules: PartRules) {
  const turns = new HistoryTurns();
  const last = messages.at(-1) as UiMessage;
  for (const message of last.role === 'user' ? messages.slice(0, -1) : messages) addToHistory(turns, message, rules);
  return turns.turns;
}

/**
 * The answers to the chat's open questions, in the assistant message that is the newest or has only the user's new message
 * after it. Outputs of questions that were settled before are left out, unless the request has nothing else: then
 * admission finds the run that answered them, or refuses.
 */
function readAnswers(messages: readonly UiMessage[], { pending }: StoredChat): RequestAnswers {
  const last = messages.at(-1) as UiMessage;
  const asking = last.role === 'assistant' ? last : messages.at(-2);
  if (asking === undefined || asking.role !== 'assistant') return null;
  const outputs = getOutputs(asking);
  const open = outputs.filter(({ answer }) => pending.some(({ questionId }) => questionId === answer.questionId));
  if (open.length > 0) return open.map(({ answer }) => answer);
  if (last.role === 'user') return null;
  const late = outputs.filter(({ isInLastStep }) => isInLastStep).map(({ answer }) => answer);
  return late.length === 0 ? null : late;
}

/** `ui:` and the ids of chat and message: the same message is the same run. */
function readUsageRequestId({ chatId, messages, replaces }: UiRequest): string | null {
  if (replaces === 'regenerate') return null;
  const last = messages.at(-1) as UiMessage;
  // Without ids, two messages look the same.
  if (last.id === '') return null;
  const plain = `ui:${chatId}:${last.id}`;
  const isNewMessage = replaces === null && last.role === 'user';
  const id = isNewMessage ? plain : `${plain}:${hash('sha256', JSON.stringify(last.fields.value)).slice(0, 16)}`;
  return [...id].length <= MAX_ID ? id : `ui:${hash('sha256', id)}`;
}

/** The run of the last assistant message, whose id this API gave out. Null if there is none. */
function runBefore({ messages }: UiRequest): string | null {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (last === undefined) return null;
  return newestRun(last) ?? toRunId(last.id);
}

/** The metadata name the newest run of a message that several runs made. */
function newestRun({ fields }: UiMessage): string | null {
  const metadata = fields.any('metadata');
  const runId = (metadata as { readonly runId?: unknown } | null)?.runId;
  return typeof runId === 'string' && runId.startsWith('run_') ? runId : null;
}
