import type { Admission } from '../admission/admit-run.ts';
import type { CompletionRequest } from '../admission/completion-request.ts';
import type { IntegrationId, OwnerId } from '../domain/ids.ts';
import type { ScheduleRequest } from '../domain/schedule/schedule-inputs.ts';

/** The request of one run of a schedule. */
export interface ScheduledRequest {
  readonly ownerId: OwnerId;
  readonly integrationId: IntegrationId;
  readonly usageRequestId: string;
  readonly fingerprint: string;
  /** Replaces `{{tick}}`. */
  readonly tickMs: number;
}

/** Reads the body of a schedule's request as `POST /get_completion_v2` reads its own. Throws the refusal of a wrong one. */
export type ReadRequest = (request: ScheduleRequest, about: ScheduledRequest) => CompletionRequest;

/** Throws a `Refusal`; then nothing is reserved. */
export type AdmitRun = (request: CompletionRequest) => Promise<Admission>;
