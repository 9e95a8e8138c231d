import type { RequestAnswer } from '../../../domain/question/question.ts';
import { NO_EXTRAS } from '../../../domain/run/run-extras.ts';
import { callerInstructions } from '../caller-instructions.ts';
import { readFunction } from '../caller-tools.ts';
import type { CompatibleCall } from '../compatible-route.ts';
import { type CompatibleRequest, headerConsumer } from '../compatible-starts.ts';
import { Fields } from '../fields.ts';
import { AgUiMessages, toAnswers } from './ag-ui-messages.ts';

/** The chat that `threadId` names; null if it is new. */
export interface KnownChat {
  readonly pending: readonly { readonly questionId: string }[];
}

/** A request of AG-UI (`RunAgentInput`). */
export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  /** Ids of calls whose outputs the client has sent, now or earlier. */
  readonly sentOutputs: ReadonlySet<string>;
  readonly toRequest: (chat: KnownChat | null) => CompatibleRequest;
}

const ROLES: ReadonlySet<string> = new Set([
  'user',
  'assistant',
  'tool',
  'system',
  'developer',
  'reasoning',
  'activity',
]);

export function readRunInput(call: CompatibleCall): RunInput {
  const { request } = call;
  const body = Fields.of(request.body);
  const threadId = body.requiredText('threadId');
  const runId = body.requiredText('runId');
  const sent = body.objects('messages');
  for (const message of sent) {
    if (!ROLES.has(message.requiredText('role'))) throw message.refusal('role', 'is not a role of AG-UI');
  }
  const messages = new AgUiMessages(sent, call.parts);
  const resumed = body.objects('resume').map(readResume);
  const clientTools = body.objects('tools').map((tool) => readFunction(tool));
  const about = readContext(call, body);
  const { agent = null } = request.params as { readonly agent?: string };
  for (const name of ['protocolVersion', 'parentRunId']) body.any(name);
  for (const name of body.unread) call.ignored.add(name);

  const toRequest = (chat: KnownChat | null): CompatibleRequest => {
    const { text: message, attachments } = messages.newest();
    const open = new Set(chat?.pending.map(({ questionId }) => questionId));
    const outputs = messages.newestOutputs();
    // A message after outputs that nothing waits for continues the chat like any other message.
    const hasWaiting = outputs.length > 0 && toAnswers(outputs, open).some(({ questionId }) => open.has(questionId));
    const isOnlyOutputs = chat !== null && message === '' && attachments.length === 0 && resumed.length === 0;
    const byOutputs = hasWaiting || isOnlyOutputs ? toAnswers(outputs, open) : [];
    const answers = [...resumed, ...byOutputs];
    return {
      message,
      attachments,
      agent,
      consumerId: about.consumerId,
      chatId: threadId,
      usageRequestId: runId,
      userContext: about.userContext,
      // A client has its own messages and a part of the answer when it sends the same run again.
      compared: { api: 'ag-ui', agent },
      clientTools,
      ...(answers.length === 0 ? {} : { answers }),
      ...(chat === null ? { history: messages.history() } : {}),
      extras: { ...NO_EXTRAS, instructions: callerInstructions(messages.instructions(), call) },
    };
  };
  return { threadId, runId, sentOutputs: messages.answeredCalls(), toRequest };
}

/** An answer to an interrupt: the approval or refusal of a call. */
function readResume(entry: Fields): RequestAnswer {
  const questionId = entry.requiredText('interruptId');
  const status = entry.requiredText('status');
  if (status === 'cancelled') return { questionId, approve: false };
  if (status !== 'resolved') throw entry.refusal('status', 'must be `resolved` or `cancelled`');
  const payload = entry.object('payload');
  const approve = payload?.flag('approved') ?? null;
  if (payload === null || approve === null) throw entry.refusal('payload.approved', 'is missing');
  const reason = payload.text('reason');
  return { questionId, approve, ...(reason === null ? {} : { reason }) };
}

const CONTEXT = ['state', 'context', 'forwardedProps'] as const;

/** Reads the context that the page sends about its user. A client token has its own context, so then the page's is left out. */
function readContext({ request, ignored }: CompatibleCall, body: Fields) {
  const parts: Record<string, unknown> = {};
  for (const name of CONTEXT) {
    const value = body.any(name);
    if (isEmpty(value)) continue;
    if (request.clientToken === null) parts[name] = value;
    else ignored.add(name);
  }
  const forwarded = parts.forwardedProps;
  const isObject = forwarded !== null && typeof forwarded === 'object' && !Array.isArray(forwarded);
  const named = isObject ? Fields.of(forwarded, 'forwardedProps').text('consumerId') : null;
  const consumerId = headerConsumer(request) ?? (named?.trim() === '' ? null : named);
  return { consumerId, userContext: Object.keys(parts).length === 0 ? undefined : parts };
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
