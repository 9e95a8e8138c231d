export interface ErrorEntry {
  /** The status. Null if the code appears only in the stream, after the status 200. */
  readonly status: number | null;
  /** The status of `POST /get_completion_v2`, if it differs. */
  readonly completionStatus?: number;
  /** What was wrong and what to do, for a person. */
  readonly sentence: string;
  /** True if the same request may succeed later without a change by the caller. In the stream: with a new id. */
  readonly retryable: boolean;
  /** True if the stream of a run can end with this code. */
  readonly inStream?: true;
  /** This error's response headers, and when they are sent. */
  readonly headers?: string;
}

/** All error codes. */
export const errors = {
  invalid_request: {
    status: 400,
    sentence: 'The request is not valid; fix what the message names and send it again.',
    retryable: false,
  },
  missing_allowance_attribution: {
    status: 400,
    sentence: 'Member allowances are enabled for this integration; send both `consumerId` and `usageRequestId`.',
    retryable: false,
  },
  usage_request_id_reused: {
    status: 400,
    sentence: 'This `usageRequestId` belongs to an earlier, different request; use a new one for a new request.',
    retryable: false,
  },
  idempotency_key_reused: {
    status: 400,
    sentence: 'This `idempotencyKey` belongs to a different adjustment; use a new key.',
    retryable: false,
  },
  allowances_disabled: {
    status: 400,
    sentence: 'The integration has no allowances; switch them on first.',
    retryable: false,
  },
  question_not_pending: {
    status: 400,
    sentence: 'The chat has no such open question: it was answered, or a newer message arrived.',
    retryable: false,
  },
  unsupported_field: {
    status: 400,
    sentence: 'This API does not support a field of the request that changes what the answer is; leave the field out.',
    retryable: false,
  },
  cursor_void: {
    status: 400,
    sentence:
      'The text at this position of the response was discarded after a crash; read the response from its start.',
    retryable: false,
  },
  chat_not_empty: {
    status: 400,
    sentence: 'The chat exists; send `history` only for a new chat.',
    retryable: false,
  },
  unknown_agent: {
    status: 400,
    sentence: 'The agency has no entry point with this name; set `agent` to one of its entry points, or leave it out.',
    retryable: false,
  },
  unknown_agency: {
    status: 400,
    sentence: 'This server has no agency with this name; choose an agency that GET /v2/agencies lists.',
    retryable: false,
  },
  sandbox_file_not_found: {
    status: 400,
    sentence: 'A sandbox file was not uploaded; upload it first and send the `resource` of the signed form as `path`.',
    retryable: false,
  },
  invalid_attachment_refresh: {
    status: 400,
    sentence:
      'An attachment link of this chat is not refreshed correctly; map the earlier URL without its query to a fresh ' +
      'https URL with the same host and path, for every file whose link has expired.',
    retryable: false,
  },
  invalid_cursor: {
    status: 400,
    sentence: 'The cursor was not issued by this server for this list; start again without it.',
    retryable: false,
  },
  invalid_set_up_link: {
    status: 400,
    sentence:
      'The set-up link was used, has expired or was replaced by a newer one; ask your administrator for a new one, or ' +
      'make one with `runwire owners link`.',
    retryable: false,
  },
  weak_password: {
    status: 400,
    sentence:
      'The password must have 12 to 1024 characters, at least 8 different ones, and must not be your e-mail address; choose another.',
    retryable: false,
  },
  invalid_api_key: {
    status: 401,
    sentence:
      'The API key or token is missing, malformed, expired, revoked or not valid; send one of this server as `Authorization: Bearer <key>`.',
    retryable: false,
    headers: 'WWW-Authenticate: Bearer',
  },
  invalid_sign_in: {
    status: 401,
    sentence: 'The e-mail address or the password is wrong; check both and try again.',
    retryable: false,
  },
  session_ended: {
    status: 401,
    sentence: 'You are not signed in, or your session has ended; sign in again.',
    retryable: false,
  },
  integration_forbidden: {
    status: 403,
    sentence: 'This API key does not own the integration; use a key of its owner.',
    retryable: false,
  },
  administrator_only: {
    status: 403,
    sentence: 'Only the administrator may do this; use a key of the administrator.',
    retryable: false,
  },
  token_forbidden: {
    status: 403,
    sentence: 'The client token does not permit this; use an API key in your backend, or mint another token.',
    retryable: false,
  },
  role_forbidden: {
    status: 403,
    sentence: 'Your role does not allow this; ask a manager of the owner.',
    retryable: false,
  },
  foreign_origin: {
    status: 403,
    sentence:
      'A page of this origin may not send this request; mint the client token with the origin in `origins`, or open ' +
      'the console at its own address.',
    retryable: false,
  },
  integration_not_found: {
    status: 404,
    sentence: 'No integration has this id; check `apiIntegrationId`.',
    retryable: false,
  },
  member_not_found: {
    status: 404,
    sentence: 'No member has this `consumerId`; register the member first.',
    retryable: false,
  },
  webhook_not_found: {
    status: 404,
    sentence: 'The integration has no webhook endpoint with this id; list its endpoints.',
    retryable: false,
  },
  delivery_not_found: {
    status: 404,
    sentence: 'The endpoint has no delivery with this id; it was deleted, or never made.',
    retryable: false,
  },
  chat_not_found: {
    status: 404,
    sentence: 'This consumer has no such chat; check `chatId`, `aliasChatId` and `consumerId`.',
    retryable: false,
  },
  model_not_found: {
    status: 404,
    sentence:
      'No entry point of the agency has the name in `model`; use a name that GET …/models lists, or leave `model` out.',
    retryable: false,
  },
  run_not_found: {
    status: 404,
    sentence:
      'No run has this id, so nothing is reserved; check the id, or send the request again with the same `usageRequestId`.',
    retryable: false,
  },
  attachment_not_found: {
    status: 404,
    sentence: 'The run has no such attachment; take `attachmentId` from an item of its stream or from its steps.',
    retryable: false,
  },
  step_not_found: {
    status: 404,
    sentence: 'The run has no step of a model with this number; list its steps.',
    retryable: false,
  },
  file_not_found: {
    status: 404,
    sentence: 'No file has this path; check the path, or upload the file first.',
    retryable: false,
  },
  schedule_not_found: {
    status: 404,
    sentence: 'The integration has no schedule with this id; GET …/schedules lists its schedules.',
    retryable: false,
  },
  key_not_found: {
    status: 404,
    sentence: 'You have no API key with this id; GET /v2/api_keys lists your keys.',
    retryable: false,
  },
  owner_not_found: {
    status: 404,
    sentence: 'No owner has this id; GET /v2/owners lists the owners.',
    retryable: false,
  },
  person_not_found: {
    status: 404,
    sentence: 'The owner has no person with this id; GET /v2/people lists its people.',
    retryable: false,
  },
  not_found: {
    status: 404,
    sentence: 'No operation has this path; GET /openapi.json lists every operation.',
    retryable: false,
  },
  method_not_allowed: {
    status: 405,
    sentence: 'This path does not support this method; use one of the methods in the message and the `Allow` header.',
    retryable: false,
    headers: 'Allow',
  },
  request_timeout: {
    status: 408,
    sentence: 'The request did not arrive in time; send it again without pauses, or send less in one request.',
    retryable: true,
    headers: 'Connection: close',
  },
  cursor_too_old: {
    status: 410,
    sentence: 'The events after this cursor were compacted; read the run from its start.',
    retryable: false,
  },
  body_too_large: {
    status: 413,
    completionStatus: 400,
    sentence: 'The request body is too large; send less, or upload files instead of sending them inline.',
    retryable: false,
  },
  unsupported_media_type: {
    status: 415,
    completionStatus: 400,
    sentence: 'The body must be JSON; send it with `Content-Type: application/json`.',
    retryable: false,
  },
  range_not_satisfiable: {
    status: 416,
    sentence: 'The file does not have this range; request bytes within its size.',
    retryable: false,
    headers: 'Content-Range with the size',
  },
  run_active: {
    status: 409,
    sentence: 'The previous run of this chat is still active; wait for it or cancel exactly that run.',
    retryable: true,
  },
  too_many_webhooks: {
    status: 409,
    sentence: 'The integration has as many webhook endpoints as it may have; delete one first.',
    retryable: false,
  },
  integration_exists: {
    status: 409,
    sentence:
      'An integration has or had this `apiIntegrationId` (upper and lower case count as the same); choose another.',
    retryable: false,
  },
  owner_exists: {
    status: 409,
    sentence: 'Another person has this e-mail address; use another address.',
    retryable: false,
  },
  person_exists: {
    status: 409,
    sentence: 'Another person has this e-mail address; use another address.',
    retryable: false,
  },
  last_manager: {
    status: 409,
    sentence: 'This is the last manager of the owner; make another person a manager first.',
    retryable: false,
  },
  owner_in_use: {
    status: 409,
    sentence: 'The owner still has integrations; delete them first.',
    retryable: false,
  },
  chat_exists: {
    status: 409,
    sentence: 'A chat with this id exists already; use it, or choose another id.',
    retryable: false,
  },
  alias_taken: {
    status: 409,
    sentence: 'Another chat has this alias; choose another alias.',
    retryable: false,
  },
  last_key: {
    status: 409,
    sentence: 'This is your last API key; create another before you revoke it.',
    retryable: false,
  },
  mount_quota_exceeded: {
    status: 409,
    sentence:
      'The files of this integration, or of one of its members, would exceed their quota; delete files, or wait until unused upload forms have ' +
      'expired.',
    retryable: true,
  },
  file_exists_as_folder: {
    status: 409,
    sentence:
      'A file and a folder cannot have the same name; choose another name, or delete the existing file or folder.',
    retryable: false,
  },
  too_many_schedules: {
    status: 409,
    sentence: 'The integration has 1000 schedules, which is the limit; delete one first.',
    retryable: false,
  },
  erasure_running: {
    status: 409,
    sentence: 'This member is being erased; try again in a moment.',
    retryable: true,
  },
  consumer_inactive: {
    status: 429,
    sentence: 'The member is not active; set `active` to true so that it can start runs.',
    retryable: false,
  },
  consumer_allowance_exhausted: {
    status: 429,
    sentence: 'The member has used up its allowance; wait until it is reset, or raise the limit.',
    retryable: true,
    headers: 'Retry-After, except if a lifetime allowance is used up by ended runs',
  },
  too_many_runs: {
    status: 429,
    sentence: 'The member already has as many active runs as the integration allows; wait until one of them ends.',
    retryable: true,
    headers: 'Retry-After',
  },
  too_many_streams: {
    status: 429,
    sentence: 'Too many streams are open; close one, or wait until one of them ends.',
    retryable: true,
    headers: 'Retry-After',
  },
  rate_limited: {
    status: 429,
    sentence: 'Too many requests arrived in a short time; wait, then send the request again.',
    retryable: true,
    headers: 'Retry-After',
  },
  too_many_sign_ins: {
    status: 429,
    sentence: 'Too many sign-ins failed; wait as long as `Retry-After` tells, then try again.',
    retryable: true,
    headers: 'Retry-After',
  },
  internal_error: {
    status: 500,
    sentence: 'The server failed; its log has the details under the id in `X-Request-Id`.',
    retryable: true,
    inStream: true,
  },
  shutting_down: {
    status: 503,
    sentence: 'The server is shutting down; send the request again in a moment.',
    retryable: true,
    headers: 'Retry-After',
  },
  agency_unavailable: {
    status: 503,
    sentence:
      'The agency of this integration cannot be loaded; its operator finds the reason in GET /v2/agencies, and the ' +
      'request can be sent again after the agency is fixed.',
    retryable: true,
    headers: 'Retry-After',
  },
  unavailable: {
    status: 503,
    sentence: 'The server cannot take the request now; send it again in a moment, with the same `usageRequestId`.',
    retryable: true,
    headers: 'Retry-After; on completions X-Agent-Run-Admitted is absent if the server cannot learn the outcome',
  },
  model_error: {
    status: null,
    sentence: 'The model provider answered with an error; try again with a new `usageRequestId`.',
    retryable: true,
    inStream: true,
  },
  model_timeout: {
    status: null,
    sentence: 'The model was silent for too long; try again with a new `usageRequestId`.',
    retryable: true,
    inStream: true,
  },
  run_timeout: {
    status: null,
    sentence: 'The run took longer than the integration allows; ask for less, or raise `maxRunSeconds`.',
    retryable: false,
    inStream: true,
  },
  attachment_unavailable: {
    status: 400,
    sentence: 'An attachment could not be fetched or read; the message names the file, the reason and what to do.',
    retryable: false,
    inStream: true,
  },
  step_limit: {
    status: null,
    sentence: 'The run needed more steps than allowed; ask for less in one message.',
    retryable: false,
    inStream: true,
  },
  output_invalid: {
    status: null,
    sentence:
      'The answer of the agent is not what its `output` requires; send the message again, or simplify the schema.',
    retryable: false,
    inStream: true,
  },
  agency_error: {
    status: null,
    sentence: 'Code of the agency failed; its author must correct it, and the log of the server has the reason.',
    retryable: false,
    inStream: true,
  },
  guardrail_blocked: {
    status: null,
    sentence: 'A guardrail of the agency blocked the message or the answer; the message names the reason.',
    retryable: false,
    inStream: true,
  },
  answer_restarted: {
    status: null,
    sentence:
      'The node of the run stopped, and text that was already sent became void; send exactly the same ' +
      'request again to read the new answer.',
    retryable: true,
    inStream: true,
  },
  run_interrupted: {
    status: null,
    sentence: 'The run was interrupted and could not be resumed; try again with a new `usageRequestId`.',
    retryable: true,
    inStream: true,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errors;
