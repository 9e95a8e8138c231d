import type { CompletionRequest } from '../../../../admission/completion-request.ts';
import { Refusal } from '../../../../domain/refusal.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import type { CompatibleRequest } from '../../compatible-starts.ts';
import { Fields } from '../../fields.ts';
import { OPENAI } from '../openai-api.ts';
import { unsupported } from '../openai-fields.ts';
import { readOpenaiRequest } from '../read-openai-request.ts';
import { readEarlierCalls } from './earlier-calls.ts';
import { type ResponseInput, readInput } from './read-input.ts';
import { sendResponse } from './read-response.ts';
import { ResponseAnswer } from './response-answer.ts';
import { type ShownRequest, toRunId } from './response-object.ts';
import { NO_CALLS, type ResponseContext } from './response-output.ts';
import { ResponsesEncoder } from './responses-encoder.ts';

/** A request that was read, and how its answer is sent. */
interface CreateRequest {
  readonly completion: CompatibleRequest;
  readonly input: ResponseInput;
  readonly isStream: boolean;
  readonly isBackground: boolean;
}

/** `POST /responses`: starts a run, and answers with its events or its object. */
export async function createResponse(deps: CompatibleDeps, call: CompatibleCall): Promise<unknown> {
  const { isStream, isBackground, input, ...read } = readRequest(call);
  const completion = await withHistory(deps, call, read.completion, input);
  const started = await deps.starts.admit(OPENAI, call, completion);
  const { runId } = started.admission;
  if (isBackground && !isStream) return sendResponse(deps, call, runId, started.headers);
  // Only a run in a chat that existed can continue another one.
  const isNew = completion.chatId === null && (completion.chatRules?.afterRunId ?? null) === null;
  await deps.starts.followPrepared(call, started, async () => {
    const earlierCalls = isNew
      ? NO_CALLS
      : await readEarlierCalls(deps, call, await deps.runReads.row(call.scope, runId));
    const context: ResponseContext = {
      agency: call.settings.agency,
      earlierCalls,
      hidesSecrets: call.request.clientToken !== null,
    };
    return isStream ? new ResponsesEncoder(context) : new ResponseAnswer(context);
  });
  return call.reply;
}

function readRequest(call: CompatibleCall): CreateRequest {
  const body = Fields.of(call.request.body);
  const isStream = body.flag('stream') ?? false;
  const isBackground = body.flag('background') ?? false;
  const isStored = body.flag('store') ?? true;
  const input = readInput(body, call.parts);
  const previous = body.text('previous_response_id');
  const conversation = readConversation(body);
  const chatId = conversation ?? call.request.clientToken?.chatId ?? null;
  if (previous !== null && conversation !== null) {
    throw body.refusal('previous_response_id', 'cannot be sent with `conversation`; send one of them');
  }
  const isNew = previous === null && chatId === null;
  refuseHosted(body);
  const sentInstructions = body.text('instructions') ?? '';
  const format = body.object('text')?.object('format') ?? null;
  const read = readOpenaiRequest(call, body, {
    ...{ text: input.message, attachments: input.attachments },
    instructions: [{ name: 'instructions', text: sentInstructions }, ...input.instructions],
    format,
    getSchema: (given) => given,
    getFunction: (tool) => tool,
  });
  const { instructions, outputSchema, metadata } = read.extras;
  const { clientTools, consumerId } = read;
  const tools = clientTools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }));
  const shown: ShownRequest = {
    ...(instructions === null || sentInstructions === '' ? {} : { instructions: sentInstructions }),
    ...(metadata === null ? {} : { metadata }),
    ...(previous === null ? {} : { previous_response_id: previous }),
    ...(isStored ? {} : { store: false as const }),
    ...(isBackground ? { background: true as const } : {}),
    ...(tools.length === 0 ? {} : { tools }),
    ...(body.any('tool_choice') === 'none' ? { tool_choice: 'none' as const } : {}),
    ...(outputSchema === null ? {} : { text: { format: shownFormat(format, outputSchema) } }),
    ...(consumerId === null || !body.has('safety_identifier') ? {} : { safety_identifier: consumerId }),
  };
  const completion: CompatibleRequest = {
    ...read,
    chatId,
    ...(input.answers.length === 0 || isNew ? {} : { answers: input.answers }),
    ...(Object.keys(shown).length === 0 ? {} : { shown: shown as NonNullable<CompletionRequest['shown']> }),
    chatRules: {
      mustExist: conversation !== null,
      isTransient: isNew && (!isStored || input.hasEarlier),
      afterRunId: previous === null ? null : toRunId(previous) || previous,
    },
  };
  return { completion, input, isStream, isBackground };
}

/**
 * A request without a chat continues the chat whose questions its newest items answer. Otherwise its earlier items become the
 * history of a new chat.
 */
async function withHistory(
  { chats }: Pick<CompatibleDeps, 'chats'>,
  { request, scope }: CompatibleCall,
  completion: CompatibleRequest,
  { answers, history }: ResponseInput,
): Promise<CompatibleRequest> {
  if (completion.chatId !== null || (completion.chatRules?.afterRunId ?? null) !== null) return completion;
  if (answers.length > 0) {
    const consumerId = request.clientToken?.consumerId ?? completion.consumerId;
    const asking = { integrationId: scope.integrationId, consumerId };
    const chatId = await chats.findAsking(
      asking,
      answers.map(({ questionId }) => questionId),
    );
    if (chatId !== null) {
      return { ...completion, chatId, answers, chatRules: { ...completion.chatRules, isTransient: false } };
    }
  }
  const turns = history();
  if (turns.length > 0 && request.clientToken !== null) {
    const sentence = 'The client token does not permit earlier items in `input`; send only the newest.';
    throw new Refusal('token_forbidden', sentence);
  }
  return { ...completion, history: turns };
}

/** A conversation is a chat: its id, or an object with it. */
function readConversation(body: Fields): string | null {
  const value = body.any('conversation');
  if (value === null || typeof value === 'string') return value;
  return Fields.of(value, body.nameOf('conversation')).requiredText('id');
}

/** `max_tool_calls` would end runs early, and server-side context management would change the prompt. */
function refuseHosted(body: Fields): void {
  if (body.has('context_management')) {
    throw unsupported('context_management', 'the server fits the chat into the model itself; leave it out');
  }
}

function shownFormat(format: Fields | null, schema: Readonly<Record<string, unknown>>) {
  if (format?.text('type') !== 'json_schema') return { type: 'json_object' };
  const strict = format.flag('strict') ?? false;
  return { type: 'json_schema', name: format.text('name') ?? 'answer', description: null, schema, strict };
}
