import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isBlank } from '@runwire/lib/is-blank.ts';
import { JsonRefused, parseStrictJson } from '@runwire/lib/strict-json.ts';
import type { FastifyRequest } from 'fastify';
import { toAnswerer } from '../../accounts/answerer.ts';
import type { Admission, RunAdmission } from '../../admission/admit-run.ts';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import type { ClientToken } from '../../domain/account/caller.ts';
import { type ChatRules, OWN_CHAT_RULES } from '../../domain/admission/chat-rules.ts';
import { fingerprint } from '../../domain/admission/fingerprint.ts';
import { chosenChatId, isCallerId } from '../../domain/ids.ts';
import { checkClientTools } from '../../domain/question/client-tool.ts';
import { checkAnswers } from '../../domain/question/settle-questions.ts';
import { Refusal } from '../../domain/refusal.ts';
import { checkExtras, NO_EXTRAS, type RunExtras } from '../../domain/run/run-extras.ts';
import { type CancelDeps, cancelRun } from '../../runs/cancel-run.ts';
import type { Encoder } from '../encoders/encoder.ts';
import { toTrace } from '../request-id.ts';
import type { RunStarts, StartedRun } from '../run-starts.ts';
import type { CompatibleApi } from './compatible-api.ts';
import { type CompatibleCall, ignoredHeader } from './compatible-route.ts';

/** What a request reader found in a request. Fields that an API does not have are absent. */
export interface CompatibleRequest
  extends Partial<
    Pick<CompletionRequest, 'attachments' | 'sandboxFiles' | 'answers' | 'clientTools' | 'history' | 'extras' | 'shown'>
  > {
  readonly message: string;
  readonly agent: string | null;
  readonly consumerId: string | null;
  /** Null for a new chat. */
  readonly chatId: string | null;
  /** Null if a new one is made: then a repeated request is another run. */
  readonly usageRequestId: string | null;
  readonly userContext?: unknown;
  /** What two requests with the same `usageRequestId` must have in common. */
  readonly compared: Readonly<Record<string, unknown>>;
  readonly chatRules?: Partial<ChatRules>;
}

/** If the chat is busy: cancel its run and try again, or refuse. */
export type WhenBusy = 'cancel' | 'refuse';

const CONSUMER_HEADER = 'x-runwire-consumer-id';
const CONTEXT_HEADER = 'x-runwire-context';
const MAX_CONTEXT_BYTES = 8192;
const CONTEXT_LIMITS = { maxDepth: 64, maxValues: 10_000 };
const MAX_ATTACHMENTS = 20;
/** How long a request waits until a run that it has cancelled ends. */
const BUSY_PATIENCE_MS = 10_000;
const BUSY_RETRY_MS = 50;

/** The limits of `POST /get_completion_v2`, which its schema checks there. */
interface TextLimits {
  readonly messageCharacters: number;
  readonly userContextBytes: number;
}

/** Starts runs for the compatible APIs. */
export class CompatibleStarts {
  readonly #starts: RunStarts;
  readonly #cancel: CancelDeps;
  readonly #limits: TextLimits;

  constructor(starts: RunStarts, cancel: CancelDeps, limits: TextLimits) {
    this.#starts = starts;
    this.#cancel = cancel;
    this.#limits = limits;
  }

