import { ModelFailure } from './model-failure.ts';
import type { ProviderSettingNames } from './providers.ts';

const MAX_QUOTED_CHARS = 300;

/** A failed call of a provider, and whether a retry can help. */
export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  readonly failure: ModelFailure;
  readonly retryable: boolean;
  /** How long the provider asks to wait. Null if it did not ask. */
  readonly retryAfterMs: number | null;

  constructor(failure: ModelFailure, retryable: boolean, retryAfterMs: number | null = null) {
    super(failure.message);
    this.failure = failure;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A call's target: the model and the settings that messages name, and the key that no message may contain. */
export interface ProviderTarget {
  readonly model: string;
  readonly apiKey: string | null;
  /** Other texts that no message may contain. */
  readonly secrets?: readonly string[];
  readonly settings: ProviderSettingNames;
  /** What to do if the server lacks the Responses API. Absent if the provider surely has it, or uses another protocol. */
  readonly withoutResponses?: string | undefined;
}

/** What the headers of an answer tell about a retry. */
export interface RetryAdvice {
  /** How long the provider asks to wait. Null if it did not ask. */
  readonly afterMs: number | null;
  /** The value of `x-should-retry`. Null if the answer has no such header. */
  readonly should: boolean | null;
}

export const NO_ADVICE: RetryAdvice = { afterMs: null, should: null };

const RETRYABLE: ReadonlySet<number> = new Set([429, 500, 502, 503, 529]);

/** Returns the failure for an answer with another status than 200. */
export function failureOfStatus(target: ProviderTarget, status: number, body: string, advice: RetryAdvice) {
  const { message, code, type } = errorIn(parsed(body));
  const isQuota = isUsedUp(status, message, [code, type]);
  const sentence = isQuota
    ? `The quota at the model provider is used up (${status}); check its plan and billing.`
    : statusSentence(target, status, quoted(target, message));
  const failure = new ModelFailure('model_error', sentence, { providerStatus: status, problem: 'unavailable' });
  return new ProviderFailure(failure, (advice.should ?? RETRYABLE.has(status)) && !isQuota, advice.afterMs);
}

/** Anthropic refuses a call over a spend limit, or without credit, with status 400 and a general type. */
const SPENT = /credit balance is too low|reached your specified .*usage limits/i;

function isUsedUp(status: number, message: string, names: readonly string[]): boolean {
  if (names.includes('billing_error')) return true;
  return status === 429 ? names.includes('insufficient_quota') : status === 400 && SPENT.test(message);
}

function statusSentence(target: ProviderTarget, status: number, reason: string): string {
  const { model, apiKey, settings, withoutResponses } = target;
  if (status === 401) {
    return apiKey === null
      ? `The model provider requires an API key (401); set ${settings.key}.`
      : `The model provider refused the API key (401); check ${settings.key}.`;
  }
  if (status === 403)
    return `The model provider does not allow this key to use \`${model}\` (403); check the permissions of the key.`;
  if (status === 404) {
    const sentence = `The model provider does not have \`${model}\` (404); check the name of the model and ${settings.baseUrl}.`;
    return withoutResponses === undefined ? sentence : `${sentence} ${withoutResponses}`;
  }
  if (status === 429) return `The model provider limits the request rate (429)${reason}; try again later.`;
  if (status === 503 || status === 529)
    return `The model provider is overloaded (${status})${reason}; try again later.`;
  if (status >= 500) return `The model provider failed (${status})${reason}; try again.`;
  if (status >= 400) return `The model provider refused the request (${status})${reason}.`;
  return `The model provider answered with status ${status} instead of a stream; check ${settings.baseUrl}.`;
}

/** Codes and types of error events that correspond to the statuses 429, 503 and 500. */
const BUSY: ReadonlySet<string> = new Set(['rate_limit_exceeded', 'rate_limit_error', 'too_many_requests', '429']);
const OVERLOADED: ReadonlySet<string> = new Set([
  'overloaded',
  'overloaded_error',
  'server_is_overloaded',
  'service_unavailable',
  'service_unavailable_error',
  'slow_down',
  '503',
  '529',
]);
const FAILED: ReadonlySet<string> = new Set([
  'server_error',
  'internal_error',
  'internal_server_error',
  'InternalServerError',
  'api_error',
  'timeout_error',
  '500',
  '502',
]);

/** Returns the failure for an error event. It is retryable in the same cases as a status. */
export function failureOfEvent(target: ProviderTarget, event: unknown): ProviderFailure {
  const { message, code, type } = errorIn(event);
  const names = [code, type];
  const isQuota = names.includes('insufficient_quota') || names.includes('billing_error');
  const isOneOf = (known: ReadonlySet<string>) => !isQuota && names.some((name) => known.has(name));
  const reason = quoted(target, message || code || type);
  const sentence = isQuota
    ? 'The quota at the model provider is used up; check its plan and billing.'
    : isOneOf(BUSY)
      ? `The model provider limits the request rate${reason}; try again later.`
      : isOneOf(OVERLOADED)
        ? `The model provider is overloaded${reason}; try again later.`
        : `The model provider reported an error${reason}.`;
  const retryable = isOneOf(BUSY) || isOneOf(OVERLOADED) || isOneOf(FAILED);
  return new ProviderFailure(new ModelFailure('model_error', sentence, { problem: 'unavailable' }), retryable);
}

export function failureOfConnection(target: ProviderTarget, error: Error): ProviderFailure {
  const { code } = error as NodeJS.ErrnoException;
  const sentence = `The model provider cannot be reached${quoted(target, code ?? error.message)}; check ${target.settings.baseUrl} and the network.`;
  return new ProviderFailure(new ModelFailure('model_error', sentence, { cause: error, problem: 'unavailable' }), true);
}

export function brokenStream(target: ProviderTarget, isEventStream: boolean): ProviderFailure {
  const sentence = isEventStream
    ? 'The model provider ended its stream before the answer was complete; try again.'
    : `The model provider did not answer with an event stream; check ${addressSettings(target)}.`;
  return new ProviderFailure(new ModelFailure('model_error', sentence, { problem: 'unavailable' }), isEventStream);
}

export function invalidAnswer(target: ProviderTarget, what: string, cause?: unknown): ProviderFailure {
  const sentence = `The model provider sent ${what}; check ${addressSettings(target)}.`;
  return new ProviderFailure(new ModelFailure('model_error', sentence, { cause }), false);
}

function addressSettings({ settings: { baseUrl, api } }: ProviderTarget): string {
  return api === null ? baseUrl : `${baseUrl} and ${api}`;
}

const LENGTH: ReadonlySet<string> = new Set(['length', 'max_output_tokens', 'max_tokens']);

/** `length` and `content_filter`, under any name: a truncated answer is a failure. */
export function truncatedAnswer(reason: string): ProviderFailure {
  const why =
    reason === 'content_filter'
      ? "the provider's content filter stopped it; change the message"
      : LENGTH.has(reason)
        ? 'it reached its token limit; ask for less in one message, or use a model with a larger limit'
        : reason === 'model_context_window_exceeded'
          ? "the chat fills the model's context window; start a new chat, or use a model with a larger window"
          : `it stopped for the reason \`${reason.slice(0, 40)}\``;
  const sentence = `The model did not finish its answer: ${why}.`;
  const options = LENGTH.has(reason) ? { problem: 'cut_short' as const } : {};
  return new ProviderFailure(new ModelFailure('model_error', sentence, options), false);
}

/** The model refused to answer. `why` is the provider's explanation, which may be empty. */
export function refusedAnswer(target: ProviderTarget, why: string): ProviderFailure {
  const sentence = `The model refused to answer${quoted(target, why)}; change the message.`;
  return new ProviderFailure(new ModelFailure('model_error', sentence), false);
}

export function silenceFailure(silenceMs: number): ProviderFailure {
  const sentence = `The model was silent for ${silenceMs / 1000} s; try again with a new \`usageRequestId\`.`;
  return new ProviderFailure(new ModelFailure('model_timeout', sentence, { problem: 'unavailable' }), false);
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Providers put the error under `error`, under `response.error` or at the top level. Some pass on the error of another
 * provider.
 */
const MAX_ERROR_DEPTH = 3;

function errorIn(body: unknown): { readonly message: string; readonly code: string; readonly type: string } {
  let error = isObject(body) ? body : {};
  for (let depth = 0; depth < MAX_ERROR_DEPTH; depth += 1) {
    const inner = [error.error, error.response].find(isObject);
    if (inner === undefined) break;
    error = inner;
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  // Some servers use a numeric status as the code.
  const code = typeof error.code === 'number' ? String(error.code) : text(error.code);
  return { message: text(error.message) || text(error.error), code, type: text(error.type) };
}

/** Returns `: ` and the provider's message in one line, shortened, without the key or parts of it. */
export function quoted({ apiKey, secrets = [] }: Pick<ProviderTarget, 'apiKey' | 'secrets'>, message: string): string {
  let text = withoutSecrets(message, apiKey === null ? secrets : [apiKey, ...secrets]);
  text = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  text = text.replace(/\b(sk|Bearer)[-_ ][\w*.-]{6,}/g, '***');
  if (text.length > MAX_QUOTED_CHARS) text = `${text.slice(0, MAX_QUOTED_CHARS)}…`;
  return text === '' ? '' : `: ${text.replace(/[.\s]+$/, '')}`;
}

/** Shorter options are no secrets, and occur in every sentence. */
const MIN_SECRET_CHARS = 4;
/** A message may repeat a part of a text, such as one line of a key or the key after `Bearer`. */
const MIN_PART_CHARS = 8;

function withoutSecrets(message: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => secret.split(/[\s\p{Cc}]+/u));
  const hidden = [
    ...secrets.filter(({ length }) => length >= MIN_SECRET_CHARS),
    ...parts.filter(({ length }) => length >= MIN_PART_CHARS),
  ];
  // The longest first: one secret may be a part of another.
  return hidden
    .toSorted((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '***'), message);
}
