// Made from packages/contract/src/schemas by `npm exec -- node -C runwire scripts/build-contract-types.ts`; do not edit.

/**
 * A message for an agent.
 */
export interface GetCompletionV2Request {
  /**
   * Integration identifier.
   */
  apiIntegrationId: string;
  /**
   * The user message.
   */
  message: string;
  /**
   * Agency entry point. When omitted, the integration's default is used.
   */
  agent?: string | undefined;
  /**
   * Chat identifier. An unknown one starts a new chat with this id.
   */
  chatId?: string | null | undefined;
  /**
   * Alias chat identifier. An unknown one starts a new chat with this alias.
   */
  aliasChatId?: string | null | undefined;
  /**
   * Files and images for the model, by URL or inline.
   *
   * @maxItems 5
   */
  attachments?: Attachment[] | undefined;
  /**
   * Uploaded files for the tools of the agent.
   *
   * @maxItems 5
   */
  sandboxFiles?: SandboxFile[] | undefined;
  /**
   * Free-form context. Tools always get it; the model gets it only if the agency asks for it.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * The app member. Required when member allowances are enabled.
   */
  consumerId?: string | undefined;
  /**
   * Unique id of this request. Required when allowances are enabled. It appears in chat status and usage records. Reuse the same value when recovering an interrupted request.
   */
  usageRequestId?: string | undefined;
  /**
   * Answers to the open questions of the chat. Open questions without an answer are declined. `message` may be empty.
   *
   * @maxItems 64
   */
  answers?: Answer[] | undefined;
  /**
   * Tools that you run yourself, at most 64 KiB as JSON. A call of one ends the run with a question. Allowed if the integration has `clientTools`.
   *
   * @maxItems 64
   */
  clientTools?: ClientTool[] | undefined;
  /**
   * Earlier turns, oldest first. Only for a new chat: its first messages.
   *
   * @maxItems 1000
   */
  history?: HistoryItem[] | undefined;
  /**
   * Added to what the first agent is instructed to do, for this run only. At most 32 KiB. Allowed if the integration has `callerInstructions`.
   */
  instructions?: string | undefined;
  /**
   * Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same host and path. It must list all earlier conversation files that need refreshing: files of which the server keeps no copy and whose signed links have expired.
   */
  attachmentUrlRefreshes?: {
    [k: string]: string;
  } | undefined;
}

/**
 * An uploaded file that the agent can read with its file tools.
 */
export interface SandboxFile {
  /**
   * Uploaded filename: the final segment of `path`, without control characters.
   */
  name: string;
  /**
   * Canonical path under /app/mnt/, as returned in `resource` by createAgencyUpload.
   */
  path: string;
}

/**
 * The answer to a question: either `approve` or `output`.
 */
export interface Answer {
  /**
   * The question.
   */
  questionId: string;
  /**
   * For a question of the kind `approval`: true if the call may be made.
   */
  approve?: boolean | undefined;
  /**
   * Why. The tool gets it if the call is approved, the model if it is declined.
   */
  reason?: string | undefined;
  /**
   * With `approve: true`, if the question is `editable`: the call is made with these arguments. At most 1 MiB.
   */
  arguments?: {
    [k: string]: unknown;
  } | undefined;
  /**
   * With `approve: true`, if the question is `rememberable`: further calls of the tool in this chat do not ask.
   */
  remember?: 'chat' | undefined;
  /**
   * For a question of the kind `tool`: the output of the call, as text or any other JSON value, at most 1 MiB.
   */
  output?:
    | string
    | ({
        [k: string]: unknown;
      } | null)
    | unknown[]
    | number
    | boolean | undefined;
  /**
   * True if the call failed; then `output` tells why.
   */
  failed?: boolean | undefined;
}

/**
 * A tool that only the caller can run.
 */
export interface ClientTool {
  /**
   * Name of the tool. No agent of the agency has a tool with this name.
   */
  name: string;
  /**
   * What the tool does, for the model.
   */
  description: string;
  /**
   * JSON Schema of the arguments, which are an object.
   */
  inputSchema: {
    [k: string]: unknown;
  };
}

/**
 * A call that waits for an answer of the caller.
 */
export interface Question {
  /**
   * Identifier of the question, for `answers`.
   */
  questionId: string;
  /**
   * `approval`: a person must decide about the call. `tool`: only the caller can make the call.
   */
  kind: 'approval' | 'tool';
  /**
   * Id of the call.
   */
  callId: string;
  /**
   * The agent that made the call.
   */
  agent: string;
  /**
   * The agent that asked it. Null if the user asked.
   */
  callerAgent: string | null;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * The arguments of the call. An approved call is made with exactly these, or with those of the answer.
   */
  arguments: {
    [k: string]: unknown;
  };
  /**
   * True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`.
   */
  editable?: boolean;
  /**
   * True if the answer may have `remember`. Absent if the tool of the call has no `remember`.
   */
  rememberable?: boolean;
}

/**
 * A call that waits for an answer of the caller.
 */
export interface StreamQuestion {
  /**
   * Identifier of the question, for `answers`.
   */
  question_id: string;
  /**
   * `approval`: a person must decide about the call. `tool`: only the caller can make the call.
   */
  kind: 'approval' | 'tool';
  /**
   * Id of the call.
   */
  call_id: string;
  /**
   * The agent that made the call.
   */
  agent: string;
  /**
   * The agent that asked it. Null if the user asked.
   */
  callerAgent: string | null;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * The arguments of the call. An approved call is made with exactly these, or with those of the answer.
   */
  arguments: {
    [k: string]: unknown;
  };
  /**
   * True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`.
   */
  editable?: boolean;
  /**
   * True if the answer may have `remember`. Absent if the tool of the call has no `remember`.
   */
  rememberable?: boolean;
}

/**
 * Every error answer has this shape.
 */
export interface ApiErrorResponse {
  /**
   * What was wrong and what to do, for a person.
   */
  error: string;
  /**
   * Machine-readable code.
   */
  code?: string | null;
  /**
   * `run_active`: the active run. `usage_request_id_reused`: the run that used the id before.
   */
  runId?: string;
  /**
   * `run_active`: the usage request id of the active run.
   */
  usageRequestId?: string | null;
  /**
   * `run_active`: the chat of the active run.
   */
  chatId?: string;
  /**
   * `consumer_allowance_exhausted`: when the next period begins. Null for a lifetime allowance.
   */
  resetAt?: string | null;
  /**
   * `mount_quota_exceeded`: bytes of the stored files.
   */
  usedBytes?: number;
  /**
   * `mount_quota_exceeded`: bytes with this upload and all open forms.
   */
  foreseenBytes?: number;
  /**
   * `mount_quota_exceeded`: bytes that the integration may have.
   */
  quotaBytes?: number;
}

/**
 * The file to upload.
 */
export interface CreateAgencyUploadRequest {
  /**
   * Integration identifier.
   */
  apiIntegrationId: string;
  /**
   * Canonical folder below /app/mnt/, chosen by your server for the app member.
   */
  folder: string;
  /**
   * Not blank; no directory separators; no control characters.
   */
  filename: string;
  /**
   * Media type of the file: `type/subtype` with optional parameters.
   */
  contentType: string;
  /**
   * Number of file bytes to upload.
   */
  sizeBytes: number;
}

/**
 * A signed form for one file, valid for 15 minutes.
 */
export interface CreateAgencyUploadResponse {
  /**
   * The canonical path to pass as `path` in a `sandboxFiles` item of a completion request.
   */
  resource: string;
  /**
   * Address to which the file is posted.
   */
  uploadUrl: string;
  /**
   * Form fields to send with the upload, in this order, before the field `file`.
   */
  uploadFields: {
    [k: string]: string;
  };
}

/**
 * A file that a step created, changed or deleted.
 */
export interface ChangedFile {
  /**
   * Name of the file.
   */
  name: string;
  /**
   * Full path of the file below `/app/mnt/`.
   */
  path: string;
  /**
   * Content type of the file, detected from its name and its bytes.
   */
  contentType: string;
  /**
   * Size of the file in bytes; 0 if it was deleted.
   */
  size: number;
  /**
   * What happened to the file.
   */
  change: 'created' | 'changed' | 'deleted';
}

/**
 * A file or folder of an integration.
 */
export interface File {
  /**
   * Name of the file or folder: the last segment of `path`.
   */
  name: string;
  /**
   * Full path, as in `resource` and in `sandboxFiles`.
   */
  path: string;
  /**
   * File or folder.
   */
  kind: 'file' | 'folder';
  /**
   * Size in bytes. Null for a folder.
   */
  size: number | null;
  /**
   * Entity tag of the content, in quotes. Null for a folder.
   */
  etag: string | null;
  /**
   * Media type that was given when the file was uploaded. Null for a folder.
   */
  contentType: string | null;
  /**
   * When the file was last written. Null for a folder.
   */
  modifiedAt: string | null;
}

/**
 * A page of a list of `File`.
 */
