// Made from packages/contract/src/schemas by `npm exec -- node -C runwire scripts/build-contract-types.ts`; do not edit.

export type Attachment = FileAttachment | ImageAttachment;

export interface FileAttachment {
  type: 'input_file';
  /**
   * Publicly accessible HTTPS URL of the file, at most 8192 characters, fetched when the run starts. In messages that are read back it stands without query and fragment, as `attachmentUrlRefreshes` calls it.
   */
  file_url: string;
  /**
   * File name without a directory path: one segment of at most 255 bytes, without control characters. Where it is left out, the last part of the URL counts.
   */
  filename?: string;
}

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
  agent?: string;
  /**
   * Chat identifier.
   */
  chatId?: string | null;
  /**
   * Alias chat identifier.
   */
  aliasChatId?: string | null;
  /**
   * @maxItems 5
   */
  attachments?: Attachment[];
  /**
   * @maxItems 5
   */
  sandboxFiles?: SandboxFile[];
  /**
   * Free-form context.
   */
  user_context?:
    | ({
        [k: string]: unknown;
      } | null)
    | string;
  /**
   * The app member. Required when member allowances are enabled.
   */
  consumerId?: string;
  /**
   * Unique id of this request. Required when allowances are enabled. It appears in chat status and usage records. Reuse the same value when recovering an interrupted request.
   */
  usageRequestId?: string;
  /**
   * Keys: an expired earlier attachment URL without its query string. Values: a fresh HTTPS URL with the same host and path. It must list all earlier conversation files that need refreshing: those of which no copy is kept and whose signed links have expired.
   */
  attachmentUrlRefreshes?: {
    [k: string]: string;
  };
}

export interface ImageAttachment {
  type: 'input_image';
  /**
   * Publicly accessible HTTPS image URL, or an inline image data URL: `data:image/png;base64,…`, strict base64 of a PNG, JPEG, GIF or WebP image. In messages that are read back, a URL stands without query and fragment, and a data URL without data stands for an inline image: `data:image/png;sha256=…;bytes=…,`.
   */
  image_url: string;
  detail?: 'auto' | 'low' | 'high';
}

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
   * run_active, usage_request_id_reused: the run meant.
   */
  runId?: string;
  /**
   * run_active: the usage request id of the active run.
   */
  usageRequestId?: string | null;
  /**
   * run_active: the chat of the active run.
   */
  chatId?: string;
  /**
   * consumer_allowance_exhausted: when the next period begins; null for a lifetime allowance.
   */
  resetAt?: string | null;
  /**
   * mount_quota_exceeded: bytes of the stored files.
   */
  usedBytes?: number;
  /**
   * mount_quota_exceeded: bytes with this upload and all open forms.
   */
  foreseenBytes?: number;
  /**
   * mount_quota_exceeded: bytes that the integration may have.
   */
  quotaBytes?: number;
}

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

export interface File {
  name: string;
  /**
   * The whole path, as in `resource` and in `sandboxFiles`.
   */
  path: string;
  kind: 'file' | 'folder';
  size: number | null;
  etag: string | null;
  contentType: string | null;
  modifiedAt: string | null;
}

export interface FileList {
  items: File[];
  nextCursor: string | null;
}

export interface Allowance {
  unit: 'runs' | 'tokens' | 'credits';
  limit: number;
  used: number;
  reserved: number;
  /**
   * max(0, limit − used − reserved)
   */
  remaining: number;
  period: 'day' | 'week' | 'month' | 'lifetime';
  periodStart: string | null;
  resetAt: string | null;
  /**
   * True when nothing remains.
   */
  exhausted: boolean;
}

export interface AllowanceSetting {
  unit: 'runs' | 'tokens' | 'credits';
  limit: number;
  period: 'day' | 'week' | 'month' | 'lifetime';
}

export interface Usage {
  request_count: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  total_tokens: number;
}