  /** Throws a `Refusal` in the API's own words; then this request has reserved nothing. */
  async admit(
    api: CompatibleApi,
    call: CompatibleCall,
    given: CompatibleRequest,
    whenBusy: WhenBusy = 'refuse',
  ): Promise<StartedRun> {
    checkTexts(api, given, this.#limits);
    const completion = toCompletion(api, call, given);
    const { request, reply, scope } = call;
    const cancelActive = async (admissions: RunAdmission): Promise<Admission> => {
      const until = performance.now() + BUSY_PATIENCE_MS;
      for (;;) {
        try {
          return await admissions.admit(completion);
        } catch (error) {
          const isBusy = error instanceof Refusal && error.code === 'run_active';
          if (!isBusy || performance.now() >= until) throw error;
          await cancelRun(this.#cancel, scope, String(error.details.runId), 'immediate');
          await sleep(BUSY_RETRY_MS);
        }
      }
    };
    try {
      const started = await this.#starts.admit(
        request,
        reply,
        completion,
        whenBusy === 'cancel' ? cancelActive : undefined,
      );
      Object.assign(started.headers, ignoredHeader(call.ignored));
      // The stream sends these headers. If it cannot begin, the error has them too: the run is reserved.
      reply.headers(started.headers);
      return started;
    } catch (error) {
      throw error instanceof Refusal ? translated(api, error) : error;
    }
  }

  /** The same with an encoder that reads something first. If it cannot, the answer begins and breaks: the run is reserved. */
  async followPrepared(call: CompatibleCall, started: StartedRun, prepare: () => Promise<Encoder>): Promise<void> {
    let encoder: Encoder;
    try {
      encoder = await prepare();
    } catch (error) {
      this.#starts.breakOff(call.request, call.reply, started, error);
      return;
    }
    this.follow(call, started, encoder);
  }

  /** Streams the run's events in the API's framing, from the start. */
  follow({ request, reply }: CompatibleCall, started: StartedRun, encoder: Encoder, after = 0): void {
    this.#starts.follow(request, reply, started, encoder, after);
  }
}

function checkTexts(api: CompatibleApi, { message, userContext }: CompatibleRequest, limits: TextLimits): void {
  const { messageCharacters, userContextBytes } = limits;
  // A character has one or two UTF-16 units.
  if (message.length > messageCharacters && [...message].length > messageCharacters) {
    throw new Refusal('invalid_request', `The message must have at most ${messageCharacters} characters.`);
  }
  const context = userContext === undefined || userContext === null ? '' : JSON.stringify(userContext);
  if (Buffer.byteLength(context) <= userContextBytes) return;
  throw new Refusal('invalid_request', `${api.contextField} must be at most ${userContextBytes} bytes of JSON.`);
}

function translated(api: CompatibleApi, refusal: Refusal): Refusal {
  if (refusal.code === 'missing_allowance_attribution') {
    const sentence = `${api.memberField} is missing: member allowances are enabled for this integration, so every request must name its member.`;
    return new Refusal(refusal.code, sentence);
  }
  return api.translate?.(refusal) ?? refusal;
}

/** The member that the header names; null if there is none. */
export function headerConsumer({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const value = headers[CONSUMER_HEADER];
  return typeof value === 'string' && !isBlank(value) ? decodeHeader(value) : null;
}

/** Ids outside ASCII are percent-encoded in headers, as in an answer's `X-Chat-Id`. */
export function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The context in the header, which is JSON in base64url; undefined if there is none. */
export function headerContext({ headers, clientToken }: Pick<FastifyRequest, 'headers' | 'clientToken'>): unknown {
  const value = headers[CONTEXT_HEADER];
  if (typeof value !== 'string') return undefined;
  if (clientToken !== null) {
    const sentence = '`X-Runwire-Context` cannot be sent with a client token; your backend sets it as `userContext`.';
    throw new Refusal('invalid_request', sentence);
  }
  const problem = `\`X-Runwire-Context\` must be JSON in base64url, at most ${MAX_CONTEXT_BYTES} bytes.`;
  if (value.length > MAX_CONTEXT_BYTES * 2 || !/^[\w-]*={0,2}$/.test(value))
    throw new Refusal('invalid_request', problem);
  const bytes = Buffer.from(value, 'base64url');
  if (bytes.length > MAX_CONTEXT_BYTES) throw new Refusal('invalid_request', problem);
  try {
    return parseStrictJson(bytes, CONTEXT_LIMITS);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw new Refusal('invalid_request', problem);
  }
}

function toCompletion(
  api: CompatibleApi,
  { request, scope, settings }: CompatibleCall,
  given: CompatibleRequest,
): CompletionRequest {
  const token = request.clientToken;
  const { answers = null, clientTools = [], attachments = [], sandboxFiles = [], history = [], message } = given;
  const { extras = NO_EXTRAS } = given;
  const wrong = checkAnswers(answers ?? []) ?? checkClientTools(clientTools) ?? checkExtras(extras);
  if (wrong !== null) throw wrong;
  if (answers !== null && token !== null && !token.can.includes('answer')) {
    throw new Refusal('token_forbidden', 'The client token does not permit answers; mint it with `answer` in `can`.');
  }
  if (attachments.length > MAX_ATTACHMENTS) {
    throw new Refusal('invalid_request', `The newest message must have at most ${MAX_ATTACHMENTS} attachments.`);
  }
  const usageRequestId = checkedId('usageRequestId', given.usageRequestId) ?? `api:${randomUUID()}`;
  const chatId = ofToken('chat', given.chatId, token?.chatId ?? null);
  const consumerId = ofToken('member', given.consumerId, token?.consumerId ?? null);
  const agent = ofToken('agent', given.agent, token?.agent ?? null);
  return {
    ownerId: request.principal.ownerId,
    integrationId: scope.integrationId,
    member: token,
    trace: toTrace(request),
    message,
    messageBytes: Buffer.byteLength(message),
    userContext: (token === null ? given.userContext : token.userContext) ?? undefined,
    attachments,
    sandboxFiles,
    consumerId: checkedId('member', consumerId),
    usageRequestId,
    chatId: chatId === null ? null : chosenChatId(checkedId('chat', chatId) ?? ''),
    aliasChatId: null,
    agent,
    // A header or a client token can name the member too: without it, another member's request would be a replay. An id
    // that is made here is never sent again, so nothing is compared with it.
    fingerprint:
      given.usageRequestId === null ? null : fingerprint({ api: api.name, consumerId, agent, body: given.compared }),
    answers,
    answeredBy: answers === null ? null : toAnswerer(request),
    ...(answers === null ? {} : { audit: request.server.audit(request) }),
    clientTools,
    ignoredFields: [],
    refreshes: [],
    history,
    extras: toExtras(given.extras),
    ...(given.shown === undefined ? {} : { shown: given.shown }),
    chatRules: {
      ...OWN_CHAT_RULES,
      registersMember: settings.autoRegister && token === null,
      historyIfNew: true,
      ...given.chatRules,
    },
  };
}

/** Nodes of the version before do not know extras, so a request without any must not have them. */
function toExtras(extras: RunExtras | undefined): RunExtras {
  const isEmpty = extras === undefined || Object.values(extras).every((value) => value === null);
  return isEmpty ? NO_EXTRAS : extras;
}

/** The token's value if it has one. Another value is refused. */
function ofToken(what: string, given: string | null, token: ClientToken['chatId']): string | null {
  if (token === null || given === null || given === token) return token ?? given;
  throw new Refusal('token_forbidden', `The request names another ${what} than its client token does.`);
}

function checkedId(what: string, id: string | null): string | null {
  if (id === null || isCallerId(id)) return id;
  throw new Refusal('invalid_request', `The id of the ${what} must have 1–256 characters and no control characters.`);
}