export interface FileList {
  /**
   * The items of this page, in order.
   */
  items: File[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A file that the run created, changed or deleted.
 */
export interface StreamChangedFile {
  /**
   * Name of the file.
   */
  name: string;
  /**
   * Full path of the file below `/app/mnt/`.
   */
  path: string;
  /**
   * Content type of the file, detected from its name and its bytes.
   */
  mime_type: string;
  /**
   * Size of the file in bytes; 0 if it was deleted.
   */
  size_bytes: number;
  /**
   * What happened to the file.
   */
  change: 'created' | 'changed' | 'deleted';
}

/**
 * A correction of a member's usage.
 */
export interface Adjustment {
  /**
   * Discriminator.
   */
  kind: 'adjustment';
  /**
   * Identifier of the adjustment.
   */
  adjustmentId: string;
  /**
   * The member whose usage was corrected.
   */
  consumerId: string;
  /**
   * Unit of the amount; it must be the unit of the integration's allowance.
   */
  unit: 'runs' | 'tokens' | 'credits';
  /**
   * Positive: the member gets this amount back. Negative: it is taken. Not 0; an integer in runs and tokens, at most six decimals in credits.
   */
  amount: number;
  /**
   * The part of `amount` that was applied: what the member gets back is at most what it has used.
   */
  applied: number;
  /**
   * Why the usage was corrected, for people.
   */
  reason: string | null;
  /**
   * Your own id for the adjustment, unique for the member.
   */
  idempotencyKey: string;
  /**
   * Start of the period in which it counts. Null for a lifetime allowance.
   */
  periodStart: string | null;
  /**
   * When the adjustment was made. It counts on this day.
   */
  createdAt: string;
}

/**
 * A page of a list of `Adjustment`.
 */
export interface AdjustmentList {
  /**
   * The items of this page, in order.
   */
  items: Adjustment[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * How much a member has used of its allowance.
 */
export interface Allowance {
  /**
   * Unit of all amounts.
   */
  unit: 'runs' | 'tokens' | 'credits';
  /**
   * How much the member may use in the period.
   */
  limit: number;
  /**
   * Amount of the ended runs of the period, with its adjustments; at least 0.
   */
  used: number;
  /**
   * Amount that active runs reserve.
   */
  reserved: number;
  /**
   * max(0, limit − used − reserved)
   */
  remaining: number;
  /**
   * Period of the limit. Periods begin at 00:00 UTC, weeks on Monday.
   */
  period: 'day' | 'week' | 'month' | 'lifetime';
  /**
   * When the current period began. Null for a lifetime allowance.
   */
  periodStart: string | null;
  /**
   * When the next period begins. Null for a lifetime allowance.
   */
  resetAt: string | null;
  /**
   * True if nothing remains.
   */
  exhausted: boolean;
}

/**
 * The allowance of each member.
 */
export interface AllowanceSetting {
  /**
   * Unit of the limit.
   */
  unit: 'runs' | 'tokens' | 'credits';
  /**
   * How much each member may use in a period.
   */
  limit: number;
  /**
   * Period of the limit. Periods begin at 00:00 UTC, weeks on Monday.
   */
  period: 'day' | 'week' | 'month' | 'lifetime';
}

/**
 * What models cost.
 */
export interface Cost {
  /**
   * Tokens × price, with at most six decimals.
   */
  amount: number;
  /**
   * The prices' currency, as in ISO 4217.
   */
  currency: string;
}

/**
 * The correction of a member's usage.
 */
export interface CreateAdjustmentRequest {
  /**
   * Unit of the amount; it must be the unit of the integration's allowance.
   */
  unit: 'runs' | 'tokens' | 'credits';
  /**
   * Positive: the member gets this amount back. Negative: it is taken. Not 0; an integer in runs and tokens, at most six decimals in credits.
   */
  amount: number;
  /**
   * Why the usage was corrected, for people.
   */
  reason: string;
  /**
   * Your own id for the adjustment, unique for the member.
   */
  idempotencyKey: string;
}

/**
 * How long runs took, by day.
 */
export interface LatencySummary {
  /**
   * Runs that were admitted at this time or later.
   */
  from: string;
  /**
   * Runs that were admitted before this time.
   */
  to: string;
  /**
   * The days with completed runs, newest first.
   *
   * Items: How long completed runs took in one day.
   */
  items: {
    /**
     * The day in UTC, such as `2030-01-31`.
     */
    day: string;
    /**
     * The completed runs from which the times were taken.
     */
    runs: number;
    /**
     * True if the day has more than 2 400 runs: then at most the first 100 runs in each hour were read.
     */
    sampled: boolean;
    /**
     * From admission to the end.
     */
    durationMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    };
    /**
     * From admission to the first output. Null if no run has one.
     */
    firstTokenMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
  }[];
}

/**
 * What one run used and was charged.
 */
export interface RunUsageRecord {
  /**
   * Discriminator.
   */
  kind: 'run';
  /**
   * `usageRequestId` of the request. Null if it had none.
   */
  usageRequestId: string | null;
  /**
   * The member of the run. Null if the request named none.
   */
  consumerId: string | null;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * The agent that the run was started at.
   */
  agent: string;
  /**
   * State of the run.
   */
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  usage: Usage;
  /**
   * The same tokens, by model.
   *
   * Items: Tokens of one model.
   */
  byModel: {
    /**
     * Model, as `provider/model`.
     */
    model: string;
    /**
     * Tokens of the prompts, cached ones included.
     */
    input_tokens: number;
    /**
     * Input tokens that the provider read from its cache.
     */
    cached_tokens: number;
    /**
     * Tokens of the answers, reasoning included.
     */
    output_tokens: number;
  }[];
  /**
   * What the run was charged. Null while it runs, and if allowances were off.
   */
  charged: {
    /**
     * Unit of the amount.
     */
    unit: 'runs' | 'tokens' | 'credits';
    /**
     * Amount that counts against the allowance.
     */
    amount: number;
  } | null;
  /**
   * True if the run is a rerun. It is charged to no member.
   */
  rerun: boolean;
  /**
   * Start of the period in which the run counts. Null for a lifetime allowance, and if allowances were off.
   */
  periodStart: string | null;
  /**
   * From admission to the first output by a model. In milliseconds; null if there is none, or it is not known.
   */
  firstTokenMs: number | null;
  /**
   * What the run cost, from its end on. Null if the prices have no currency, or none of a model.
   */
  cost: Cost | null;
  /**
   * When the run was started. Null if it was not started yet.
   */
  startedAt: string | null;
  /**
   * When the run ended. Null if it has not ended.
   */
  completedAt: string | null;
}

/**
 * Tokens that models used.
 */
export interface Usage {
  /**
   * Number of model calls.
   */
  request_count: number;
  /**
   * Tokens of the prompts, cached ones included.
   */
  input_tokens: number;
  /**
   * Input tokens that the provider read from its cache.
   */
  cached_tokens: number;
  /**
   * Tokens of the answers, reasoning included.
   */
  output_tokens: number;
  /**
   * Output tokens that the model used for reasoning.
   */
  reasoning_tokens: number;
  /**
   * `input_tokens` + `output_tokens`.
   */
  total_tokens: number;
}

/**
 * The usage of a run or a correction, discriminated by `kind`.
 */
export type UsageRecord = RunUsageRecord | Adjustment;

/**
 * A page of a list of `UsageRecord`.
 */
export interface UsageRecordList {
  /**
   * The items of this page, in order.
   */
  items: UsageRecord[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * Usage, added up by hour, day, member, agent or model.
 */
export interface UsageSummary {
  /**
   * What usage is grouped by.
   */
  groupBy: 'hour' | 'day' | 'consumer' | 'agent' | 'model';
  /**
   * Runs that were admitted at this time or later. Null: from the first run on.
   */
  from: string | null;
  /**
   * Runs that were admitted before this time. Null: up to now.
   */
  to: string | null;
  /**
   * The groups of this page; the group with the newest run is first.
   *
   * Items: The usage of one group.
   */
  items: {
    /**
     * The hour (when it begins), day (`2030-01-31`), member, agent or model. Null: the runs that name no member.
     */
    key: string | null;
    /**
     * Only with `splitBy`: one of the ten values with the most tokens in the whole period: members, agents, models, error codes or hashes of agencies. Null: all others, and the runs that have none.
     */
    split?: string | null;
    /**
     * Number of runs.
     */
    runs: number;
    /**
     * Number of runs that failed.
     */
    failed: number;
    /**
     * Number of runs that were cancelled.
     */
    cancelled: number;
    /**
     * What the ended runs cost. Also null if one of them has no cost, or another currency. Null if the prices have no currency, or none of a model.
     */
    cost: Cost | null;
    /**
     * From admission to the end, within 10 %. Null if no run has ended.
     */
    durationMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
    /**
     * From admission to the first output, within 10 %. Null if no ended run has one.
     */
    firstTokenMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
    usage: Usage;
    /**
     * What the ended runs count for in each unit.
     */
    charged: {
      /**
       * Charge in runs.
       */
      runs: number;
      /**
       * Charge in tokens.
       */
      tokens: number;
      /**
       * Charge in credits.
       */
      credits: number;
    };
  }[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * What happened in the last hours, and what needs a person. Lists have at most 20 items.
 */
export interface Overview {
  /**
   * Runs that were admitted at this time or later: the beginning of an hour.
   */
  from: string;
  /**
   * The time of the answer.
   */
  to: string;
  /**
   * The runs since `from`.
   */
  measures: {
    /**
     * Number of runs.
     */
    runs: number;
    /**
     * Tokens of prompts and answers.
     */
    tokens: number;
    /**
     * Number of runs that failed.
     */
    failed: number;
    /**
     * Number of runs that were cancelled.
     */
    cancelled: number;
    /**
     * What the ended runs cost. Also null if one of them has no cost, or another currency. Null if the prices have no currency, or none of a model.
     */
    cost: Cost | null;
    /**
     * From admission to the end, within 10 %. Null if no run has ended.
     */
    durationMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
    /**
     * From admission to the first output, within 10 %. Null if no ended run has one.
     */
    firstTokenMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
  };
  /**
   * The runs of as many hours before `from`.
   */
  before: {
    /**
     * Number of runs.
     */
    runs: number;
    /**
     * Tokens of prompts and answers.
     */
    tokens: number;
    /**
     * Number of runs that failed.
     */
    failed: number;
    /**
     * Number of runs that were cancelled.
     */
    cancelled: number;
    /**
     * What the ended runs cost. Also null if one of them has no cost, or another currency. Null if the prices have no currency, or none of a model.
     */
    cost: Cost | null;
    /**
     * From admission to the end, within 10 %. Null if no run has ended.
     */
    durationMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
    /**
     * From admission to the first output, within 10 %. Null if no ended run has one.
     */
    firstTokenMs: {
      /**
       * The median: half the runs took at most this time, in milliseconds.
       */
      p50: number;
      /**
       * The 95th percentile in milliseconds.
       */
      p95: number;
    } | null;
  };
  /**
   * Runs that have not ended.
   */
  activeRuns: number;
  /**
   * Questions that wait for an answer; 1000 if there are more.
   */
  openQuestions: number;
  /**
   * The failures since `from` by code and sentence, the most frequent first.
   *
   * Items: Runs that failed with the same sentence.
   */
  failures: {
    /**
     * The error code.
     */
    code: string;
    /**
     * The sentence.
     */
    error: string;
    /**
     * How many of the newest 200 failed runs of each integration have it.
     */
    count: number;
    /**
     * The newest of them.
     */
    runId: string;
  }[];
  /**
   * The broken agencies of the integrations.
   *
   * Items: An agency that cannot be loaded as it is.
   */
  brokenAgencies: {
    /**
     * Name of the agency.
     */
    agency: string;
    /**
     * The first fault.
     */
    error: string;
  }[];
  /**
   * The failed MCP servers of the agencies of the integrations.
   *
   * Items: An MCP server that this node cannot use.
   */
  failedMcpServers: {
    /**
     * Name of the agency.
     */
    agency: string;
    /**
     * Name of the MCP server.
     */
    server: string;
    /**
     * Why it cannot be used.
     */
    error: string | null;
  }[];
  /**
   * Among the members of the newest 500 runs of each integration since `from`.
   *
   * Items: A member that has used up its allowance.
   */
  exhaustedMembers: {
    /**
     * Identifier of the integration.
     */
    apiIntegrationId: string;
    /**
     * The member.
     */
    consumerId: string;
  }[];
  /**
   * The owner's keys that expire next.
   *
   * Items: An API key that expires within 14 days.
   */
  expiringKeys: {
    /**
     * Identifier of the key.
     */
    keyId: string;
    /**
     * Its name.
     */
    name: string;
    /**
     * When it expires.
     */
    expiresAt: string;
  }[];
  /**
   * Endpoints that were disabled.
   *
   * Items: A webhook endpoint that was disabled because posts failed.
   */
  disabledWebhooks: {
    /**
     * Identifier of the integration.
     */
    apiIntegrationId: string;
    /**
     * Identifier of the endpoint.
     */
    endpointId: string;
    /**
     * Why it was disabled.
     */
    reason: string;
  }[];
}

/**
 * A run's state after it was asked to stop.
 */
export interface CancelResult {
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * End of the run, or `cancelling` if it has not stopped yet.
   */
  status: 'cancelling' | 'completed' | 'failed' | 'cancelled';
  /**
   * True exactly if `status` is `cancelled`.
   */
  cancelled: boolean;
  /**
   * Tokens that models used.
   */
  usage: Usage | null;
}

/**
 * How to stop the run.
 */
export interface CancelRunRequest {
  /**
   * `immediate` stops the run now, `after_step` when its current step has finished. The default is `immediate`.
   */
  mode?: 'immediate' | 'after_step' | undefined;
}

/**
 * What a guardrail decided about a step.
 */
export interface GuardrailDecision {
  /**
   * Name of the guardrail.
   */
  name: string;
  /**
   * What it checked.
   */
  on: 'input' | 'output' | 'toolCall' | 'toolResult';
  /**
   * What it decided.
   */
  verdict: 'pass' | 'block' | 'replace' | 'ask';
  /**
   * Why it blocked. Null for other verdicts.
   */
  reason: string | null;
  /**
   * The call that it checked. Null if it was no call.
   */
  callId: string | null;
}

/**
 * What the model did not see in a step.
 */
export interface HiddenPart {
  /**
   * A tool, a hand-off or a delegation.
   */
  kind: 'tool' | 'handoff' | 'delegate';
  /**
   * Name of the tool, or the agent to which the hand-off or delegation leads.
   */
  name: string;
}

/**
 * A run: one request that an agent answers.
 */
export interface Run {
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * True if the chat was deleted; then `message` is null.
   */
  chatDeleted: boolean;
  /**
   * The member that the run was started for. Null if the request named none.
   */
  consumerId: string | null;
  /**
   * `usageRequestId` of the request. Null if it had none.
   */
  usageRequestId: string | null;
  /**
   * State of the run. `completed`, `failed` and `cancelled` are final.
   */
  status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
  /**
   * How the run was asked to stop: `immediate` stops the run now, `after_step` when its current step has finished. Null if it was not asked.
   */
  cancelRequested: 'immediate' | 'after_step' | null;
  /**
   * The agent that the run was started at.
   */
  agent: string;
  /**
   * Hash of the agency that the run was started with. Null if it is not known.
   */
  agencyVersion: string | null;
  /**
   * Number of the attempt; it grows when a run is resumed after a crash.
   */
  attempt: number;
  /**
   * Id of the last stored event of the stream.
   */
  lastEventId: number;
  /**
   * When the run was admitted.
   */
  createdAt: string;
  /**
   * When the run was started. Null if it was not started yet.
   */
  startedAt: string | null;
  /**
   * When the run ended. Null if it has not ended.
   */
  completedAt: string | null;
  /**
   * Why the run failed. Null if it did not fail.
   */
  error: {
    /**
     * Machine-readable code.
     */
    code: string;
    /**
     * What was wrong and what to do, for a person.
     */
    message: string;
  } | null;
  /**
   * The run whose questions this one settled. Null if it settled none.
   */
  continues: string | null;
  /**
   * The run that this one reruns. Null if it is no rerun.
   */
  rerunOf: {
    /**
     * The original run.
     */
    runId: string;
    /**
     * The last step of the original run that was kept; 0 if none was.
     */
    afterStep: number;
  } | null;
  /**
   * The open questions of the run. Empty if there are none, or if they were settled.
   */
  pending: Question[];
  /**
   * The agents that spoke, in order. Null after the chat was deleted.
   */
  agents: string[] | null;
  /**
   * The models that were asked, as `provider/model`. Null after the chat was deleted.
   */
  models: string[] | null;
  /**
   * True if the run ended with questions that are open. Null after the chat was deleted.
   */
  waiting: boolean | null;
  /**
   * The run that settled the questions of this one. Null if there is none.
   */
  continuedBy: string | null;
  /**
   * The first 200 characters of the message that the run answers, with white space folded to one space. Null if there is none, and after the chat was deleted.
   */
  messagePreview: string | null;
  /**
   * The first 200 characters of the final assistant text, with white space folded to one space. Null if there is none, and after the chat was deleted.
   */
  answerPreview: string | null;
  /**
   * Tokens that models used.
   */
  usage: Usage | null;
  /**
   * From admission to the first output by a model. In milliseconds; null if there is none, or it is not known.
   */
  firstTokenMs: number | null;
  /**
   * What the run cost, from its end on. Also null for client tokens. Null if the prices have no currency, or none of a model.
   */
  cost: Cost | null;
  /**
   * Milliseconds from admission to the end. Null until the run has ended, and after the chat was deleted.
   */
  durationMs: number | null;
  /**
   * Value of the answer if the agent has an output schema, otherwise null.
   */
  output: {
    [k: string]: unknown;
  };
  /**
   * The final assistant text. Null until the run has ended.
   */
  message: string | null;
}

/**
 * A page of a list of `RunListItem`.
 */
export interface RunList {
  /**
   * The items of this page, in order.
   */
  items: RunListItem[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A run in a list. With `texts=false` it has neither `output` nor `message`.
 */
export interface RunListItem {
  /**
   * Identifier of the run.
   */
  runId: string;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * True if the chat was deleted; then `message` is null.
   */
  chatDeleted: boolean;
  /**
   * The member that the run was started for. Null if the request named none.
   */
  consumerId: string | null;
  /**
   * `usageRequestId` of the request. Null if it had none.
   */
  usageRequestId: string | null;
  /**
   * State of the run. `completed`, `failed` and `cancelled` are final.
   */
  status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
  /**
   * How the run was asked to stop: `immediate` stops the run now, `after_step` when its current step has finished. Null if it was not asked.
   */
  cancelRequested: 'immediate' | 'after_step' | null;
  /**
   * The agent that the run was started at.
   */
  agent: string;
  /**
   * Hash of the agency that the run was started with. Null if it is not known.
   */
  agencyVersion: string | null;
  /**
   * Number of the attempt; it grows when a run is resumed after a crash.
   */
  attempt: number;
  /**
   * Id of the last stored event of the stream.
   */
  lastEventId: number;
  /**
   * When the run was admitted.
   */
  createdAt: string;
  /**
   * When the run was started. Null if it was not started yet.
   */
  startedAt: string | null;
  /**
   * When the run ended. Null if it has not ended.
   */
  completedAt: string | null;
  /**
   * Why the run failed. Null if it did not fail.
   */
  error: {
    /**
     * Machine-readable code.
     */
    code: string;
    /**
     * What was wrong and what to do, for a person.
     */
    message: string;
  } | null;
  /**
   * The run whose questions this one settled. Null if it settled none.
   */
  continues: string | null;
  /**
   * The run that this one reruns. Null if it is no rerun.
   */
  rerunOf: {
    /**
     * The original run.
     */
    runId: string;
    /**
     * The last step of the original run that was kept; 0 if none was.
     */
    afterStep: number;
  } | null;
  /**
   * The open questions of the run. Empty if there are none, or if they were settled.
   */
  pending: Question[];
  /**
   * The agents that spoke, in order. Null after the chat was deleted.
   */
  agents: string[] | null;
  /**
   * The models that were asked, as `provider/model`. Null after the chat was deleted.
   */
  models: string[] | null;
  /**
   * True if the run ended with questions that are open. Null after the chat was deleted.
   */
  waiting: boolean | null;
  /**
   * The run that settled the questions of this one. Null if there is none.
   */
  continuedBy: string | null;
  /**
   * The first 200 characters of the message that the run answers, with white space folded to one space. Null if there is none, and after the chat was deleted.
   */
  messagePreview: string | null;
  /**
   * The first 200 characters of the final assistant text, with white space folded to one space. Null if there is none, and after the chat was deleted.
   */
  answerPreview: string | null;
  /**
   * Tokens that models used.
   */
  usage: Usage | null;
  /**
   * From admission to the first output by a model. In milliseconds; null if there is none, or it is not known.
   */
  firstTokenMs: number | null;
  /**
   * What the run cost, from its end on. Also null for client tokens. Null if the prices have no currency, or none of a model.
   */
  cost: Cost | null;
  /**
   * Milliseconds from admission to the end. Null until the run has ended, and after the chat was deleted.
   */
  durationMs: number | null;
  /**
   * Value of the answer if the agent has an output schema, otherwise null.
   */
  output?: {
    [k: string]: unknown;
  };
  /**
   * The final assistant text. Null until the run has ended.
   */
  message?: string | null;
}

/**
 * A step of a run: it has finished, failed, was cut, or waits for an answer.
 */
export interface Step {
  /**
   * Number of the step within the run.
   */
  step: number;
  /**
   * Number of the attempt; it grows when a run is resumed after a crash.
   */
  attempt: number;
  /**
   * An answer of the model, a call of a tool, a check of the user's message by guardrails, or a summary that a model wrote of the oldest turns.
   */
  kind: 'model' | 'tool' | 'guardrail' | 'summary';
  /**
   * The agent of the step.
   */
  agent: string;
  /**
   * The agent that asked it. Null if the user asked.
   */
  callerAgent: string | null;
  /**
   * Model of the step, as `provider/model`. Null for other steps.
   */
  model: string | null;
  /**
   * Name of the tool. Null for other steps.
   */
  tool: string | null;
  /**
   * Id of the tool call. Null for other steps.
   */
  callId: string | null;
  /**
   * Id of the `send_message` call that began the delegation. Null outside of one.
   */
  loop: string | null;
  /**
   * The files that the call changed, together with the step.
   */
  files: ChangedFile[];
  /**
   * The images that the call returned.
   */
  attachments: ToolAttachment[];
  /**
   * The arguments with which the call was made, if a person or a guardrail changed them. Null for all other calls and for a model.
   */
  arguments: {
    [k: string]: unknown;
  } | null;
  /**
   * What the model wrote instead of `arguments`. Null if these are null.
   */
  shownArguments: {
    [k: string]: unknown;
  } | null;
  /**
   * How the call changed the state of the chat, together with the step. Null if it did not, and for client tokens.
   */
  stateChanges: {
    /**
     * The new values by their keys.
     */
    set: {
      [k: string]: unknown;
    };
    /**
     * The keys that the call removed.
     *
     * Items: A key.
     */
    removed: string[];
  } | null;
  /**
   * What guardrails decided about the step, in the order in which they were asked.
   */
  guardrails: GuardrailDecision[];
  /**
   * The tools and flows that the model did not see, because `isEnabled` was false. Empty if it saw all.
   */
  hidden: HiddenPart[];
  /**
   * The summary. Null for other steps, and for client tokens.
   */
  summary: {
    /**
     * How many of the oldest turns it replaces in prompts.
     */
    turns: number;
    /**
     * What the model wrote.
     */
    text: string;
  } | null;
  /**
   * The agent to which the call handed over. Null if it did not.
   */
  handoff: string | null;
  /**
   * End of the step. `cancelled`: the run was cancelled during the call. `waiting`: the run ended with a question about the call; `answeredBy` tells whether it was answered.
   */
  status: 'completed' | 'failed' | 'cancelled' | 'waiting';
  /**
   * Id of the first event of the step.
   */
  firstEventId: number;
  /**
   * Id of the last event of the step.
   */
  lastEventId: number;
  /**
   * Tokens that models used.
   */
  usage: Usage | null;
  /**
   * From the start of a model step to its first output. In milliseconds; null if there is none, or it is not known.
   */
  firstTokenMs: number | null;
  /**
   * What the model step cost. Also null for tools, and for client tokens. Null if the prices have no currency, or none of a model.
   */
  cost: Cost | null;
  /**
   * Why the step failed or was cut. Null otherwise.
   */
  error: {
    /**
     * Machine-readable code.
     */
    code: string;
    /**
     * What was wrong and what to do, for a person.
     */
    message: string;
  } | null;
  /**
   * How often models were asked for the step. 1 for a tool.
   */
  tries: number;
  /**
   * Who answered the question about the call. Null if it asked nothing or has no answer.
   */
  answeredBy: {
    /**
     * Who answered.
     */
    kind: 'person' | 'key' | 'client_token';
    /**
     * Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`.
     */
    id: string | null;
    /**
     * Name of the person or key. Null if there is none.
     */
    name: string | null;
    /**
     * When the answer arrived.
     */
    at: string;
  } | null;
  /**
   * The run that continued with the answer. Null if there is no answer.
   */
  continuedBy: string | null;
  /**
   * When the step was started.
   */
  startedAt: string;
  /**
   * When the step ended. If the call waited: when it asked, and after the answer when it was answered.
   */
  completedAt: string;
}

/**
 * A page of a list of `Step`.
 */
export interface StepList {
  /**
   * The items of this page, in order.
   */
  items: Step[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * What a model was sent in a step.
 */
export interface StepPrompt {
  /**
   * The instructions. Null if a function of the agency made them, or if they are not known.
   */
  instructions: string | null;
  /**
   * What the model was shown of the chat and of the run, in order. Empty if it is not known.
   *
   * Items: An item as in `new_messages`.
   */
  messages: {
    [k: string]: unknown;
  }[];
  /**
   * The tools that the model could call, without tools of MCP servers.
   */
  tools: {
    /**
     * Name of the tool.
     */
    name: string;
    /**
     * What the model reads about the tool.
     */
    description: string;
    /**
     * JSON Schema of the arguments.
     */
    inputSchema: {
      [k: string]: unknown;
    };
  }[];
  /**
   * The settings of the agent, with `reasoning`, `webSearch` and the schema `output` if it has them.
   */
  settings: {
    [k: string]: unknown;
  };
  /**
   * The model that was asked, as `provider/model`.
   */
  model: string | null;
  /**
   * Hash of the agency that the run was started with. Null if it is not known.
   */
  agencyVersion: string | null;
  /**
   * True if the version of the agency is loaded and the prompt has the size that was sent.
   */
  exact: boolean;
}

/**
 * How a run is run again.
 */
export interface RerunRequest {
  /**
   * The steps up to this one are kept: a finished step outside of delegations. By default 0: none is kept.
   */
  afterStep?: number | null | undefined;
  /**
   * Replaces the message of the user. Only with `afterStep` 0.
   */
  message?: string | null | undefined;
  /**
   * Another entry point.
   */
  agent?: string | null | undefined;
  /**
   * Another agency, such as a second folder with the new version.
   */
  agency?: string | null | undefined;
  /**
   * `provider/model` for the first agent and for every agent that names none.
   */
  model?: string | null | undefined;
  /**
   * Replaces the instructions of the first agent from the first new step on.
   */
  instructions?: string | null | undefined;
  /**
   * Free-form context. Tools always get it; the model gets it only if the agency asks for it.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * `recorded`: calls that the original run made get the outcomes that they had then, and others are executed only if they may be repeated. `live`: calls are executed as in any run. The default is `recorded`.
   */
  tools?: 'recorded' | 'live' | null | undefined;
  /**
   * If true, the chat of the rerun is listed and is not deleted after some days. The default is false.
   */
  keep?: boolean | null | undefined;
  /**
   * Unique id of this request, as in `POST /get_completion_v2`.
   */
  usageRequestId?: string | null | undefined;
}

/**
 * Two runs, step by step.
 */
export interface RunComparison {
  /**
   * The run of the path, and the run `with` which it is compared.
   */
  runs: Run[];
  /**
   * The steps of both runs, oldest first.
   *
   * Items: A step of each run.
   */
  steps: {
    /**
     * The step of the run of the path. Null if it has none here.
     */
    left: Step | null;
    /**
     * The step of the other run. Null if it has none here.
     */
    right: Step | null;
    /**
     * `equal`: same kind, agent, tool and arguments. `changed`: same position and kind. `added`: only the other run has the step. `removed`: only the run of the path has it.
     */
    change: 'equal' | 'changed' | 'added' | 'removed';
  }[];
  /**
   * The final assistant texts.
   */
  text: {
    /**
     * The answer of the run of the path.
     */
    left: string | null;
    /**
     * The answer of the other run.
     */
    right: string | null;
  };
  /**
   * What the runs used. Null until they have ended.
   */
  usage: {
    /**
     * Tokens that models used.
     */
    left: Usage | null;
    /**
     * Tokens that models used.
     */
    right: Usage | null;
  };
}

/**
 * A call of another run, with its outcome.
 */
export interface EvalCall {
  /**
   * The agent that made the call.
   */
  agent: string;
  /**
   * The agent that asked it. Null if the user asked.
   */
  callerAgent?: string | null | undefined;
  /**
   * The called tool.
   */
  tool: string;
  /**
   * The arguments as JSON text.
   */
  arguments: string;
  /**
   * What the call returned.
   */
  output: string;
  /**
   * True if the call fails.
   */
  failed?: boolean | undefined;
}

/**
 * What the agent is asked, as in `POST /get_completion_v2`, and with what.
 */
export interface EvalRequest {
  /**
   * The message of the user.
   */
  message: string;
  /**
   * The entry point. By default that of the integration.
   */
  agent?: string | null | undefined;
  /**
   * An agency that is loaded. By default that of the integration.
   */
  agency?: string | null | undefined;
  /**
   * `provider/model` for the first agent and for every agent that names none.
   */
  model?: string | null | undefined;
  /**
   * Replaces the instructions of the first agent.
   */
  instructions?: string | null | undefined;
  /**
   * Free-form context. Tools always get it; the model gets it only if the agency asks for it.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * Earlier turns, oldest first. Only for a new chat: its first messages.
   *
   * @maxItems 1000
   */
  history?: HistoryItem[] | undefined;
  /**
   * JSON Schema for the answer of the first agent.
   */
  outputSchema?: {
    [k: string]: unknown;
  } | null | undefined;
  /**
   * True: the first agent has no tools, no other agents and no settings. It makes one call of its model, with temperature 0 if the model has one. A judge is such a run.
   */
  alone?: boolean | null | undefined;
}

/**
 * A run for an eval.
 */
export interface EvalRunRequest {
  request: EvalRequest;
  /**
   * By the name of a tool: what its calls return. They are not executed.
   */
  tools?: {
    [k: string]: EvalTool;
  } | undefined;
  /**
   * Calls of another run. Equal calls get their outcomes, as in a rerun.
   *
   * @maxItems 1000
   */
  recorded?: EvalCall[] | undefined;
  /**
   * Unique id of this request, as in `POST /get_completion_v2`.
   */
  usageRequestId?: string | null | undefined;
}

/**
 * What each call of a tool returns.
 */
export interface EvalTool {
  /**
   * Text, or a value that the model gets as JSON.
   */
  output: {
    [k: string]: unknown;
  };
  /**
   * True if the call fails.
   */
  failed?: boolean | undefined;
}

/**
 * A chat.
 */
export interface Chat {
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * Alias of the chat, unique within the integration. Null if it has none.
   */
  aliasChatId: string | null;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The member that the chat belongs to. Null if it belongs to no member.
   */
  consumerId: string | null;
  /**
   * `running` while the chat has an active run, otherwise `idle`.
   */
  status: 'idle' | 'running';
  /**
   * The active run. Null if the chat is idle.
   */
  activeRunId: string | null;
  /**
   * Number of messages of the chat.
   */
  numMessages: number;
  /**
   * The open questions of the chat. Empty if there are none.
   */
  pending: Question[];
  /**
   * When the chat was created.
   */
  createdAt: string;
  /**
   * When the chat was last changed: by a run, or by a PATCH of its title or metadata.
   */
  updatedAt: string;
  /**
   * Title of the chat, for people. Null if it has none.
   */
  title: string | null;
  /**
   * The title, or the first line of the first message, at most 200 characters. Null if there is neither.
   */
  titlePreview: string | null;
  /**
   * The chat that this one continues, and the last run that both have. Null if it is no fork.
   */
  forkedFrom: {
    /**
     * The chat that was forked.
     */
    chatId: string;
    /**
     * The last run that the fork has of that chat. Null if the fork began empty.
     */
    runId: string | null;
  } | null;
  /**
   * The chat that took over the id of this one. Null if none did.
   */
  replacedBy: string | null;
  /**
   * The tools whose calls do not ask in this chat, because an answer had `remember`.
   */
  approvals: {
    /**
     * Name of the tool.
     */
    tool: string;
    /**
     * Who allowed it.
     */
    by: {
      /**
       * Who answered.
       */
      kind: 'person' | 'key' | 'client_token';
      /**
       * Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`.
       */
      id: string | null;
      /**
       * Name of the person or key. Null if there is none.
       */
      name: string | null;
    };
    /**
     * When it was allowed.
     */
    at: string;
  }[];
  /**
   * The agent of the last lasting hand-off. It begins the runs whose requests name no agent, as long as a lasting hand-off leads to it. Null if there was none.
   */
  lastingAgent: string | null;
  /**
   * True if the chat is not listed, and is deleted `RUNWIRE_LOG_DAYS` after its last run ended.
   */
  transient: boolean;
  /**
   * Data of your own, at most 16 KiB as JSON. Null if the chat has none.
   */
  metadata: {
    [k: string]: unknown;
  } | null;
}

/**
 * A page of a list of `Chat`.
 */
export interface ChatList {
  /**
   * The items of this page, in order.
   */
  items: Chat[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * What tools keep in a chat: values by their keys, at most 64 KiB as JSON. In a change, null removes a member.
 */
export interface ChatState {
  [k: string]: unknown;
}

/**
 * A chat and one of its runs, read in one consistent snapshot.
 */
export interface ChatStatus {
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * Alias of the chat, unique within the integration. Null if it has none.
   */
  aliasChatId: string | null;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The member that the chat belongs to. Null if it belongs to no member.
   */
  consumerId: string | null;
  /**
   * `running` while the chat has an active run, otherwise `idle`.
   */
  status: 'idle' | 'running';
  /**
   * The active run. Null if the chat is idle.
   */
  activeRunId: string | null;
  /**
   * Number of messages of the chat.
   */
  numMessages: number;
  /**
   * The open questions of the chat. Empty if there are none.
   */
  pending: Question[];
  /**
   * When the chat was created.
   */
  createdAt: string;
  /**
   * When the chat was last changed: by a run, or by a PATCH of its title or metadata.
   */
  updatedAt: string;
  /**
   * True if the chat was deleted.
   */
  chatDeleted: boolean;
  /**
   * The run of `usageRequestId` if the request named one, otherwise the chat's newest run. Null if the chat has no run.
   */
  run: {
    /**
     * Identifier of the run.
     */
    runId: string;
    /**
     * `usageRequestId` of the request. Null if it had none.
     */
    usageRequestId: string | null;
    /**
     * State of the run. `completed`, `failed` and `cancelled` are final.
     */
    status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
    /**
     * The agent that the run was started at.
     */
    agent: string;
    /**
     * Number of the attempt; it grows when a run is resumed after a crash.
     */
    attempt: number;
    /**
     * Id of the last stored event of the stream.
     */
    lastEventId: number;
    /**
     * When the run was admitted.
     */
    createdAt: string;
    /**
     * When the run was started. Null if it was not started yet.
     */
    startedAt: string | null;
    /**
     * When the run ended. Null if it has not ended.
     */
    completedAt: string | null;
    /**
     * Why the run failed. Null if it did not fail.
     */
    error: {
      /**
       * Machine-readable code.
       */
      code: string;
      /**
       * What was wrong and what to do, for a person.
       */
      message: string;
    } | null;
    /**
     * The final assistant text. Null until the run has ended.
     */
    message: string | null;
    /**
     * Tokens that models used.
     */
    usage: Usage | null;
  } | null;
}

/**
 * The chat to create.
 */
export interface CreateChatRequest {
  /**
   * Identifier of the chat. Without it the server chooses one.
   */
  chatId?: string | null | undefined;
  /**
   * Alias of the chat, unique within the integration.
   */
  aliasChatId?: string | null | undefined;
  /**
   * The member that the chat belongs to; it must be registered.
   */
  consumerId?: string | null | undefined;
  /**
   * Earlier turns, oldest first. Only for a new chat: its first messages.
   *
   * @maxItems 1000
   */
  history?: HistoryItem[] | undefined;
}

/**
 * The last run that the new chat gets, and its names.
 */
export interface ForkChatRequest {
  /**
   * The run with which the new chat ends. Without it, the chat's newest run that has ended.
   */
  runId?: string | null | undefined;
  /**
   * True if the new chat ends before the message of `runId`.
   */
  before?: boolean | undefined;
  /**
   * Identifier of the new chat. Without it the server chooses one.
   */
  chatId?: string | null | undefined;
  /**
   * Alias of the new chat, unique within the integration.
   */
  aliasChatId?: string | null | undefined;
}

/**
 * A message of a chat.
 */
export interface Message {
  /**
   * Identifier of the message.
   */
  messageId: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * The run that the message belongs to. Null for an imported message.
   */
  runId: string | null;
  /**
   * Who wrote the message.
   */
  role: 'user' | 'assistant';
  /**
   * A message of the assistant has the end of its run. `imported`: the caller sent it as `history`.
   */
  status: 'completed' | 'failed' | 'cancelled' | 'imported';
  /**
   * The agent that answered. Null for messages of the user.
   */
  agent: string | null;
  /**
   * Text of the message; empty if the run ended before any text.
   */
  content: string;
  /**
   * Attachments of the message, without signed queries.
   */
  attachments: Attachment[];
  /**
   * Sandbox files of the message, as they were sent.
   */
  sandboxFiles: SandboxFile[];
  /**
   * The tool calls of the run that answered. Empty for messages of the user.
   *
   * Items: A call of a tool.
   */
  calls: {
    /**
     * Number of the step within the run.
     */
    step: number;
    /**
     * Name of the tool. Null for other steps.
     */
    tool: string | null;
    /**
     * End of the step. `cancelled`: the run was cancelled during the call. `waiting`: the run ended with a question about the call; `answeredBy` tells whether it was answered.
     */
    status: 'completed' | 'failed' | 'cancelled' | 'waiting';
    /**
     * The agent of the step.
     */
    agent: string;
    /**
     * Id of the tool call. Null for other steps.
     */
    callId: string | null;
  }[];
  /**
   * The answers to questions that the message brought. Empty for messages of the assistant.
   *
   * Items: An answer to a question.
   */
  answers: {
    /**
     * The question.
     */
    questionId: string;
    /**
     * Name of the tool. Null if it is not known.
     */
    tool: string | null;
    /**
     * What was answered.
     */
    decision: 'approved' | 'declined' | 'output';
    /**
     * The reason that was sent. Null if there was none.
     */
    reason: string | null;
    /**
     * The arguments with which the call was approved instead. Null if they were not changed.
     */
    changedArguments: {
      [k: string]: unknown;
    } | null;
    /**
     * `chat`: the tool was allowed for the chat. Null if it was not.
     */
    remember: 'chat' | null;
    /**
     * Who answered.
     */
    by: {
      /**
       * Who answered.
       */
      kind: 'person' | 'key' | 'client_token';
      /**
       * Id of the person or key, or the member of the client token. Null for the key of `RUNWIRE_API_KEY`.
       */
      id: string | null;
      /**
       * Name of the person or key. Null if there is none.
       */
      name: string | null;
    };
    /**
     * When the answer arrived.
     */
    at: string;
  }[];
  /**
   * Why the run failed. Null if it did not fail.
   */
  error: {
    /**
     * Machine-readable code.
     */
    code: string;
    /**
     * What was wrong and what to do, for a person.
     */
    message: string;
  } | null;
  /**
   * When the message was stored.
   */
  createdAt: string;
}

/**
 * A page of a list of `Message`.
 */
export interface MessageList {
  /**
   * The items of this page, in order.
   */
  items: Message[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The fields to set. Null removes a value.
 */
export interface UpdateChatRequest {
  /**
   * Title of the chat, for people. Null if it has none.
   */
  title?: string | null | undefined;
  /**
   * Data of your own, at most 16 KiB as JSON. Null if the chat has none.
   */
  metadata?: {
    [k: string]: unknown;
  } | null | undefined;
  /**
   * The approvals that remain. The calls of the other tools ask again. None can be added.
   *
   * @maxItems 1000
   */
  approvals?: {
    /**
     * Name of the tool.
     */
    tool: string;
    /**
     * As it was read. It cannot be changed.
     */
    by?: {
      [k: string]: unknown;
    };
    /**
     * As it was read. It cannot be changed.
     */
    at?: string;
  }[] | undefined;
}

/**
 * The answers to the open questions of a chat.
 */
export interface AnswerQuestionsRequest {
  /**
   * One answer for every open question of the chat.
   *
   * @maxItems 64
   */
  answers: Answer[];
  /**
   * A message that the agent reads after the answers. May be empty.
   */
  message?: string | undefined;
  /**
   * Free-form context. Tools always get it; the model gets it only if the agency asks for it.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * Unique id of this request. Default: `answers:` and the first `questionId`, so the same answers start one run.
   */
  usageRequestId?: string | undefined;
}

/**
 * The run that continues after answers.
 */
export interface AnsweringRun {
  /**
   * The run that continues with the answers.
   */
  runId: string;
  /**
   * Its chat.
   */
  chatId: string;
  /**
   * State of the run.
   */
  status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
}

/**
 * A question of any chat of the owner, and what became of it.
 */
export interface AskedQuestion {
  /**
   * Identifier of the question, for `answers`.
   */
  questionId: string;
  /**
   * `approval`: a person must decide about the call. `tool`: only the caller can make the call.
   */
  kind: 'approval' | 'tool';
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * The arguments of the call. An approved call is made with exactly these, or with those of the answer.
   */
  arguments: {
    [k: string]: unknown;
  };
  /**
   * True if the answer may have other `arguments`. Absent if the tool of the call has no `editable`.
   */
  editable?: boolean;
  /**
   * True if the answer may have `remember`. Absent if the tool of the call has no `remember`.
   */
  rememberable?: boolean;
  /**
   * The agent that made the call.
   */
  agent: string;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The chat in which the question was asked.
   */
  chatId: string;
  /**
   * The member that the chat belongs to. Null if it belongs to no member.
   */
  consumerId: string | null;
  /**
   * The run that asked.
   */
  runId: string;
  /**
   * When the run asked.
   */
  askedAt: string;
  /**
   * `unanswered`: a new message in the chat came instead of an answer.
   */
  state: 'open' | 'answered' | 'unanswered';
  /**
   * What the answer decided. Null if there is no answer.
   */
  decision: 'approved' | 'declined' | 'output' | null;
  /**
   * The reason that was given with the decision. Null if there is none.
   */
  reason: string | null;
  /**
   * The arguments with which the call was approved instead. Null if they were not changed.
   */
  changedArguments: {
    [k: string]: unknown;
  } | null;
  /**
   * `chat`: the tool was allowed for the chat. Null if it was not.
   */
  remember: 'chat' | null;
  /**
   * Who answered. Null if there is no answer.
   */
  answeredBy: {
    /**
     * What answered.
     */
    kind: 'person' | 'key' | 'client_token';
    /**
     * Id of the person or the key, or the `consumerId` of the client token. Null for `RUNWIRE_API_KEY`.
     */
    id: string | null;
    /**
     * Name of the person or the key when it answered. Null for client tokens.
     */
    name: string | null;
    /**
     * When the answer arrived.
     */
    at: string;
  } | null;
}

/**
 * A page of a list of `AskedQuestion`.
 */
export interface AskedQuestionList {
  /**
   * The items of this page, in order.
   */
  items: AskedQuestion[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The erasure of a member. It is kept for 30 days after its end.
 */
export interface Erasure {
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
  /**
   * `erased` if nothing of the member is stored any more, except usage under another id.
   */
  status: 'erasing' | 'erased';
  /**
   * When the erasure was accepted.
   */
  startedAt: string;
  /**
   * When it was finished. Null while it is running.
   */
  finishedAt: string | null;
}

/**
 * An app member (consumer) of an integration.
 */
export interface Member {
  /**
   * Identifier of the member, chosen by your backend.
   */
  consumerId: string;
  /**
   * Name of the member, for people.
   */
  name: string | null;
  /**
   * True if the member may start runs.
   */
  active: boolean;
  /**
   * Data of your own, at most 16 KiB as JSON.
   */
  metadata: {
    [k: string]: unknown;
  };
  /**
   * Limit of this member. Null if the limit of the integration applies.
   */
  ownLimit: number | null;
  /**
   * Allowance in the current period. Null if allowances are off.
   */
  allowance: Allowance | null;
  /**
   * Folder of the member: with `fileAccess: "member"` its runs see the files below it.
   */
  folder: string;
  /**
   * When the member was registered.
   */
  createdAt: string;
  /**
   * When the member was last changed.
   */
  updatedAt: string;
}

/**
 * A page of a list of `Member`.
 */
export interface MemberList {
  /**
   * The items of this page, in order.
   */
  items: Member[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The fields to set.
 */
export interface PutMemberRequest {
  /**
   * Name of the member, for people.
   */
  name?: string | null | undefined;
  /**
   * True if the member may start runs.
   */
  active?: boolean | undefined;
  /**
   * Own limit of the member. Null: the limit of the integration applies.
   */
  allowance?: {
    /**
     * Limit of this member, in the unit of the integration.
     */
    limit: number;
  } | null | undefined;
  /**
   * Data of your own, at most 16 KiB as JSON.
   */
  metadata?: {
    [k: string]: unknown;
  } | undefined;
}

/**
 * A token with which a page speaks for one member.
 */
export interface ClientToken {
  /**
   * The token itself. The server does not store it.
   */
  clientToken: string;
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * The member that the token speaks for.
   */
  consumerId: string;
  /**
   * The only chat that the token reaches. Null: all chats of the member.
   */
  chatId: string | null;
  /**
   * The only entry point that the token can run. Null: every entry point of the agency.
   */
  agent: string | null;
  /**
   * What the token permits.
   *
   * Items: A permission.
   */
  can: ('run' | 'read' | 'upload' | 'files' | 'answer')[];
  /**
   * Canonical folder: uploads, files and `sandboxFiles` must be at or below it. With `upload` or `files` the default is the folder of the member. Null: the token reaches no file.
   */
  folder: string | null;
  /**
   * The pages that may use the token. Null: pages of every origin.
   */
  origins: string[] | null;
  /**
   * The token is refused from this time on, or earlier if its key is revoked or its member leaves.
   */
  expiresAt: string;
}

/**
 * The token to mint.
 */
export interface CreateClientTokenRequest {
  /**
   * The member that the token speaks for. It must be registered and active.
   */
  consumerId: string;
  /**
   * The only chat that the token reaches. Null: all chats of the member.
   */
  chatId?: string | null | undefined;
  /**
   * The only entry point that the token can run. Null: every entry point of the agency.
   */
  agent?: string | null | undefined;
  /**
   * What the token permits. The default is `run` and `read`.
   *
   * @minItems 1
   *
   * Items: A permission.
   */
  can?: ('run' | 'read' | 'upload' | 'files' | 'answer')[] | undefined;
  /**
   * Canonical folder: uploads, files and `sandboxFiles` must be at or below it. With `upload` or `files` the default is the folder of the member. Null: the token reaches no file.
   */
  folder?: string | null | undefined;
  /**
   * The `user_context` of the token's runs, at most 4 KiB as JSON.
   */
  userContext?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * The pages that may use the token. Null: pages of every origin.
   *
   * @minItems 1
   * @maxItems 10
   */
  origins?: string[] | null | undefined;
  /**
   * How long the token is valid.
   */
  expiresInSeconds?: number | undefined;
}

/**
 * The integration to create.
 */
export interface CreateIntegrationRequest {
  /**
   * Identifier of the integration; it can never be used again. Without it the server chooses one.
   */
  apiIntegrationId?: string | undefined;
  /**
   * Name of the integration, for people. A new integration without one has its id as name.
   */
  name?: string | undefined;
  /**
   * The agency that answers. The default is the demo agency.
   */
  agency?: string | undefined;
  /**
   * Entry point that is used if a request names no `agent`.
   */
  defaultAgent?: string | undefined;
  /**
   * True if completions answer in Text Only Mode, as `text/plain`.
   */
  textOnly?: boolean | undefined;
  /**
   * Allowance of each member and period. Null if member allowances are off.
   */
  allowances?: AllowanceSetting | null | undefined;
  /**
   * What happens to a run that had no reader for 10 s: `continue` or `cancel`.
   */
  onDisconnect?: 'continue' | 'cancel' | undefined;
  /**
   * Maximum duration of a run in seconds. Null: the default of the server, which answers show.
   */
  maxRunSeconds?: number | null | undefined;
  /**
   * Maximum number of concurrent runs of a member. Null if it is not limited.
   */
  maxRunsPerMember?: number | null | undefined;
  /**
   * True if the server keeps a copy of each fetched attachment as long as the chat exists.
   */
  keepAttachments?: boolean | undefined;
  /**
   * `provider/model` for agents that name no model. Null: the model of the agency or of the server.
   */
  model?: string | null | undefined;
  /**
   * Which files the agents of a run see: `chat` (announced in the chat, or made by its runs), `member` (these, and all files below the folder of the member) or `all` (all files of the integration). The default is `chat`.
   */
  fileAccess?: 'chat' | 'member' | 'all' | undefined;
  /**
   * Template of the folder of a member, with `{consumerId}` as a whole path segment. The default is `/app/mnt/members/{consumerId}`.
   */
  memberFolder?: string | undefined;
  /**
   * Maximum bytes of all files of the integration. Null: `RUNWIRE_MOUNT_QUOTA_BYTES` of the server. 0: no quota.
   */
  quotaBytes?: number | null | undefined;
  /**
   * Maximum bytes of the files below the folder of one member. Null: `RUNWIRE_MEMBER_QUOTA_BYTES` of the server. 0: no quota.
   */
  memberQuotaBytes?: number | null | undefined;
  /**
   * True if requests may bring tools that the caller runs (`clientTools`).
   */
  clientTools?: boolean | undefined;
  /**
   * True if requests may bring instructions of their own (`instructions`, and system messages of compatible APIs).
   */
  callerInstructions?: boolean | undefined;
  /**
   * True if compatible APIs register an unknown member with its first run. `POST /get_completion_v2` never does this.
   */
  autoRegister?: boolean | undefined;
  /**
   * The compatible APIs that are on. An API that is off answers 404. The default is all of them.
   *
   * @maxItems 5
   */
  compatibleApis?: ('openai' | 'ai-sdk' | 'ag-ui' | 'mcp' | 'agency-swarm')[] | undefined;
}

/**
 * An integration: an agency with settings, members, chats and files.
 */
export interface Integration {
  /**
   * Identifier of the integration.
   */
  apiIntegrationId: string;
  /**
   * Name of the integration, for people.
   */
  name: string | null;
  /**
   * The agency that answers. The default is the demo agency.
   */
  agency: string;
  /**
   * Entry point that is used if a request names no `agent`.
   */
  defaultAgent: string | null;
  /**
   * True if completions answer in Text Only Mode, as `text/plain`.
   */
  textOnly: boolean;
  /**
   * Allowance of each member and period. Null if member allowances are off.
   */
  allowances: AllowanceSetting | null;
  /**
   * What happens to a run that had no reader for 10 s: `continue` or `cancel`.
   */
  onDisconnect: 'continue' | 'cancel';
  /**
   * Maximum duration of a run in seconds; a longer run fails.
   */
  maxRunSeconds: number;
  /**
   * Maximum number of concurrent runs of a member. Null if it is not limited.
   */
  maxRunsPerMember: number | null;
  /**
   * True if the server keeps a copy of each fetched attachment as long as the chat exists.
   */
  keepAttachments: boolean;
  /**
   * `provider/model` for agents that name no model. Null: the model of the agency or of the server.
   */
  model: string | null;
  /**
   * Which files the agents of a run see: `chat` (announced in the chat, or made by its runs), `member` (these, and all files below the folder of the member) or `all` (all files of the integration). The default is `chat`.
   */
  fileAccess: 'chat' | 'member' | 'all';
  /**
   * Template of the folder of a member, with `{consumerId}` as a whole path segment. The default is `/app/mnt/members/{consumerId}`.
   */
  memberFolder: string;
  /**
   * Maximum bytes of all files of the integration. Null: `RUNWIRE_MOUNT_QUOTA_BYTES` of the server. 0: no quota.
   */
  quotaBytes: number | null;
  /**
   * Maximum bytes of the files below the folder of one member. Null: `RUNWIRE_MEMBER_QUOTA_BYTES` of the server. 0: no quota.
   */
  memberQuotaBytes: number | null;
  /**
   * True if requests may bring tools that the caller runs (`clientTools`).
   */
  clientTools: boolean;
  /**
   * True if requests may bring instructions of their own (`instructions`, and system messages of compatible APIs).
   */
  callerInstructions: boolean;
  /**
   * True if compatible APIs register an unknown member with its first run. `POST /get_completion_v2` never does this.
   */
  autoRegister: boolean;
  /**
   * The compatible APIs that are on. An API that is off answers 404. The default is all of them.
   *
   * @maxItems 5
   */
  compatibleApis: ('openai' | 'ai-sdk' | 'ag-ui' | 'mcp' | 'agency-swarm')[];
  /**
   * When the integration was created.
   */
  createdAt: string;
  /**
   * When the integration was last changed.
   */
  updatedAt: string;
}

/**
 * A page of a list of `Integration`.
 */
export interface IntegrationList {
  /**
   * The items of this page, in order.
   */
  items: Integration[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The fields to change.
 */
export interface UpdateIntegrationRequest {
  /**
   * Name of the integration, for people. A new integration without one has its id as name.
   */
  name?: string | undefined;
  /**
   * The agency that answers. The default is the demo agency.
   */
  agency?: string | undefined;
  /**
   * Entry point that is used if a request names no `agent`.
   */
  defaultAgent?: string | undefined;
  /**
   * True if completions answer in Text Only Mode, as `text/plain`.
   */
  textOnly?: boolean | undefined;
  /**
   * Allowance of each member and period. Null if member allowances are off.
   */
  allowances?: AllowanceSetting | null | undefined;
  /**
   * What happens to a run that had no reader for 10 s: `continue` or `cancel`.
   */
  onDisconnect?: 'continue' | 'cancel' | undefined;
  /**
   * Maximum duration of a run in seconds. Null: the default of the server, which answers show.
   */
  maxRunSeconds?: number | null | undefined;
  /**
   * Maximum number of concurrent runs of a member. Null if it is not limited.
   */
  maxRunsPerMember?: number | null | undefined;
  /**
   * True if the server keeps a copy of each fetched attachment as long as the chat exists.
   */
  keepAttachments?: boolean | undefined;
  /**
   * `provider/model` for agents that name no model. Null: the model of the agency or of the server.
   */
  model?: string | null | undefined;
  /**
   * Which files the agents of a run see: `chat` (announced in the chat, or made by its runs), `member` (these, and all files below the folder of the member) or `all` (all files of the integration). The default is `chat`.
   */
  fileAccess?: 'chat' | 'member' | 'all' | undefined;
  /**
   * Template of the folder of a member, with `{consumerId}` as a whole path segment. The default is `/app/mnt/members/{consumerId}`.
   */
  memberFolder?: string | undefined;
  /**
   * Maximum bytes of all files of the integration. Null: `RUNWIRE_MOUNT_QUOTA_BYTES` of the server. 0: no quota.
   */
  quotaBytes?: number | null | undefined;
  /**
   * Maximum bytes of the files below the folder of one member. Null: `RUNWIRE_MEMBER_QUOTA_BYTES` of the server. 0: no quota.
   */
  memberQuotaBytes?: number | null | undefined;
  /**
   * True if requests may bring tools that the caller runs (`clientTools`).
   */
  clientTools?: boolean | undefined;
  /**
   * True if requests may bring instructions of their own (`instructions`, and system messages of compatible APIs).
   */
  callerInstructions?: boolean | undefined;
  /**
   * True if compatible APIs register an unknown member with its first run. `POST /get_completion_v2` never does this.
   */
  autoRegister?: boolean | undefined;
  /**
   * The compatible APIs that are on. An API that is off answers 404. The default is all of them.
   *
   * @maxItems 5
   */
  compatibleApis?: ('openai' | 'ai-sdk' | 'ag-ui' | 'mcp' | 'agency-swarm')[] | undefined;
}

/**
 * The new schedule, with `cron`, `everySeconds` or `at`.
 */
export interface CreateScheduleRequest {
  /**
   * Name for people.
   */
  name: string;
  /**
   * Five fields: minute, hour, day, month, weekday; or six with seconds before them, at least 10 s apart.
   */
  cron?: string | null | undefined;
  /**
   * Seconds between two ticks.
   */
  everySeconds?: number | null | undefined;
  /**
   * When the only tick is due.
   */
  at?: string | null | undefined;
  /**
   * The IANA time zone in which `cron` is read.
   */
  timezone?: string | undefined;
  request: ScheduleRequest;
  /**
   * Which ticks run later if they passed while no node was running: only the latest, none, or all, at most 24.
   */
  catchUp?: 'latest' | 'none' | 'all' | undefined;
  /**
   * False if the schedule is paused, or its only tick has passed.
   */
  active?: boolean | undefined;
}

/**
 * It has no fields.
 */
export interface RunScheduleRequest {}

/**
 * Runs that start by themselves. Only `cron`, `everySeconds` or `at` is not null.
 */
export interface Schedule {
  /**
   * The schedule's id.
   */
  scheduleId: string;
  /**
   * Name for people.
   */
  name: string;
  /**
   * Five fields: minute, hour, day, month, weekday; or six with seconds before them, at least 10 s apart.
   */
  cron: string | null;
  /**
   * Seconds between two ticks.
   */
  everySeconds: number | null;
  /**
   * When the only tick is due.
   */
  at: string | null;
  /**
   * The IANA time zone in which `cron` is read.
   */
  timezone: string;
  request: ScheduleRequest;
  /**
   * Which ticks run later if they passed while no node was running: only the latest, none, or all, at most 24.
   */
  catchUp: 'latest' | 'none' | 'all';
  /**
   * False if the schedule is paused, or its only tick has passed.
   */
  active: boolean;
  /**
   * Why the server paused the schedule. Null if it did not.
   */
  pausedReason: string | null;
  /**
   * When the next tick is due. Null if there is none.
   */
  nextTickAt: string | null;
  /**
   * When the schedule was created. `everySeconds` counts from here.
   */
  createdAt: string;
  /**
   * When the schedule was last changed.
   */
  updatedAt: string;
}

/**
 * A page of a list of `Schedule`.
 */
export interface ScheduleList {
  /**
   * The items of this page, in order.
   */
  items: Schedule[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * What `POST /get_completion_v2` takes, without `usageRequestId`, `answers` and `history`; at most 256 KiB as JSON. `{{tick}}` in `message` is replaced by the tick's time. Without `chatId` each tick makes a new chat.
 */
export interface ScheduleRequest {
  /**
   * Integration identifier.
   */
  apiIntegrationId?: string | undefined;
  /**
   * The user message.
   */
  message: string;
  /**
   * Agency entry point. When omitted, the integration's default is used.
   */
  agent?: string | undefined;
  /**
   * Chat identifier. An unknown one starts a new chat with this id.
   */
  chatId?: string | null | undefined;
  /**
   * Alias chat identifier. An unknown one starts a new chat with this alias.
   */
  aliasChatId?: string | null | undefined;
  /**
   * Files and images for the model, by URL or inline.
   *
   * @maxItems 5
   */
  attachments?: Attachment[] | undefined;
  /**
   * Uploaded files for the tools of the agent.
   *
   * @maxItems 5
   */
  sandboxFiles?: SandboxFile[] | undefined;
  /**
   * Free-form context. Tools always get it; the model gets it only if the agency asks for it.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string | undefined;
  /**
   * The app member. Required when member allowances are enabled.
   */
  consumerId?: string | undefined;
  /**
   * Tools that you run yourself, at most 64 KiB as JSON. A call of one ends the run with a question. Allowed if the integration has `clientTools`.
   *
   * @maxItems 64
   */
  clientTools?: ClientTool[] | undefined;
  /**
   * Added to what the first agent is instructed to do, for this run only. At most 32 KiB. Allowed if the integration has `callerInstructions`.
   */
  instructions?: string | undefined;
  /**
   * Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same host and path. It must list all earlier conversation files that need refreshing: files of which the server keeps no copy and whose signed links have expired.
   */
  attachmentUrlRefreshes?: {
    [k: string]: string;
  } | undefined;
}

/**
 * What happened at a tick.
 */
export interface ScheduleTick {
  /**
   * When the tick was due.
   */
  tick: string;
  /**
   * The tick's run. Null if there is none.
   */
  runId: string | null;
  /**
   * Why there is no run: the refusal's code. Null if there is a run.
   */
  code: string | null;
  /**
   * The refusal's sentence, for people.
   */
  error: string | null;
  /**
   * When the server recorded this.
   */
  at: string;
}

/**
 * A page of a list of `ScheduleTick`.
 */
export interface ScheduleTickList {
  /**
   * The items of this page, in order.
   */
  items: ScheduleTick[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A run that was started besides the ticks.
 */
export interface ScheduledRun {
  /**
   * The run's id.
   */
  runId: string;
  /**
   * Its chat's id.
   */
  chatId: string;
}

/**
 * The fields to set. `cron`, `everySeconds` or `at` replaces the other two.
 */
export interface UpdateScheduleRequest {
  /**
   * Name for people.
   */
  name?: string | undefined;
  /**
   * Five fields: minute, hour, day, month, weekday; or six with seconds before them, at least 10 s apart.
   */
  cron?: string | null | undefined;
  /**
   * Seconds between two ticks.
   */
  everySeconds?: number | null | undefined;
  /**
   * When the only tick is due.
   */
  at?: string | null | undefined;
  /**
   * The IANA time zone in which `cron` is read.
   */
  timezone?: string | undefined;
  request?: ScheduleRequest | undefined;
  /**
   * Which ticks run later if they passed while no node was running: only the latest, none, or all, at most 24.
   */
  catchUp?: 'latest' | 'none' | 'all' | undefined;
  /**
   * False if the schedule is paused, or its only tick has passed.
   */
  active?: boolean | undefined;
}

/**
 * An API key, without the key itself.
 */
export interface ApiKey {
  /**
   * Identifier of the API key. Null for `RUNWIRE_API_KEY`.
   */
  keyId: string | null;
  /**
   * Name of the key, for people.
   */
  name: string | null;
  /**
   * What the key may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role: 'viewer' | 'operator' | 'developer' | 'manager';
  /**
   * The only integrations that the key reaches. Null: all integrations of the owner.
   */
  integrations: string[] | null;
  /**
   * The last 6 characters of the key. Null for `RUNWIRE_API_KEY`.
   */
  suffix: string | null;
  /**
   * Who made the key. Null if a command on the machine or an earlier version made it.
   */
  createdBy: {
    /**
     * Who made the key.
     */
    kind: 'person' | 'key';
    /**
     * Identifier of the person or of the key. Null for `RUNWIRE_API_KEY`.
     */
    id: string | null;
    /**
     * Name at that time; of a person without a name the e-mail address.
     */
    name: string | null;
  } | null;
  /**
   * When the key was created. Null for `RUNWIRE_API_KEY`.
   */
  createdAt: string | null;
  /**
   * The key is refused from this time on. Null if it does not expire.
   */
  expiresAt: string | null;
  /**
   * When the key was last used, to the minute. Null if it was never used.
   */
  lastUsedAt: string | null;
  /**
   * When the key was revoked. Null if it was not revoked.
   */
  revokedAt: string | null;
}

/**
 * A page of a list of `ApiKey`.
 */
export interface ApiKeyList {
  /**
   * The items of this page, in order.
   */
  items: ApiKey[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The key to create.
 */
export interface CreateApiKeyRequest {
  /**
   * Name of the key, for people.
   */
  name?: string | undefined;
  /**
   * When the key expires; it must be in the future. Without it the key never expires.
   */
  expiresAt?: string | undefined;
  /**
   * What the key may do; at most your own role. The default is `manager`. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role?: 'viewer' | 'operator' | 'developer' | 'manager' | undefined;
  /**
   * The only integrations that the key reaches. Null or absent: all integrations of the owner.
   *
   * @minItems 1
   * @maxItems 100
   */
  integrations?: string[] | null | undefined;
}

/**
 * The owner to create.
 */
export interface CreateOwnerRequest {
  /**
   * E-mail address of the person; no other person may have it, regardless of letter case.
   */
  email: string;
  /**
   * Name of the owner, for people.
   */
  name?: string | undefined;
}

/**
 * The person to invite.
 */
export interface CreatePersonRequest {
  /**
   * E-mail address of the person; no other person may have it, regardless of letter case.
   */
  email: string;
  /**
   * Name of the person.
   */
  name?: string | null | undefined;
  /**
   * What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role: 'viewer' | 'operator' | 'developer' | 'manager';
}

/**
 * A new API key.
 */
export interface CreatedApiKey {
  /**
   * Identifier of the API key.
   */
  keyId: string;
  /**
   * Name of the key, for people.
   */
  name: string | null;
  /**
   * What the key may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role: 'viewer' | 'operator' | 'developer' | 'manager';
  /**
   * The only integrations that the key reaches. Null: all integrations of the owner.
   */
  integrations: string[] | null;
  /**
   * The last 6 characters of the key. Null for `RUNWIRE_API_KEY`.
   */
  suffix: string | null;
  /**
   * Who made the key. Null if a command on the machine or an earlier version made it.
   */
  createdBy: {
    /**
     * Who made the key.
     */
    kind: 'person' | 'key';
    /**
     * Identifier of the person or of the key. Null for `RUNWIRE_API_KEY`.
     */
    id: string | null;
    /**
     * Name at that time; of a person without a name the e-mail address.
     */
    name: string | null;
  } | null;
  /**
   * When the key was created.
   */
  createdAt: string;
  /**
   * The key is refused from this time on. Null if it does not expire.
   */
  expiresAt: string | null;
  /**
   * When the key was last used, to the minute. Null if it was never used.
   */
  lastUsedAt: string | null;
  /**
   * When the key was revoked. Null if it was not revoked.
   */
  revokedAt: string | null;
  /**
   * The key itself. The server shows it only in this answer.
   */
  apiKey: string;
}

/**
 * A new owner with its first API key.
 */
export interface CreatedOwner {
  /**
   * Identifier of the owner.
   */
  ownerId: string;
  /**
   * E-mail address of the owner.
   */
  email: string;
  /**
   * The owner's first API key. The server shows it only in this answer.
   */
  apiKey: string;
  /**
   * One-time link that sets the password for the console. It is valid for 24 hours.
   */
  setupLink: string;
}

/**
 * An invited person.
 */
export interface CreatedPerson {
  /**
   * Identifier of the person.
   */
  personId: string;
  /**
   * E-mail address with which the person signs in. Null until it is set.
   */
  email: string | null;
  /**
   * Name of the person.
   */
  name: string | null;
  /**
   * What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role: 'viewer' | 'operator' | 'developer' | 'manager';
  /**
   * `invited` until the person has set a password with the set-up link.
   */
  state: 'invited' | 'active';
  /**
   * When the person last used the console, to the minute. Null if never.
   */
  lastSeenAt: string | null;
  /**
   * When the person was created.
   */
  createdAt: string;
  /**
   * One-time link with which the person sets a password. It is valid for 24 hours.
   */
  setupLink: string;
}

/**
 * The owner, the person and the API key of this request.
 */
export interface Me {
  /**
   * Identifier of the owner.
   */
  ownerId: string;
  /**
   * E-mail address of the first person of the owner. Null if none is set.
   */
  email: string | null;
  /**
   * Name of the owner, for people.
   */
  name: string | null;
  /**
   * True if the owner may use the operations for administrators.
   */
  administrator: boolean;
  /**
   * The person who is signed in. Null if the request was sent with an API key.
   */
  person: {
    /**
     * Identifier of the person.
     */
    personId: string;
    /**
     * E-mail address with which the person signs in. Null until it is set.
     */
    email: string | null;
    /**
     * Name of the person.
     */
    name: string | null;
    /**
     * What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
     */
    role: 'viewer' | 'operator' | 'developer' | 'manager';
  } | null;
  /**
   * The API key of this request. For a console token it is the session, named `console`.
   */
  key: {
    /**
     * Identifier of the API key, or of the session for a console token. Null for `RUNWIRE_API_KEY`.
     */
    keyId: string | null;
    /**
     * Name of the key, for people.
     */
    name: string | null;
    /**
     * The key is refused from this time on. Null if it does not expire.
     */
    expiresAt: string | null;
    /**
     * What this request may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
     */
    role: 'viewer' | 'operator' | 'developer' | 'manager';
    /**
     * The only integrations that the key reaches. Null: all integrations of the owner.
     */
    integrations: string[] | null;
  };
}

/**
 * An owner of integrations and API keys.
 */
export interface Owner {
  /**
   * Identifier of the owner.
   */
  ownerId: string;
  /**
   * E-mail address of the first person of the owner. Null if none is set.
   */
  email: string | null;
  /**
   * Name of the owner, for people.
   */
  name: string | null;
  /**
   * True if the owner may use the operations for administrators.
   */
  administrator: boolean;
  /**
   * When the owner was created.
   */
  createdAt: string;
}

/**
 * A page of a list of `Owner`.
 */
export interface OwnerList {
  /**
   * The items of this page, in order.
   */
  items: Owner[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A person who signs in for the owner.
 */
export interface Person {
  /**
   * Identifier of the person.
   */
  personId: string;
  /**
   * E-mail address with which the person signs in. Null until it is set.
   */
  email: string | null;
  /**
   * Name of the person.
   */
  name: string | null;
  /**
   * What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role: 'viewer' | 'operator' | 'developer' | 'manager';
  /**
   * `invited` until the person has set a password with the set-up link.
   */
  state: 'invited' | 'active';
  /**
   * When the person last used the console, to the minute. Null if never.
   */
  lastSeenAt: string | null;
  /**
   * When the person was created.
   */
  createdAt: string;
}

/**
 * A page of a list of `Person`.
 */
export interface PersonList {
  /**
   * The items of this page, in order.
   */
  items: Person[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * What to change of yourself. Fields that are absent keep their values.
 */
export interface UpdateMeRequest {
  /**
   * E-mail address of the person; no other person may have it, regardless of letter case.
   */
  email?: string | undefined;
  /**
   * Your name. Null removes it.
   */
  name?: string | null | undefined;
}

/**
 * What to change of the person. Fields that are absent keep their values.
 */
export interface UpdatePersonRequest {
  /**
   * E-mail address of the person; no other person may have it, regardless of letter case.
   */
  email?: string | undefined;
  /**
   * Name of the person. Null removes it.
   */
  name?: string | null | undefined;
  /**
   * What the person may do. `viewer` reads, `operator` also handles members and questions, `developer` changes everything below integrations, `manager` may do everything of the owner.
   */
  role?: 'viewer' | 'operator' | 'developer' | 'manager' | undefined;
}

/**
 * A change that a person, a key or a client token made.
 */
export interface AuditEvent {
  /**
   * Identifier of the event.
   */
  eventId: string;
  /**
   * When the change was made.
   */
  at: string;
  /**
   * Who made the change.
   */
  actor: {
    /**
     * Who sent the request.
     */
    kind: 'person' | 'key' | 'client_token';
    /**
     * Identifier of the person or key, or the member of a client token. Null for `RUNWIRE_API_KEY`.
     */
    id: string | null;
    /**
     * Name at that time; of a person without a name the e-mail address.
     */
    name: string | null;
  };
  /**
   * Operation id of the request.
   */
  operation: string;
  /**
   * What was changed: `<kind>:<id>`, such as `key:key_1` or `member:user-42`.
   */
  target: string;
  /**
   * The integration of the target. Null if it has none.
   */
  apiIntegrationId: string | null;
  /**
   * The changed fields, without secrets and texts of messages. Null if there is nothing to show.
   */
  changes: {
    /**
     * One changed field.
     */
    [k: string]: {
      /**
       * Value before the change. Null if there was none.
       */
      before: {
        [k: string]: unknown;
      };
      /**
       * Value after the change. Null if there is none.
       */
      after: {
        [k: string]: unknown;
      };
    };
  } | null;
  /**
   * `X-Request-Id` of the request.
   */
  requestId: string | null;
  /**
   * Address of the client. Null if it is not known, and after an erasure.
   */
  address: string | null;
}

/**
 * A page of a list of `AuditEvent`.
 */
export interface AuditEventList {
  /**
   * The items of this page, in order.
   */
  items: AuditEvent[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A group of agents that work together.
 */
export interface Agency {
  /**
   * Identifier of the agency.
   */
  agency: string;
  /**
   * Name of the agency, for people.
   */
  name: string | null;
  /**
   * Entry point that is used if a request names none.
   */
  defaultAgent: string | null;
  /**
   * Names of the agents that a request may name in `agent`.
   */
  entryPoints: string[];
  /**
   * All agents of the agency.
   *
   * Items: An agent.
   */
  agents: {
    /**
     * Name of the agent.
     */
    name: string;
    /**
     * What the agent does. Null if the definition does not say.
     */
    description: string | null;
    /**
     * Model of the agent, as `provider/model`.
     */
    model: string | null;
    /**
     * Models that are asked if `model` cannot answer, in order.
     */
    fallback: string[];
    /**
     * Names of the tools of the agent.
     */
    tools: string[];
    /**
     * Names of the tools whose calls a person must approve.
     */
    approval: string[];
    /**
     * Names of the tools whose arguments an approval may change.
     */
    editable: string[];
    /**
     * Names of the tools that an approval may allow for the chat.
     */
    remember: string[];
    /**
     * Names of the tools that `isEnabled` can hide from the model in a step.
     */
    conditional: string[];
    /**
     * True if the agent may run commands.
     */
    sandbox: boolean;
    /**
     * Messages that a user may begin with.
     */
    starters: string[];
  }[];
  /**
   * Which agents hand over or delegate to which.
   *
   * Items: A way from one agent to another.
   */
  flows: {
    /**
     * The agent that hands over or delegates.
     */
    from: string;
    /**
     * The agent that continues or is asked.
     */
    to: string;
    /**
     * `handoff`: `to` continues the run. `delegate`: `to` answers, and `from` continues.
     */
    kind: 'handoff' | 'delegate';
    /**
     * `chat`: later runs of the chat begin with `to`. Null if a hand-off lasts to the end of its run.
     */
    lasts: 'chat' | null;
    /**
     * True if `isEnabled` can hide it from the model of `from` in a step.
     */
    conditional: boolean;
  }[];
  /**
   * The form in which the agency is written. Null if it could not be loaded.
   */
  source: 'bundled' | 'yaml' | 'markdown' | 'typescript' | null;
  /**
   * Hash of everything that the agency loads. Null if it could not be loaded.
   */
  version: string | null;
  /**
   * What happens to the oldest turns of a chat that is too long for the model. Null if the agency could not be loaded.
   */
  longChats: 'summarize' | 'leave_out' | null;
  /**
   * Model that sums up the oldest turns. Null if the model of the agent that begins the run does.
   */
  summaryModel: string | null;
  /**
   * When this version was loaded. Null if the agency could not be loaded.
   */
  loadedAt: string | null;
  /**
   * The MCP servers of the agency, as this node sees them.
   *
   * Items: An MCP server. If each run has its own session, the session of the newest run.
   */
  mcp: {
    /**
     * Name of the server in the agency.
     */
    server: string;
    /**
     * `failed`: the last try to connect failed, and the next one follows.
     */
    state: 'connected' | 'connecting' | 'failed';
    /**
     * How many tools of the server agents get. The last known tools stay.
     */
    tools: number;
    /**
     * Why the server could not be connected and what to do, or which of its tools are left out. Null if nothing is wrong.
     */
    error: string | null;
    /**
     * Since when the server has this state.
     */
    since: string;
    /**
     * The last line that the program of the server wrote to stderr, without the secrets of its settings. It can quote runs, so only the administrator gets it. Null for all others, for servers with a URL, and if nothing was written.
     */
    lastOutput: string | null;
  }[];
  /**
   * The process that runs the agency's code, as this node sees it.
   */
  process: {
    /**
     * `starting`: it is started again after a fault, and calls wait for it. `failed`: it ended several times, and the next start follows after a pause. `none`: the agency has no code, or runs in the process of the server.
     */
    state: 'running' | 'starting' | 'failed' | 'none';
    /**
     * Number of the process in its system. Null if it does not run.
     */
    pid: number | null;
    /**
     * Heap and buffers of the process. Null if it does not run or was not measured yet.
     */
    memoryBytes: number | null;
    /**
     * How often the process was started again after a fault since this version was loaded.
     */
    restarts: number;
    /**
     * Why the process ended last. Null if it has not ended since this version was loaded.
     */
    lastFault: {
      /**
       * What happened. The text of an error is shown to the owner of the run only.
       */
      message: string;
      /**
       * The tool whose code caused it. Null if that is not known, or if it was no tool.
       */
      tool: string | null;
      /**
       * The call of the tool. Null if it is not known, or of another owner.
       */
      callId: string | null;
      /**
       * The run of the call. Null if it is not known, or of another owner.
       */
      runId: string | null;
      /**
       * When the process ended.
       */
      at: string;
    } | null;
  };
  /**
   * Why the files of the agency cannot be loaded as they are now; null if they can. The other fields show the last version that could be loaded, which completions use. If there is none, completions get 503 `agency_unavailable`.
   */
  error: {
    /**
     * The first fault, in one line.
     */
    message: string;
    /**
     * Everything that is wrong.
     *
     * Items: A fault.
     */
    faults: {
      /**
       * The file, by its path from the folder of the agency.
       */
      file: string;
      /**
       * The line, from 1. Null if the fault is not in a text.
       */
      line: number | null;
      /**
       * The column, from 1. Null if the fault is not in a text.
       */
      column: number | null;
      /**
       * What is wrong, and what to write.
       */
      message: string;
    }[];
  } | null;
}

/**
 * What the models of an agency read, as its files have it: placeholders are not filled in.
 */
export interface AgencyDefinition {
  /**
   * Identifier of the agency.
   */
  agency: string;
  /**
   * Hash of everything that the agency loads. Null if it could not be loaded.
   */
  version: string | null;
  /**
   * The instructions that all agents get. May be empty.
   */
  sharedInstructions: string;
  /**
   * The guardrails that are asked for all agents, in their order.
   *
   * Items: A function of the agency that checks what agents get, write or do.
   */
  guardrails: {
    /**
     * Name of the guardrail.
     */
    name: string;
    /**
     * What it checks.
     */
    on: 'input' | 'output' | 'toolCall' | 'toolResult';
  }[];
  /**
   * All agents of the agency. Empty if it could not be loaded.
   *
   * Items: What an agent tells its model.
   */
  agents: {
    /**
     * Name of the agent.
     */
    name: string;
    /**
     * The own instructions of the agent. Null if a function writes them.
     */
    instructions: string | null;
    /**
     * Its tools, besides flows. This node lists the tools of the MCP servers that it has connected.
     *
     * Items: A tool that the model of an agent may call.
     */
    tools: {
      /**
       * Name of the tool, as the model calls it.
       */
      name: string;
      /**
       * What the model reads about the tool.
       */
      description: string;
      /**
       * JSON Schema of the arguments.
       */
      inputSchema: {
        [k: string]: unknown;
      };
      /**
       * The MCP server that has the tool. Null if it is a tool of the agency or a built-in one.
       */
      server: string | null;
    }[];
    /**
     * JSON Schema of its answer. Null if its answers are free text.
     */
    output: {
      [k: string]: unknown;
    } | null;
    /**
     * Its own guardrails, which are asked after those of the agency.
     *
     * Items: A function of the agency that checks what agents get, write or do.
     */
    guardrails: {
      /**
       * Name of the guardrail.
       */
      name: string;
      /**
       * What it checks.
       */
      on: 'input' | 'output' | 'toolCall' | 'toolResult';
    }[];
  }[];
}

/**
 * A page of a list of `Agency`.
 */
export interface AgencyList {
  /**
   * The items of this page, in order.
   */
  items: Agency[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The process is alive.
 */
export interface Health {
  /**
   * `ok`.
   */
  status: 'ok';
}

/**
 * The node accepts requests.
 */
export interface Readiness {
  /**
   * `ok`.
   */
  status: 'ok';
  /**
   * The database of this node.
   */
  store: 'sqlite' | 'postgres';
  /**
   * The sandbox in which this node runs commands.
   */
  sandbox: {
    /**
     * `off` if this node runs no commands.
     */
    kind: 'bubblewrap' | 'just-bash' | 'exec' | 'off';
    /**
     * Only with `bubblewrap`: true if commands have their own `/proc`.
     */
    proc?: boolean;
    /**
     * Only with `bubblewrap`: `cgroup` if the kernel limits the memory of a command, `watch` if the node does.
     */
    memory?: 'cgroup' | 'watch';
  };
}

/**
 * A node of this installation.
 */
export interface ServiceNode {
  /**
   * Identifier of the node; a node that was fenced registers with a new one.
   */
  nodeId: string;
  /**
   * Identifier of the process; every start has a new one.
   */
  boot: string;
  /**
   * `draining` while it shuts down, `dead` if it has stopped or was fenced.
   */
  state: 'alive' | 'draining' | 'dead';
  /**
   * True for the node that answers this request.
   */
  self: boolean;
  /**
   * Version of the server.
   */
  version: string;
  /**
   * Name of its machine. Null if an earlier version registered the node.
   */
  host: string | null;
  /**
   * The address at which it listens, such as `10.0.0.11:8787`. Null while it starts, and for an earlier version.
   */
  address: string | null;
  /**
   * When the node was started.
   */
  startedAt: string;
  /**
   * When the node last sent a heartbeat. Null if it has sent none.
   */
  lastSeenAt: string | null;
  /**
   * Number of its unfinished runs.
   */
  activeRuns: number;
  /**
   * Figures of the node at its last heartbeat. Null before its second heartbeat, and for an earlier version.
   */
  stats: {
    /**
     * Number of open streams of runs.
     */
    openStreams: number;
    /**
     * Completion requests since the process was started.
     */
    admissions: {
      /**
       * Requests that started a run.
       */
      admitted: number;
      /**
       * Requests that were answered with the run of an earlier request.
       */
      replayed: number;
      /**
       * Refused requests by the `code` of the error. Codes without requests are left out.
       */
      refused: {
        /**
         * Number of requests.
         */
        [k: string]: number;
      };
    };
    /**
     * Longest time from an event until it was stored, within the last 10 to 20 s. Readers do not wait for this.
     */
    eventLagMs: number;
    /**
     * Number of transactions that wait for the writer.
     */
    writerQueue: number;
  } | null;
}

/**
 * A page of a list of `ServiceNode`.
 */
export interface ServiceNodeList {
  /**
   * The items of this page, in order.
   */
  items: ServiceNode[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * The model was called.
 */
export interface ResponseCreated {
  /**
   * Discriminator.
   */
  type: 'response.created';
  /**
   * One answer of the model.
   */
  response: {
    /**
     * Identifier of the answer.
     */
    id: string;
    /**
     * Discriminator.
     */
    object: 'response';
    /**
     * State of the answer.
     */
    status: 'in_progress' | 'completed';
    /**
     * Model, as `provider/model`.
     */
    model: string;
    /**
     * Items of the answer.
     *
     * Items: An item of the answer.
     */
    output: (
      | {
          /**
           * Discriminator.
           */
          type: 'message';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * `assistant`.
           */
          role: 'assistant';
          /**
           * State of the item.
           */
          status: 'in_progress' | 'completed' | 'incomplete';
          /**
           * The text; empty while the item is in progress.
           *
           * Items: A part of a message.
           */
          content: {
            /**
             * Discriminator.
             */
            type: 'output_text';
            /**
             * Text of the part.
             */
            text: string;
            /**
             * Always empty.
             */
            annotations: {
              [k: string]: unknown;
            }[];
          }[];
        }
      | {
          /**
           * Discriminator.
           */
          type: 'reasoning';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * State of the item.
           */
          status?: 'in_progress' | 'completed' | 'incomplete';
          /**
           * Summary of the reasoning.
           *
           * Items: A part of the summary.
           */
          summary: {
            /**
             * Discriminator.
             */
            type: 'summary_text';
            /**
             * Text of the summary.
             */
            text: string;
          }[];
        }
      | {
          /**
           * Discriminator.
           */
          type: 'function_call';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * Identifier of the call; its output has the same.
           */
          call_id: string;
          /**
           * Name of the tool.
           */
          name: string;
          /**
           * Arguments as JSON text.
           */
          arguments: string;
          /**
           * State of the item.
           */
          status: 'in_progress' | 'completed' | 'incomplete';
        }
    )[];
    /**
     * Tokens of this call. Null while it is in progress.
     */
    usage: {
      /**
       * Tokens of the prompt.
       */
      input_tokens: number;
      /**
       * Part of these tokens.
       */
      input_tokens_details: {
        /**
         * Tokens that the provider read from its cache.
         */
        cached_tokens: number;
      };
      /**
       * Tokens of the answer.
       */
      output_tokens: number;
      /**
       * Part of these tokens.
       */
      output_tokens_details: {
        /**
         * Tokens that the model used for reasoning.
         */
        reasoning_tokens: number;
      };
      /**
       * `input_tokens` + `output_tokens`.
       */
      total_tokens: number;
    } | null;
  };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * An item begins.
 */
export interface ResponseOutputItemAdded {
  /**
   * Discriminator.
   */
  type: 'response.output_item.added';
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * An item of the answer.
   */
  item:
    | {
        /**
         * Discriminator.
         */
        type: 'message';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * `assistant`.
         */
        role: 'assistant';
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
        /**
         * The text; empty while the item is in progress.
         *
         * Items: A part of a message.
         */
        content: {
          /**
           * Discriminator.
           */
          type: 'output_text';
          /**
           * Text of the part.
           */
          text: string;
          /**
           * Always empty.
           */
          annotations: {
            [k: string]: unknown;
          }[];
        }[];
      }
    | {
        /**
         * Discriminator.
         */
        type: 'reasoning';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * State of the item.
         */
        status?: 'in_progress' | 'completed' | 'incomplete';
        /**
         * Summary of the reasoning.
         *
         * Items: A part of the summary.
         */
        summary: {
          /**
           * Discriminator.
           */
          type: 'summary_text';
          /**
           * Text of the summary.
           */
          text: string;
        }[];
      }
    | {
        /**
         * Discriminator.
         */
        type: 'function_call';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * Identifier of the call; its output has the same.
         */
        call_id: string;
        /**
         * Name of the tool.
         */
        name: string;
        /**
         * Arguments as JSON text.
         */
        arguments: string;
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
      };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * A part of a message begins.
 */
export interface ResponseContentPartAdded {
  /**
   * Discriminator.
   */
  type: 'response.content_part.added';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the item.
   */
  content_index: number;
  /**
   * A part of a message.
   */
  part: {
    /**
     * Discriminator.
     */
    type: 'output_text';
    /**
     * Text of the part.
     */
    text: string;
    /**
     * Always empty.
     */
    annotations: {
      [k: string]: unknown;
    }[];
  };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * More text of a message.
 */
export interface ResponseOutputTextDelta {
  /**
   * Discriminator.
   */
  type: 'response.output_text.delta';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the item.
   */
  content_index: number;
  /**
   * The text that follows.
   */
  delta: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * A message's text is complete.
 */
export interface ResponseOutputTextDone {
  /**
   * Discriminator.
   */
  type: 'response.output_text.done';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the item.
   */
  content_index: number;
  /**
   * The complete text.
   */
  text: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * A part of a message is complete.
 */
export interface ResponseContentPartDone {
  /**
   * Discriminator.
   */
  type: 'response.content_part.done';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the item.
   */
  content_index: number;
  /**
   * A part of a message.
   */
  part: {
    /**
     * Discriminator.
     */
    type: 'output_text';
    /**
     * Text of the part.
     */
    text: string;
    /**
     * Always empty.
     */
    annotations: {
      [k: string]: unknown;
    }[];
  };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * An item is complete.
 */
export interface ResponseOutputItemDone {
  /**
   * Discriminator.
   */
  type: 'response.output_item.done';
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * An item of the answer.
   */
  item:
    | {
        /**
         * Discriminator.
         */
        type: 'message';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * `assistant`.
         */
        role: 'assistant';
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
        /**
         * The text; empty while the item is in progress.
         *
         * Items: A part of a message.
         */
        content: {
          /**
           * Discriminator.
           */
          type: 'output_text';
          /**
           * Text of the part.
           */
          text: string;
          /**
           * Always empty.
           */
          annotations: {
            [k: string]: unknown;
          }[];
        }[];
      }
    | {
        /**
         * Discriminator.
         */
        type: 'reasoning';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * State of the item.
         */
        status?: 'in_progress' | 'completed' | 'incomplete';
        /**
         * Summary of the reasoning.
         *
         * Items: A part of the summary.
         */
        summary: {
          /**
           * Discriminator.
           */
          type: 'summary_text';
          /**
           * Text of the summary.
           */
          text: string;
        }[];
      }
    | {
        /**
         * Discriminator.
         */
        type: 'function_call';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * Identifier of the call; its output has the same.
         */
        call_id: string;
        /**
         * Name of the tool.
         */
        name: string;
        /**
         * Arguments as JSON text.
         */
        arguments: string;
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
      };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * More of the arguments of a call.
 */
export interface ResponseFunctionCallArgumentsDelta {
  /**
   * Discriminator.
   */
  type: 'response.function_call_arguments.delta';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * The text that follows.
   */
  delta: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * The arguments of a call are complete.
 */
export interface ResponseFunctionCallArgumentsDone {
  /**
   * Discriminator.
   */
  type: 'response.function_call_arguments.done';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Name of the tool.
   */
  name: string;
  /**
   * Arguments as JSON text.
   */
  arguments: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * More of a summary of reasoning.
 */
export interface ResponseReasoningSummaryTextDelta {
  /**
   * Discriminator.
   */
  type: 'response.reasoning_summary_text.delta';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the summary.
   */
  summary_index: number;
  /**
   * The text that follows.
   */
  delta: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * A summary of reasoning is complete.
 */
export interface ResponseReasoningSummaryTextDone {
  /**
   * Discriminator.
   */
  type: 'response.reasoning_summary_text.done';
  /**
   * Identifier of the item.
   */
  item_id: string;
  /**
   * Position of the item in the output.
   */
  output_index: number;
  /**
   * Position of the part in the summary.
   */
  summary_index: number;
  /**
   * The complete text.
   */
  text: string;
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * The answer of the model is complete.
 */
export interface ResponseCompleted {
  /**
   * Discriminator.
   */
  type: 'response.completed';
  /**
   * One answer of the model.
   */
  response: {
    /**
     * Identifier of the answer.
     */
    id: string;
    /**
     * Discriminator.
     */
    object: 'response';
    /**
     * State of the answer.
     */
    status: 'in_progress' | 'completed';
    /**
     * Model, as `provider/model`.
     */
    model: string;
    /**
     * Items of the answer.
     *
     * Items: An item of the answer.
     */
    output: (
      | {
          /**
           * Discriminator.
           */
          type: 'message';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * `assistant`.
           */
          role: 'assistant';
          /**
           * State of the item.
           */
          status: 'in_progress' | 'completed' | 'incomplete';
          /**
           * The text; empty while the item is in progress.
           *
           * Items: A part of a message.
           */
          content: {
            /**
             * Discriminator.
             */
            type: 'output_text';
            /**
             * Text of the part.
             */
            text: string;
            /**
             * Always empty.
             */
            annotations: {
              [k: string]: unknown;
            }[];
          }[];
        }
      | {
          /**
           * Discriminator.
           */
          type: 'reasoning';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * State of the item.
           */
          status?: 'in_progress' | 'completed' | 'incomplete';
          /**
           * Summary of the reasoning.
           *
           * Items: A part of the summary.
           */
          summary: {
            /**
             * Discriminator.
             */
            type: 'summary_text';
            /**
             * Text of the summary.
             */
            text: string;
          }[];
        }
      | {
          /**
           * Discriminator.
           */
          type: 'function_call';
          /**
           * Identifier of the item.
           */
          id: string;
          /**
           * Identifier of the call; its output has the same.
           */
          call_id: string;
          /**
           * Name of the tool.
           */
          name: string;
          /**
           * Arguments as JSON text.
           */
          arguments: string;
          /**
           * State of the item.
           */
          status: 'in_progress' | 'completed' | 'incomplete';
        }
    )[];
    /**
     * Tokens of this call. Null while it is in progress.
     */
    usage: {
      /**
       * Tokens of the prompt.
       */
      input_tokens: number;
      /**
       * Part of these tokens.
       */
      input_tokens_details: {
        /**
         * Tokens that the provider read from its cache.
         */
        cached_tokens: number;
      };
      /**
       * Tokens of the answer.
       */
      output_tokens: number;
      /**
       * Part of these tokens.
       */
      output_tokens_details: {
        /**
         * Tokens that the model used for reasoning.
         */
        reasoning_tokens: number;
      };
      /**
       * `input_tokens` + `output_tokens`.
       */
      total_tokens: number;
    } | null;
  };
  /**
   * The event's id.
   */
  sequence_number: number;
}

/**
 * An event without a name: after a hand-off another agent continues.
 */
export interface StreamAgentUpdated {
  /**
   * The event.
   */
  data: {
    /**
     * Discriminator.
     */
    type: 'agent_updated_stream_event';
    /**
     * The agent that speaks.
     */
    agent: string;
    /**
     * The agent that asked it. Null if the user asked, also after a hand-off.
     */
    callerAgent: string | null;
    /**
     * Id of the `send_message` call that asked the agent. Absent if the agent answers the user.
     */
    parent_run_id?: string;
    /**
     * The agent that continues.
     */
    new_agent: {
      /**
       * Its name.
       */
      name: string;
    };
  };
}

/**
 * `event: end`, the last event of every run.
 */
export type StreamEnd = '[DONE]';

/**
 * An event without a name: the run failed. `messages` and `end` follow.
 */
export interface StreamError {
  /**
   * What was wrong and what to do, for a person.
   */
  error: string;
  /**
   * Machine-readable code.
   */
  code: string;
  /**
   * Identifier of the run.
   */
  run_id: string;
}

/**
 * `event: messages`, sent after the run's end is stored.
 */
export interface StreamMessages {
  /**
   * Identifier of the run.
   */
  run_id: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * End of the run.
   */
  status: 'completed' | 'failed' | 'cancelled';
  /**
   * True if the run was cancelled, otherwise absent.
   */
  cancelled?: boolean;
  /**
   * Everything that the run added to the chat, in order, as items of the OpenAI Responses API.
   *
   * Items: The message of the user, or an item of the answer with `agent`, `callerAgent` and `timestamp`.
   */
  new_messages: (
    | {
        /**
         * Discriminator.
         */
        type: 'message';
        /**
         * `user`.
         */
        role: 'user';
        /**
         * The user message.
         */
        content: string;
        /**
         * The agent that speaks.
         */
        agent: string;
        /**
         * The agent that asked it. Null if the user asked, also after a hand-off.
         */
        callerAgent: string | null;
        /**
         * Microseconds since 1970-01-01 UTC.
         */
        timestamp: number;
      }
    | {
        /**
         * Discriminator.
         */
        type: 'message';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * `assistant`.
         */
        role: 'assistant';
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
        /**
         * The text; empty while the item is in progress.
         *
         * Items: A part of a message.
         */
        content: {
          /**
           * Discriminator.
           */
          type: 'output_text';
          /**
           * Text of the part.
           */
          text: string;
          /**
           * Always empty.
           */
          annotations: {
            [k: string]: unknown;
          }[];
        }[];
        /**
         * The agent that speaks.
         */
        agent: string;
        /**
         * The agent that asked it. Null if the user asked, also after a hand-off.
         */
        callerAgent: string | null;
        /**
         * Microseconds since 1970-01-01 UTC.
         */
        timestamp: number;
      }
    | {
        /**
         * Discriminator.
         */
        type: 'reasoning';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * State of the item.
         */
        status?: 'in_progress' | 'completed' | 'incomplete';
        /**
         * Summary of the reasoning.
         *
         * Items: A part of the summary.
         */
        summary: {
          /**
           * Discriminator.
           */
          type: 'summary_text';
          /**
           * Text of the summary.
           */
          text: string;
        }[];
        /**
         * The agent that speaks.
         */
        agent: string;
        /**
         * The agent that asked it. Null if the user asked, also after a hand-off.
         */
        callerAgent: string | null;
        /**
         * Microseconds since 1970-01-01 UTC.
         */
        timestamp: number;
      }
    | {
        /**
         * Discriminator.
         */
        type: 'function_call';
        /**
         * Identifier of the item.
         */
        id: string;
        /**
         * Identifier of the call; its output has the same.
         */
        call_id: string;
        /**
         * Name of the tool.
         */
        name: string;
        /**
         * Arguments as JSON text.
         */
        arguments: string;
        /**
         * State of the item.
         */
        status: 'in_progress' | 'completed' | 'incomplete';
        /**
         * The agent that speaks.
         */
        agent: string;
        /**
         * The agent that asked it. Null if the user asked, also after a hand-off.
         */
        callerAgent: string | null;
        /**
         * Microseconds since 1970-01-01 UTC.
         */
        timestamp: number;
      }
    | {
        /**
         * Discriminator.
         */
        type: 'function_call_output';
        /**
         * Identifier of the call.
         */
        call_id: string;
        /**
         * Output of the tool.
         */
        output: string;
        /**
         * True if the call failed. Absent otherwise.
         */
        failed?: boolean;
        /**
         * The images that the tool returned. Absent if there are none.
         */
        attachments?: ToolAttachment[];
        /**
         * The agent that speaks.
         */
        agent: string;
        /**
         * The agent that asked it. Null if the user asked, also after a hand-off.
         */
        callerAgent: string | null;
        /**
         * Microseconds since 1970-01-01 UTC.
         */
        timestamp: number;
      }
  )[];
  /**
   * Value of the answer if the agent has an output schema, otherwise null.
   */
  output: {
    [k: string]: unknown;
  };
  /**
   * The questions with which the run ends. Empty if there are none.
   */
  pending: StreamQuestion[];
  usage: Usage;
  /**
   * The files that the run changed, each path once, as the run left it.
   */
  files: StreamChangedFile[];
  /**
   * Why the run failed. Null if it did not fail.
   */
  error: {
    /**
     * Machine-readable code.
     */
    code: string;
    /**
     * What was wrong and what to do, for a person.
     */
    message: string;
  } | null;
}

/**
 * `event: meta`, the first event of every run.
 */
export interface StreamMeta {
  /**
   * Identifier of the run.
   */
  run_id: string;
  /**
   * Identifier of the chat.
   */
  chatId: string;
  /**
   * Alias of the chat. Null if it has none.
   */
  aliasChatId: string | null;
  /**
   * `usageRequestId` of the request. Null if it had none.
   */
  usageRequestId: string | null;
  /**
   * The member of the run. Null if the request named none.
   */
  consumerId: string | null;
  /**
   * The agent that the run was started at.
   */
  agent: string;
  /**
   * When the run was admitted.
   */
  createdAt: string;
  /**
   * Unknown fields of the request that the server ignored, at most 20. Absent if there are none.
   */
  ignored_fields?: string[];
}

/**
 * An event without a name: output of the model.
 */
export interface StreamRawResponse {
  /**
   * The event.
   */
  data: {
    /**
     * Discriminator.
     */
    type: 'raw_response_event';
    /**
     * The agent that speaks.
     */
    agent: string;
    /**
     * The agent that asked it. Null if the user asked, also after a hand-off.
     */
    callerAgent: string | null;
    /**
     * Id of the `send_message` call that asked the agent. Absent if the agent answers the user.
     */
    parent_run_id?: string;
    /**
     * An event of the OpenAI Responses API; `type` tells which one.
     */
    data:
      | ResponseCreated
      | ResponseOutputItemAdded
      | ResponseContentPartAdded
      | ResponseOutputTextDelta
      | ResponseOutputTextDone
      | ResponseContentPartDone
      | ResponseOutputItemDone
      | ResponseFunctionCallArgumentsDelta
      | ResponseFunctionCallArgumentsDone
      | ResponseReasoningSummaryTextDelta
      | ResponseReasoningSummaryTextDone
      | ResponseCompleted;
  };
}

/**
 * `event: resumed`, the first event after a crash or a hand-over.
 */
export interface StreamResumed {
  /**
   * Identifier of the run.
   */
  run_id: string;
  /**
   * Number of the attempt that begins.
   */
  attempt: number;
  /**
   * Events of earlier attempts with a higher id than this are void: discard their text.
   */
  discard_after: number;
  /**
   * Ids of items of delegated agents up to `discard_after` that are never finished. Absent if there are none.
   */
  void_items?: string[];
}

/**
 * An event without a name: an item is complete, or a tool reports its progress.
 */
export interface StreamRunItem {
  /**
   * The event.
   */
  data: {
    /**
     * Discriminator.
     */
    type: 'run_item_stream_event';
    /**
     * The agent that speaks.
     */
    agent: string;
    /**
     * The agent that asked it. Null if the user asked, also after a hand-off.
     */
    callerAgent: string | null;
    /**
     * Id of the `send_message` call that asked the agent. Absent if the agent answers the user.
     */
    parent_run_id?: string;
    /**
     * What happened. `history_left_out`: the oldest turns do not fit into the window of the model and were left out. `history_summarized`: a model summed up the oldest `raw_item.turns` turns, and the prompt has this summary instead of them. `handoff_requested` and `handoff_occured`: another agent continues. `tool_approval_requested` and `client_tool_requested`: a call needs an answer. `tool_progress`: a tool reports how far its call is. `mcp_server_failed`: the run cannot use an MCP server of the agent now. `file_changed`: a tool changed a file; `raw_item` has the fields of an item of `messages.files`, and `call_id`. Ignore names that you do not know.
     */
    name:
      | 'tool_called'
      | 'tool_output'
      | 'message_output_created'
      | 'reasoning_item_created'
      | 'handoff_requested'
      | 'handoff_occured'
      | 'tool_approval_requested'
      | 'client_tool_requested'
      | 'tool_progress'
      | 'mcp_server_failed'
      | 'history_left_out'
      | 'history_summarized'
      | 'file_changed';
    /**
     * The item.
     */
    item: {
      /**
       * Kind of the item, such as `tool_call_item`.
       */
      type: string;
      /**
       * Identifier of the question, for an item that asks.
       */
      question_id?: string;
      /**
       * The item as in `new_messages`. For `tool_progress`: `call_id`, and `text` of at most 4 000 characters. For `mcp_server_failed`: `agency`, `server` and `error`.
       */
      raw_item: {
        [k: string]: unknown;
      };
      /**
       * Output of the tool, for `tool_output`.
       */
      output?: string;
      /**
       * True if the call failed, for `tool_output`. Absent otherwise.
       */
      failed?: boolean;
      /**
       * The images that the tool returned, for `tool_output`. Absent if there are none.
       */
      attachments?: ToolAttachment[];
      /**
       * The agent that handed over, for `handoff_occured`.
       */
      source_agent?: string;
      /**
       * The agent that continues, for `handoff_occured`.
       */
      target_agent?: string;
    };
  };
}

/**
 * An image that a tool returned.
 */
export interface ToolAttachment {
  /**
   * Identifier of the attachment within its run.
   */
  attachmentId: string;
  /**
   * Media type, detected from the bytes.
   */
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /**
   * Size in bytes.
   */
  size: number;
}

/**
 * A file or an image of a message, discriminated by `type`.
 */
export type Attachment = FileAttachment | ImageAttachment;

/**
 * A file by URL.
 */
export interface FileAttachment {
  /**
   * Discriminator.
   */
  type: 'input_file';
  /**
   * Publicly accessible HTTPS URL of the file, at most 8192 characters. The server fetches it when the run starts. Messages that are read back contain it without query and fragment, which is also the key in `attachmentUrlRefreshes`.
   */
  file_url: string;
  /**
   * File name without a directory path: one segment of at most 255 bytes, without control characters. If it is omitted, the last segment of the URL is used.
   */
  filename?: string | undefined;
}

/**
 * An image by URL or inline.
 */
export interface ImageAttachment {
  /**
   * Discriminator.
   */
  type: 'input_image';
  /**
   * Publicly accessible HTTPS image URL, or an inline image data URL: `data:image/png;base64,…`, strict base64 of a PNG, JPEG, GIF or WebP image. Messages that are read back contain a URL without query and fragment, and an inline image as a data URL without data: `data:image/png;sha256=…;bytes=…,`.
   */
  image_url: string;
  /**
   * Resolution in which the model sees the image.
   */
  detail?: 'auto' | 'low' | 'high' | undefined;
}

/**
 * A text or calls from the assistant.
 */
export interface AssistantHistoryItem {
  /**
   * Discriminator.
   */
  role: 'assistant';
  /**
   * What the assistant answered.
   */
  content?: string | undefined;
  /**
   * Tool calls.
   *
   * @minItems 1
   * @maxItems 128
   */
  calls?: HistoryCall[] | undefined;
  /**
   * The agent that answered.
   */
  agent?: string | undefined;
}

/**
 * A call that an agent made.
 */
export interface HistoryCall {
  /**
   * Names the call. Its output has the same id.
   */
  callId: string;
  /**
   * The called tool. The agent need not have it.
   */
  tool: string;
  /**
   * What the tool was called with.
   */
  arguments: {
    [k: string]: unknown;
  };
}

/**
 * A part from an earlier conversation, discriminated by `role`.
 */
export type HistoryItem = UserHistoryItem | AssistantHistoryItem | ToolHistoryItem;

/**
 * What a call returned.
 */
export interface ToolHistoryItem {
  /**
   * Discriminator.
   */
  role: 'tool';
  /**
   * Names the call. Its output has the same id.
   */
  callId: string;
  /**
   * What the tool returned.
   */
  output: string;
  /**
   * True if the call failed.
   */
  failed?: boolean | undefined;
}

/**
 * A message from the user. It begins a turn.
 */
export interface UserHistoryItem {
  /**
   * Discriminator.
   */
  role: 'user';
  /**
   * What the user wrote.
   */
  content: string;
  /**
   * Attachments, at most 20 in all items together.
   *
   * @maxItems 20
   */
  attachments?: Attachment[] | undefined;
}

/**
 * The endpoint to make.
 */
export interface CreateWebhookRequest {
  /**
   * Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is posted, and deliveries are `skipped`.
   */
  url: string | null;
  /**
   * The event types that are sent. The default is `["*"]`, all.
   *
   * @minItems 1
   *
   * Items: An event type, or `*` for all.
   */
  events?: (
    | '*'
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test'
  )[];
  /**
   * Note for people.
   */
  description?: string | null | undefined;
}

/**
 * The stored events to send once more.
 */
export interface ReplayWebhookRequest {
  /**
   * Events at this time or later.
   */
  from: string;
  /**
   * Events before this time.
   */
  to: string;
  /**
   * Only events with these types. The default is all types that the endpoint gets.
   *
   * @minItems 1
   *
   * Items: An event type.
   */
  types?: (
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test'
  )[];
}

/**
 * The fields to change.
 */
export interface UpdateWebhookRequest {
  /**
   * Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is posted, and deliveries are `skipped`.
   */
  url?: string | null | undefined;
  /**
   * The event types that are sent. The default is `["*"]`, all.
   *
   * @minItems 1
   *
   * Items: An event type, or `*` for all.
   */
  events?: (
    | '*'
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test'
  )[];
  /**
   * Note for people.
   */
  description?: string | null | undefined;
  /**
   * False pauses the endpoint. True ends a pause or a disablement.
   */
  active?: boolean | undefined;
}

/**
 * An edit or a start broke the integration's agency. Sent once for each agency and fault.
 */
export interface WebhookAgencyEvent {
  /**
   * The event's type.
   */
  type: 'agency.broken';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The agency's name.
     */
    agency: string;
    /**
     * What is wrong with the agency.
     */
    error: {
      /**
       * The first fault, in one line.
       */
      message: string;
      /**
       * At most ten faults.
       *
       * Items: A fault.
       */
      faults: {
        /**
         * The file, by its path from the agency's folder.
         */
        file: string;
        /**
         * The line, from 1. Null if the fault is not in a text.
         */
        line: number | null;
        /**
         * The column, from 1. Null if the fault is not in a text.
         */
        column: number | null;
        /**
         * What is wrong, and what to write.
         */
        message: string;
      }[];
    };
  };
}

/**
 * A member has used up its allowance. Sent once for each member and period.
 */
export interface WebhookAllowanceEvent {
  /**
   * The event's type.
   */
  type: 'member.allowance_exhausted';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The member.
     */
    consumerId: string;
    allowance: Allowance;
  };
}

/**
 * An event on its way to an endpoint.
 */
export interface WebhookDelivery {
  /**
   * The delivery's identifier.
   */
  deliveryId: string;
  /**
   * The event's identifier: the header `webhook-id` in every attempt.
   */
  eventId: string;
  /**
   * The event's type.
   */
  type:
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test';
  /**
   * The run that the event is about. Null if it is not about a run.
   */
  runId: string | null;
  /**
   * `pending` until an attempt succeeds. `failed` after the last attempt, `skipped` if the endpoint was paused or disabled.
   */
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  /**
   * Attempts so far.
   */
  attempts: number;
  /**
   * When the next attempt is due. Null if there is none.
   */
  nextAttemptAt: string | null;
  /**
   * HTTP status that was answered last. Null if there was none.
   */
  lastStatus: number | null;
  /**
   * Why the last attempt failed. Null if it did not fail.
   */
  lastError: string | null;
  /**
   * When the delivery was made.
   */
  createdAt: string;
  /**
   * When an attempt succeeded. Null if none did.
   */
  deliveredAt: string | null;
}

/**
 * A page of a list of `WebhookDelivery`.
 */
export interface WebhookDeliveryList {
  /**
   * The items of this page, in order.
   */
  items: WebhookDelivery[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * A delivery with what is posted and what was answered.
 */
export interface WebhookDeliveryWithBody {
  /**
   * The delivery's identifier.
   */
  deliveryId: string;
  /**
   * The event's identifier: the header `webhook-id` in every attempt.
   */
  eventId: string;
  /**
   * The event's type.
   */
  type:
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test';
  /**
   * The run that the event is about. Null if it is not about a run.
   */
  runId: string | null;
  /**
   * `pending` until an attempt succeeds. `failed` after the last attempt, `skipped` if the endpoint was paused or disabled.
   */
  status: 'pending' | 'delivered' | 'failed' | 'skipped';
  /**
   * Attempts so far.
   */
  attempts: number;
  /**
   * When the next attempt is due. Null if there is none.
   */
  nextAttemptAt: string | null;
  /**
   * HTTP status that was answered last. Null if there was none.
   */
  lastStatus: number | null;
  /**
   * Why the last attempt failed. Null if it did not fail.
   */
  lastError: string | null;
  /**
   * When the delivery was made.
   */
  createdAt: string;
  /**
   * When an attempt succeeded. Null if none did.
   */
  deliveredAt: string | null;
  /**
   * What is posted, the same in every attempt.
   */
  body: string;
  /**
   * The first 256 bytes that were answered last. Null if there was none.
   */
  answer: string | null;
}

/**
 * An address that an integration's events are posted to.
 */
export interface WebhookEndpoint {
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
  /**
   * Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is posted, and deliveries are `skipped`.
   */
  url: string | null;
  /**
   * The event types that are sent. The default is `["*"]`, all.
   *
   * @minItems 1
   *
   * Items: An event type, or `*` for all.
   */
  events: (
    | '*'
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test'
  )[];
  /**
   * Note for people.
   */
  description: string | null;
  /**
   * True if events are sent. False if the endpoint was paused or disabled.
   */
  active: boolean;
  /**
   * Why the server disabled the endpoint: `gone` if it answered 410, `failing` after 72 hours with failures alone. Null if the server did not disable it.
   */
  disabledReason: 'gone' | 'failing' | null;
  /**
   * Since when every attempt has failed. Null if the last one succeeded.
   */
  failingSince: string | null;
  /**
   * When the endpoint was made.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed.
   */
  updatedAt: string;
}

/**
 * A page of a list of `WebhookEndpoint`.
 */
export interface WebhookEndpointList {
  /**
   * The items of this page, in order.
   */
  items: WebhookEndpoint[];
  /**
   * Send it as `cursor` to read the next page. Null on the last page.
   */
  nextCursor: string | null;
}

/**
 * An endpoint with its new secret.
 */
export interface WebhookEndpointWithSecret {
  /**
   * The endpoint's identifier.
   */
  endpointId: string;
  /**
   * Address that events are posted to: https and public, or allowed by `RUNWIRE_WEBHOOK_ALLOW`. Null: nothing is posted, and deliveries are `skipped`.
   */
  url: string | null;
  /**
   * The event types that are sent. The default is `["*"]`, all.
   *
   * @minItems 1
   *
   * Items: An event type, or `*` for all.
   */
  events: (
    | '*'
    | 'run.completed'
    | 'run.failed'
    | 'run.cancelled'
    | 'run.asked'
    | 'member.allowance_exhausted'
    | 'upload.completed'
    | 'agency.broken'
    | 'schedule.paused'
    | 'webhook.test'
  )[];
  /**
   * Note for people.
   */
  description: string | null;
  /**
   * True if events are sent. False if the endpoint was paused or disabled.
   */
  active: boolean;
  /**
   * Why the server disabled the endpoint: `gone` if it answered 410, `failing` after 72 hours with failures alone. Null if the server did not disable it.
   */
  disabledReason: 'gone' | 'failing' | null;
  /**
   * Since when every attempt has failed. Null if the last one succeeded.
   */
  failingSince: string | null;
  /**
   * When the endpoint was made.
   */
  createdAt: string;
  /**
   * When the endpoint was last changed.
   */
  updatedAt: string;
  /**
   * The secret that signs what is posted, `whsec_…`. It is shown only in this answer.
   */
  secret: string;
}

/**
 * What is posted to an endpoint, discriminated by `type`.
 */
export type WebhookEvent =
  | WebhookRunEvent
  | WebhookAllowanceEvent
  | WebhookUploadEvent
  | WebhookAgencyEvent
  | WebhookScheduleEvent
  | WebhookTestEvent;

/**
 * What a replay made.
 */
export interface WebhookReplay {
  /**
   * How many deliveries were made.
   */
  deliveries: number;
}

/**
 * A run ended. `run.asked` is sent besides `run.completed` if the run ended with open questions.
 */
export interface WebhookRunEvent {
  /**
   * The event's type.
   */
  type: 'run.completed' | 'run.failed' | 'run.cancelled' | 'run.asked';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The run's identifier.
     */
    runId: string;
    /**
     * The chat's identifier.
     */
    chatId: string;
    /**
     * True if the chat was deleted.
     */
    chatDeleted: boolean;
    /**
     * The member that the run was started for. Null if the request named none.
     */
    consumerId: string | null;
    /**
     * The request's `usageRequestId`. Null if it had none.
     */
    usageRequestId: string | null;
    /**
     * How the run ended.
     */
    status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
    /**
     * How the run was asked to stop. Null if it was not asked.
     */
    cancelRequested: 'immediate' | 'after_step' | null;
    /**
     * The agent that the run was started at.
     */
    agent: string;
    /**
     * The agency's hash when the run was started. Null if it is not known.
     */
    agencyVersion: string | null;
    /**
     * The attempt that ended the run.
     */
    attempt: number;
    /**
     * The last event's id in the stream.
     */
    lastEventId: number;
    /**
     * When the run was admitted.
     */
    createdAt: string;
    /**
     * When the run was started. Null if it was not started.
     */
    startedAt: string | null;
    /**
     * When the run ended.
     */
    completedAt: string;
    /**
     * From the run's admission to a model's first output. In milliseconds; null if there is none, or it is not known.
     */
    firstTokenMs: number | null;
    /**
     * What the run cost. Null if the prices have no currency, or none of a model.
     */
    cost: Cost | null;
    /**
     * Why the run failed. Null if it did not fail.
     */
    error: {
      /**
       * Machine-readable code.
       */
      code: string;
      /**
       * What was wrong and what to do, for a person.
       */
      message: string;
    } | null;
    /**
     * The run whose questions this one settled. Null if it settled none.
     */
    continues: string | null;
    /**
     * The run that this one reruns. Null if it is no rerun.
     */
    rerunOf: {
      /**
       * The original run.
       */
      runId: string;
      /**
       * The last step of the original run that was kept; 0 if none was.
       */
      afterStep: number;
    } | null;
    /**
     * The run's open questions.
     *
     * Items: An open question, without its call's arguments.
     */
    pending: {
      /**
       * The question's identifier, for `answers`.
       */
      questionId: string;
      /**
       * Who must act.
       */
      kind: 'approval' | 'tool';
      /**
       * The call's id.
       */
      callId: string;
      /**
       * The agent that made the call.
       */
      agent: string;
      /**
       * The agent that asked it. Null if the user asked.
       */
      callerAgent: string | null;
      /**
       * The tool's name.
       */
      tool: string;
    }[];
    usage: Usage;
    /**
     * What the run was charged. Null while it runs, and if allowances were off.
     */
    charged: {
      /**
       * Unit of the amount.
       */
      unit: 'runs' | 'tokens' | 'credits';
      /**
       * Amount that counts against the allowance.
       */
      amount: number;
    } | null;
    /**
     * The same tokens, by model.
     *
     * Items: Tokens of one model.
     */
    byModel: {
      /**
       * Model, as `provider/model`.
       */
      model: string;
      /**
       * Tokens of the prompts, cached ones included.
       */
      input_tokens: number;
      /**
       * Input tokens that the provider read from its cache.
       */
      cached_tokens: number;
      /**
       * Tokens of the answers, reasoning included.
       */
      output_tokens: number;
    }[];
  };
}

/**
 * The server paused a schedule.
 */
export interface WebhookScheduleEvent {
  /**
   * The event's type.
   */
  type: 'schedule.paused';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The schedule's identifier.
     */
    scheduleId: string;
    /**
     * Why it was paused.
     */
    pausedReason: string;
  };
}

/**
 * Sent on request, to try an endpoint.
 */
export interface WebhookTestEvent {
  /**
   * The event's type.
   */
  type: 'webhook.test';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The endpoint's identifier.
     */
    endpointId: string;
  };
}

/**
 * An upload was published as a file.
 */
export interface WebhookUploadEvent {
  /**
   * The event's type.
   */
  type: 'upload.completed';
  /**
   * When the event happened.
   */
  timestamp: string;
  /**
   * What the event is about.
   */
  data: {
    /**
     * The integration's identifier.
     */
    apiIntegrationId: string;
    /**
     * The file's path.
     */
    path: string;
    /**
     * Size in bytes.
     */
    size: number;
    /**
     * The file's media type.
     */
    contentType: string;
  };
}
