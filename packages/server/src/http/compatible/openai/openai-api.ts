import { Refusal } from '../../../domain/refusal.ts';
import type { CompatibleApi } from '../compatible-api.ts';

/** The header by which the OpenAI clients decide whether they send a request again. */
export const SHOULD_RETRY = 'x-should-retry';

/** Refusals with which the same request can succeed later, and cannot have become a run. */
const MAY_REPEAT: ReadonlySet<string> = new Set(['too_many_runs', 'rate_limited']);

/** What Responses, Conversations, Chat Completions and Models have in common. */
export const OPENAI: CompatibleApi = {
  name: 'openai',
  path: '/openai/v1',
  memberField: '`safety_identifier`, `user` or the header `X-Runwire-Consumer-Id`',
  contextField: '`X-Runwire-Context`',
  translate: (refusal) => (refusal.code === 'unknown_agent' ? new Refusal('model_not_found') : refusal),
  errorBody: (refusal, status) => openaiError(refusal, status, refusal.details.runId),
  errorHeaders: (refusal, status, hasNoRun): Record<string, string> => {
    const isFinal = status < 500 ? !MAY_REPEAT.has(refusal.code) : !hasNoRun;
    return isFinal ? { [SHOULD_RETRY]: 'false' } : {};
  },
};

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** The error shape of the OpenAI APIs, with our code and, if it is known, the run. */
export function openaiError(
  { message, code }: { readonly message: string; readonly code: string },
  status: number,
  runId?: unknown,
) {
  const type = TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code, ...(typeof runId === 'string' ? { runId } : {}) } };
}
