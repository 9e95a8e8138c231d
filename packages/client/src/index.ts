export type * from '@runwire/contract';
export type { Run as RunRecord } from '@runwire/contract';
/** What each role may call. */
export { includesRole, operationRoles, roles } from '@runwire/contract';
export type {
  AnsweringOptions,
  Decision,
  RequestTool,
  RunTools,
  ToolCallContext,
  ToolFunction,
} from './answers.ts';
export type { ApiKey as KeySource } from './credentials.ts';
export {
  type AdmissionState,
  AllowanceExhaustedError,
  AuthenticationError,
  type ClientErrorCode,
  ConflictError,
  ConnectionLostError,
  CursorTooOldError,
  DetachedError,
  ForbiddenError,
  InvalidRequestError,
  MemberInactiveError,
  NotFoundError,
  QuestionsPendingError,
  RateLimitError,
  RunActiveError,
  RunCancelledError,
  RunFailedError,
  RunwireError,
  ServerError,
  UploadError,
} from './errors.ts';
export type { List, Page } from './list.ts';
export type { Api, Input } from './resources.ts';
export { type AttachOptions, type ReadOptions, Run, type RunOptions } from './run.ts';
export type {
  Admission,
  EvaluateRequest,
  Frame,
  RunAgainRequest,
  RunEvent,
  RunHandle,
  RunRequest,
  RunResult,
} from './run-types.ts';
export { Runwire, type RunwireOptions } from './runwire.ts';
export type { Timing } from './timing.ts';
export type { CallOptions } from './transport.ts';
export type { UploadOptions, UploadProgress } from './upload.ts';
export {
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhooks.ts';
