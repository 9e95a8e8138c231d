import type { ScheduleRequest } from '@runwire/contract';
import type { FetchAllow } from '@runwire/guarded-fetch/url-rules';
import type { CompletionRequest } from '../../admission/completion-request.ts';
import { Refusal } from '../../domain/refusal.ts';
import { NO_TRACE } from '../../domain/request-trace.ts';
import { messageAt } from '../../domain/schedule/tick-request.ts';
import type { ScheduledRequest } from '../../schedules/ports.ts';
import { InlineFiles } from './inline-files.ts';
import { type CompletionBody, type CompletionLimits, prepareCompletion, readCompletion } from './read-completion.ts';
import { imageFields, takeOutImages } from './take-out-images.ts';

export interface ScheduledLimits extends CompletionLimits {
  readonly messageCharacters: number;
  readonly imageBytes: number;
}

/**
 * Reads the request of a schedule like the body of `POST /get_completion_v2`. It takes images out of the request. Throws a
 * `Refusal`.
 */
export function scheduledCompletion(
  request: ScheduleRequest,
  about: ScheduledRequest,
  limits: ScheduledLimits,
  fetchAllow: FetchAllow,
): CompletionRequest {
  const { ownerId, integrationId, usageRequestId, fingerprint, tickMs } = about;
  const message = messageAt(request.message, tickMs);
  if (message.length > limits.messageCharacters && [...message].length > limits.messageCharacters) {
    const sentence = `\`message\` must be at most ${limits.messageCharacters} characters with the tick's time.`;
    throw new Refusal('invalid_request', sentence);
  }
  const images = new InlineFiles(takeOutImages(request, imageFields(limits.imageBytes)), null);
  // A stored request was validated when it arrived.
  const body = { ...request, apiIntegrationId: integrationId, message, usageRequestId } as CompletionBody;
  prepareCompletion(body);
  const source = { body, ownerId, clientToken: null, answeredBy: null, images, trace: NO_TRACE };
  return { ...readCompletion(source, limits, fetchAllow), integrationId, usageRequestId, fingerprint };
}
