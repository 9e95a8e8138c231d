import type { Scope } from '../../../../domain/account/scope.ts';
import { cancelRun } from '../../../../runs/cancel-run.ts';
import type { CompatibleDeps } from '../../compatible-deps.ts';
import type { CompatibleCall } from '../../compatible-route.ts';
import { type CompatibleRequest, decodeHeader } from '../../compatible-starts.ts';
import { continueAsking } from '../../continue-asking.ts';
import { Fields } from '../../fields.ts';
import { OPENAI } from '../openai-api.ts';
import { unsupported } from '../openai-fields.ts';
import { readOpenaiRequest } from '../read-openai-request.ts';
import { ChunkEncoder, type ChunkOptions } from './chunk-encoder.ts';
import { CompletionAnswer } from './completion-answer.ts';
import { readMessages } from './read-messages.ts';

/** `POST /chat/completions`: starts a run, and answers with its chunks or its completion. */
export async function createChatCompletion(deps: CompatibleDeps, call: CompatibleCall): Promise<unknown> {
  const { completion, answers, chunks } = readRequest(call);
  const started = await deps.starts.admit(OPENAI, call, await continueAsking(deps, call, completion, answers));
  const { runId } = started.admission;
  const encoder =
    chunks === null ? new CompletionAnswer(() => cancelQuietly(deps, call.scope, runId)) : new ChunkEncoder(chunks);
  deps.starts.follow(call, started, encoder);
  return call.reply;
}

/** The answer was sent already, so a failure is not reported to the client: the run then ends by itself. */
function cancelQuietly({ cancel }: CompatibleDeps, scope: Scope, runId: string): void {
  cancelRun(cancel, scope, runId, 'immediate').catch(() => {});
}

interface CreateRequest {
  readonly completion: CompatibleRequest;
  /** The outputs that are the newest messages. */
  readonly answers: NonNullable<CompatibleRequest['answers']>;
  /** How chunks are made. Null for a plain answer. */
  readonly chunks: ChunkOptions | null;
}

function readRequest(call: CompatibleCall): CreateRequest {
  const { headers, clientToken } = call.request;
  const body = Fields.of(call.request.body);
  const isStream = body.flag('stream') ?? false;
  const includeUsage = body.object('stream_options')?.flag('include_usage') ?? false;
  const { message: text, attachments, answers, history, instructions } = readMessages(body, call.parts);
  refuseOthers(body);
  const read = readOpenaiRequest(call, body, {
    ...{ text, attachments, instructions },
    format: body.object('response_format'),
    getSchema: (format) => format.object('json_schema'),
    getFunction: (tool) => tool.object('function') ?? tool,
  });
  const chatId = chatHeader(headers['x-runwire-chat-id']);
  const isStored = chatId !== null || (clientToken?.chatId ?? null) !== null;
  const completion: CompatibleRequest = { ...read, chatId, history, chatRules: { isTransient: !isStored } };
  const isStructured = read.extras.outputSchema !== null;
  return { completion, answers, chunks: isStream ? { includeUsage, isStructured } : null };
}

/** The stored chat that the request continues; null for its own chat. A blank header counts as absent. */
function chatHeader(value: string | string[] | undefined): string | null {
  if (typeof value !== 'string' || value.trim() === '') return null;
  return decodeHeader(value);
}

/** Tools in the older form, and searches by the provider, would change what the answer is. */
function refuseOthers(body: Fields): void {
  for (const name of ['functions', 'function_call']) {
    if (body.has(name)) throw unsupported(name, 'it is the older form; send `tools`');
  }
  if (body.has('web_search_options')) throw unsupported('web_search_options', 'give the agent a tool for searches');
}