export interface UsageRecord {
  usageRequestId: string | null;
  consumerId: string | null;
  chatId: string;
  runId: string;
  agent: string;
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  usage: Usage;
  byModel: {
    model: string;
    input_tokens: number;
    cached_tokens: number;
    output_tokens: number;
  }[];
  charged: {
    unit: 'runs' | 'tokens' | 'credits';
    amount: number;
  } | null;
  periodStart: string | null;
  startedAt: string | null;
  completedAt: string | null;
}

export interface UsageRecordList {
  items: UsageRecord[];
  nextCursor: string | null;
}

export interface UsageSummary {
  groupBy: 'day' | 'consumer' | 'agent' | 'model';
  from: string | null;
  to: string | null;
  items: {
    /**
     * The day (`2030-01-31`), member, agent or model; null: the runs that name no member.
     */
    key: string | null;
    runs: number;
    usage: Usage;
    charged: {
      runs: number;
      tokens: number;
      credits: number;
    };
  }[];
  nextCursor: string | null;
}

export interface CancelResult {
  runId: string;
  chatId: string;
  status: 'cancelling' | 'completed' | 'failed' | 'cancelled';
  /**
   * True exactly when `status` is `cancelled`.
   */
  cancelled: boolean;
  usage: Usage | null;
}

export interface CancelRunRequest {
  mode?: 'immediate' | 'after_step';
}

export interface Run {
  runId: string;
  apiIntegrationId: string;
  chatId: string;
  chatDeleted: boolean;
  consumerId: string | null;
  usageRequestId: string | null;
  status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
  cancelRequested: 'immediate' | 'after_step' | null;
  agent: string;
  attempt: number;
  lastEventId: number;
  createdAt: string;
  startedAt: string | null;
  completedAt: string | null;
  error: {
    code: string;
    message: string;
  } | null;
  /**
   * The final assistant text.
   */
  message: string | null;
  usage: Usage | null;
}

export interface RunList {
  items: Run[];
  nextCursor: string | null;
}

export interface Step {
  step: number;
  attempt: number;
  kind: 'model' | 'tool';
  agent: string;
  callerAgent: string | null;
  model: string | null;
  tool: string | null;
  callId: string | null;
  status: 'completed' | 'failed';
  firstEventId: number;
  lastEventId: number;
  usage: Usage | null;
  error: {
    code: string;
    message: string;
  } | null;
  startedAt: string;
  completedAt: string;
}

export interface StepList {
  items: Step[];
  nextCursor: string | null;
}

export interface Chat {
  chatId: string;
  aliasChatId: string | null;
  apiIntegrationId: string;
  consumerId: string | null;
  status: 'idle' | 'running';
  activeRunId: string | null;
  numMessages: number;
  createdAt: string;
  updatedAt: string;
}

export interface ChatList {
  items: Chat[];
  nextCursor: string | null;
}

export interface ChatStatus {
  chatId: string;
  aliasChatId: string | null;
  apiIntegrationId: string;
  consumerId: string | null;
  status: 'idle' | 'running';
  activeRunId: string | null;
  numMessages: number;
  createdAt: string;
  updatedAt: string;
  chatDeleted: boolean;
  run: {
    runId: string;
    usageRequestId: string | null;
    status: 'admitted' | 'running' | 'completed' | 'failed' | 'cancelled';
    agent: string;
    attempt: number;
    lastEventId: number;
    createdAt: string;
    startedAt: string | null;
    completedAt: string | null;
    error: {
      code: string;
      message: string;
    } | null;
    /**
     * The final assistant text.
     */
    message: string | null;
    usage: Usage | null;
  } | null;
}

export interface CreateChatRequest {
  chatId?: string | null;
  aliasChatId?: string | null;
  consumerId?: string | null;
}

export interface Message {
  messageId: string;
  chatId: string;
  runId: string;
  role: 'user' | 'assistant';
  status: 'completed' | 'failed' | 'cancelled';
  agent: string | null;
  content: string;
  attachments: Attachment[];
  sandboxFiles: SandboxFile[];
  error: {
    code: string;
    message: string;
  } | null;
  createdAt: string;
}

export interface MessageList {
  items: Message[];
  nextCursor: string | null;
}

export interface Member {
  consumerId: string;
  name: string | null;
  active: boolean;
  metadata: {
    [k: string]: unknown;
  };
  ownLimit: number | null;
  allowance: Allowance | null;
  createdAt: string;
  updatedAt: string;
}

export interface MemberList {
  items: Member[];
  nextCursor: string | null;
}

export interface PutMemberRequest {
  name?: string | null;
  active?: boolean;
  /**
   * The member's own limit; null takes the integration's.
   */
  allowance?: {
    limit: number;
  } | null;
  metadata?: {
    [k: string]: unknown;
  };
}

export interface CreateIntegrationRequest {
  apiIntegrationId?: string;
  name?: string;
  agency?: string;
  defaultAgent?: string;
  textOnly?: boolean;
  allowances?: AllowanceSetting | null;
  onDisconnect?: 'continue' | 'cancel';
  maxRunSeconds?: number | null;
  maxRunsPerMember?: number | null;
  keepAttachments?: boolean;
}

export interface Integration {
  apiIntegrationId: string;
  name: string | null;
  agency: string;
  defaultAgent: string | null;
  textOnly: boolean;
  allowances: AllowanceSetting | null;
  onDisconnect: 'continue' | 'cancel';
  maxRunSeconds: number;
  maxRunsPerMember: number | null;
  keepAttachments: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface IntegrationList {
  items: Integration[];
  nextCursor: string | null;
}

export interface UpdateIntegrationRequest {
  name?: string;
  agency?: string;
  defaultAgent?: string;
  textOnly?: boolean;
  allowances?: AllowanceSetting | null;
  onDisconnect?: 'continue' | 'cancel';
  maxRunSeconds?: number | null;
  maxRunsPerMember?: number | null;
  keepAttachments?: boolean;
}

export interface ApiKey {
  keyId: string;
  name: string | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface ApiKeyList {
  items: ApiKey[];
  nextCursor: string | null;
}

export interface CreateApiKeyRequest {
  name?: string;
  expiresAt?: string;
}

export interface CreateOwnerRequest {
  email: string;
  name?: string;
}

export interface CreatedApiKey {
  keyId: string;
  name: string | null;
  createdAt: string;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /**
   * The key itself, shown this once.
   */
  apiKey: string;
}

export interface CreatedOwner {
  ownerId: string;
  email: string;
  /**
   * The first key of the owner, shown this once.
   */
  apiKey: string;
  /**
   * One-time link that sets the password for the console.
   */
  setupLink: string | null;
}

export interface Me {
  ownerId: string;
  email: string | null;
  name: string | null;
  administrator: boolean;
  key: {
    keyId: string | null;
    name: string | null;
    expiresAt: string | null;
  };
}

export interface Owner {
  ownerId: string;
  email: string | null;
  name: string | null;
  administrator: boolean;
  createdAt: string;
}

export interface OwnerList {
  items: Owner[];
  nextCursor: string | null;
}

export interface Agency {
  agency: string;
  name: string | null;
  defaultAgent: string | null;
  entryPoints: string[];
  agents: {
    name: string;
    description: string | null;
    model: string | null;
    tools: string[];
  }[];
  flows: {
    from: string;
    to: string;
    kind: 'handoff' | 'delegate';
  }[];
  /**
   * Why the agency could not be loaded; null when it could.
   */
  error: string | null;
}

export interface AgencyList {
  items: Agency[];
  nextCursor: string | null;
}

export interface Health {
  status: 'ok';
}

export interface Readiness {
  status: 'ok';
  store: 'sqlite' | 'postgres';
}

export interface ServiceNode {
  nodeId: string;
  boot: string;
  state: 'alive' | 'draining' | 'dead';
  /**
   * Whether this is the node that answers.
   */
  self: boolean;
  version: string;
  /**
   * The name of its machine. Null if an earlier version registered it.
   */
  host: string | null;
  /**
   * The address at which it listens, such as `10.0.0.11:8787`. Null while it starts, and for an earlier version.
   */
  address: string | null;
  startedAt: string;
  lastSeenAt: string | null;
  /**
   * Its unfinished runs.
   */
  activeRuns: number;
}

export interface ServiceNodeList {
  items: ServiceNode[];
  nextCursor: string | null;
}
