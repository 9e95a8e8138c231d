import type { Generated } from 'kysely';
import type { AllowancePeriod, AllowanceUnit } from '../domain/admission/allowance.ts';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import type { FileAccess } from '../domain/file/file-access.ts';
import type { MountPath } from '../domain/file/mount-path.ts';
import type { ChatKey, IntegrationId, OwnerId, RunId } from '../domain/ids.ts';
import type { CancelMode, RunStatus } from '../domain/run/run-state.ts';
import type {
  ApiKeysTable,
  OwnersTable,
  PasswordsTable,
  PeopleTable,
  SessionsTable,
  SetUpLinksTable,
  SignInFailuresTable,
} from './account-tables.ts';
import type { AuditEventsTable } from './audit-tables.ts';
import type { ChatsTable, MessagesTable, TransientChatsTable } from './chat-tables.ts';
import type { ErasedBlobsTable, ErasuresTable, PendingBlobsTable } from './erasure-tables.ts';
import type { EventChunksTable, SkippedRunsTable, SweepPositionsTable } from './event-tables.ts';
import type { SharedRunsTable } from './fork-tables.ts';
import type { AskedQuestionsTable } from './question-tables.ts';
import type { MemberUsageColumns, UncountedRunsTable, UsageHoursTable, UsageWalkTable } from './rollup-tables.ts';
import type { ActiveRunsTable, UnsuccessfulRunsTable } from './run-tables.ts';
import type { SchedulesTable, ScheduleTicksTable } from './schedule-tables.ts';
import type { SearchDocsTable, SearchStateTable, SearchWaitingTable } from './search-tables.ts';
import type { AgencyDefinitionsTable, StepsTable, UnfinishedStepsTable } from './step-tables.ts';
import type { StoredPath } from './stored-path.ts';
import type {
  WebhookChecksTable,
  WebhookDeliveriesTable,
  WebhookEndpointsTable,
  WebhookEventsTable,
} from './webhook-tables.ts';

/*
 * Column types that both databases have: text, and 64-bit integers (times are milliseconds since 1970, flags are 0 or
 * 1). A column named `…_json` contains JSON text, because texts of users can contain U+0000 and lone surrogates, which
 * text and jsonb of PostgreSQL refuse.
 */

export interface InstallationTable {
  id: number;
  /** Each change of keys, integrations or owners raises it. A node clears its caches when it sees a new value. */
  accounts_version: number;
  created_at: number;
}

export const NODE_ALIVE = 0;
/** Another node found that its process is gone. Its unfinished runs count as crashed. */
export const NODE_DEAD = 1;
/** The node shut down and released its unfinished runs, which do not count as crashed. */
export const NODE_RELEASED = 2;
/** Replaces the node of a run that was released at the end of a step. Any node may continue the run. */
export const RELEASED_RUN = '';

/** The shared secret of several nodes if `RUNWIRE_SECRET` is not set. */
export interface InstallationSecretTable {
  id: number;
  secret: string;
}

export interface NodesTable {
  node_id: string;
  boot: string;
  /** `NODE_ALIVE`, `NODE_DEAD` or `NODE_RELEASED`. */
  dead: number;
  version: string;
  started_at: number;
  /** Its machine's name; null if an earlier version registered it. */
  host: string | null;
  /** The address at which it listens; null until it does, and if an earlier version registered it. */
  address: string | null;
  /** `GENERATION` of the program that registered it; 0 if an earlier version did. */
  generation: Generated<number>;
}

export interface NodeBeatsTable {
  node_id: string;
  beat: number;
  /** By the node's own clock, only shown to people. 0 if the node's version raises no heartbeats. */
  seen_at: number;
  draining: number;
  /** `NodeStats` at this heartbeat. Null if the node has stored none yet. */
  stats_json: Generated<string | null>;
}

/**
 * PostgreSQL only: the latest transaction of each connection that committed. An unanswered COMMIT is judged by it. It must
 * never be an unlogged table, because PostgreSQL empties those after a crash.
 */
export interface CommitMarksTable {
  /** Random, one for each process. */
  process: string;
  connection: number;
  serial: number;
  /** By the process's clock; only the sweep of old rows reads it. */
  raised_at: number;
}

/**
 * Nodes that have readers of a run whose integration sets `onDisconnect: "cancel"`. Rows of dead nodes do not count.
 */
export interface RunReadersTable {
  run_id: RunId;
  node_id: string;
}

/**
 * The kind of place in which an installation stores its files. `mark` identifies the folder or bucket that all nodes
 * share.
 */
export type FilesKind = 'disk' | 's3';

export interface BlobFolderTable {
  id: number;
  mark: string;
  kind: Generated<FilesKind>;
}

export interface IntegrationsTable {
  integration_id: IntegrationId;
  /** Sorts integrations in the order in which they were made, also within a millisecond. */
  sort_key: string;
  owner_id: OwnerId;
  name_json: string;
  agency: string;
  default_agent: string;
  text_only: number;
  allowance_unit: AllowanceUnit | null;
  allowance_limit: number | null;
  allowance_period: AllowancePeriod | null;
  on_disconnect: 'continue' | 'cancel';
  max_run_seconds: number;
  max_runs_per_member: number | null;
  keep_attachments: number;
  /** `provider/model`, for agents that name none. Null: the agency's model. */
  model: string | null;
  file_access: Generated<FileAccess>;
  /** A template with `{consumerId}` as one whole segment. */
  member_folder: Generated<string>;
  /** The sum of the sizes of its files. Every transaction that changes files updates it. */
  file_bytes: Generated<number>;
  /** What `file_bytes` is while the rows of `folder_bytes` are right: an earlier version does not update them. */
  counted_bytes: Generated<number | null>;
  /** The quotas of all files, and of the files below one member's folder. If null, the setting counts. */
  quota_bytes: Generated<number | null>;
  member_quota_bytes: Generated<number | null>;
  /** See `store/leftovers.ts`. */
  leftovers: Generated<number>;
  /** 1 if requests may bring tools of their own. */
  client_tools: Generated<number>;
  /** 1 if requests may bring instructions. */
  caller_instructions: Generated<number>;
  /** 1 if compatible APIs register an unknown member with its first run. */
  auto_register: Generated<number>;
  /** The compatible APIs that are on, with commas between them. */
  compatible_apis: Generated<string>;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** When a deleted integration's files were deleted. Null if they exist or were not looked for yet. */
  files_deleted_at: number | null;
}

export interface MembersTable {
  integration_id: IntegrationId;
  consumer_id: string;
  /** Sorts members in the order in which they were made, also within a millisecond. */
  sort_key: string;
  name_json: string | null;
  active: number;
  metadata_json: string;
  own_limit: number | null;
  created_at: number;
  updated_at: number;
}

/** A run and its usage record in one row, so each run has exactly one record and the two never disagree. */
export interface RunsTable {
  run_id: RunId;
  integration_id: IntegrationId;
  chat_key: ChatKey;
  consumer_id: string | null;
  usage_request_id: string | null;
  fingerprint: string | null;
  status: RunStatus;
  agency: string;
  /** The hash of the agency that admission checked; null for runs of earlier versions. */
  agency_version: string | null;
  agent: string;
  /** The node that runs it, or `RELEASED_RUN`. */
  node_id: string;
  attempt: number;
  crashes: number;
  step: number;
  journal_format: number;
  /** 1 if the answer is JSON that the agent's output schema accepts. */
  structured: number;
  /** The integration's setting when the run was admitted. */
  file_access: FileAccess;
  /** The folder whose files the run sees with `file_access` `member`, relative to the mount; otherwise null. */
  member_folder: MountPath | null;
  held: number;
  unit: AllowanceUnit | null;
  day: number;
  period: AllowancePeriod | null;
  period_start: number | null;
  user_context_json: string | null;
  /** The run whose questions this one settles. It continues at the end of that one. */
  continues: Generated<RunId | null>;
  /** What becomes of these questions (`Settlement`s), until the chat is deleted. An earlier version deleted it at the run's end. */
  answers_json: Generated<string | null>;
  /** The request's tools, until the chat is deleted. An earlier version deleted them when a run ended without questions. */
  client_tools_json: Generated<string | null>;
  /** What the request added to the run (`RunExtras`), until its chat is deleted. Null if it added nothing. */
  extras_json: Generated<string | null>;
  /** The run that this one reruns. Null for all others. */
  rerun_of: Generated<RunId | null>;
  /** The last step of that run that is kept; 0 if none is. */
  rerun_after_step: Generated<number | null>;
  cancel_requested_at: number | null;
  cancel_mode: CancelMode | null;
  /** Set at the end. Before that, only the event log knows it. */
  last_event_id: number | null;
  error_code: string | null;
  error_message: string | null;
  request_count: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** `ModelUsage`s. */
  by_model_json: string;
  /** The currency for the costs in `by_model_json`. Null if the run has no cost. */
  currency: Generated<string | null>;
  charged_runs: number | null;
  charged_tokens: number | null;
  charged_credits: number | null;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** When the events were compacted. */
  compacted_at: number | null;
  /** From admission to the first output of a model. Null if there was none, and if an earlier version made it. */
  first_token_ms: Generated<number | null>;
  /** When a client of a compatible API deleted the response of the run. The run itself remains. */
  response_deleted_at: Generated<number | null>;
  /** 1 if admission has written the row of `active_runs`, 2 if the end has deleted it. An earlier version leaves it at 0. */
  tracked: Generated<number>;
  /** The only step of the run, as `OnlyStep`, if `steps` has no row for it. */
  only_step_json: Generated<string | null>;
  /** 1 if the run's end has raised the rollups. */
  counted: Generated<number>;
}

/**
 * What a member used on a day, by the day of admission, less what adjustments of that day gave back. So a day can be
 * negative; the sum of the period never was when the adjustment was made. The row outlives the member's row.
 */
export interface UsageDaysTable extends MemberUsageColumns {
  integration_id: IntegrationId;
  consumer_id: string;
  day: number;
  runs: number;
  tokens: number;
  credits: number;
  /** Fractions of a credit, which only adjustments have; added to `credits`. */
  credit_millionths: Generated<number>;
}

/** The corrections of members' usage. They are part of `usage_days`. The rows outlive the member's row. */
export interface AdjustmentsTable {
  adjustment_id: string;
  integration_id: IntegrationId;
  consumer_id: string;
  /** Unique for the member. */
  idempotency_key_json: string;
  unit: AllowanceUnit;
  /** A JSON number, because amounts in credits can have decimals. */
  amount_json: string;
  /** The part of the amount that was applied, as a JSON number. */
  applied_json: string;
  reason_json: string | null;
  period_start: number | null;
  created_at: number;
}

/** The blobs in use, by the hash of their bytes within an integration. */
export interface BlobsTable {
  integration_id: IntegrationId;
  sha256: string;
  /** Its name in the blob store; never used twice. */
  blob_key: string;
  size_bytes: number;
  created_at: number;
  /** Since when the blob may be unused. Null if a message refers to it. */
  unused_since: number | null;
}

/** The attachments of a user's message. */
/** An image that a tool of a run returned. */
export interface ToolImagesTable {
  run_id: RunId;
  attachment_id: string;
  chat_key: ChatKey;
  blob_key: string;
  media_type: string;
  size_bytes: number;
}

export interface AttachmentsTable extends StoredAttachment {
  chat_key: ChatKey;
}

/** The secrets that sign upload forms are derived from the installation's secret and these numbers. */
export interface UploadSecretsTable {
  number: number;
  made_at: number;
  /** Forms that were signed with it after this time are refused. Null for the secret in use. */
  retired_at: number | null;
}

/**
 * Signed upload forms. A row is deleted some time after the form expired. An empty path closes the form: what S3 receives
 * for it is deleted.
 */
export interface UploadFormsTable {
  integration_id: IntegrationId;
  form_id: string;
  path: StoredPath;
  content_type: string;
  size_bytes: number;
  signed_at: number;
  expires_at: number;
  /** 1 if S3 receives the form. */
  to_s3: Generated<number>;
  /** The last upload that S3 received for this form and that was settled; null if its file was deleted since then. */
  settled_drop: Generated<string | null>;
  /** Raised by each change of `settled_drop`. */
  version: Generated<number>;
}

/**
 * A file of an integration, or an earlier version. Its bytes are a blob that no other row refers to. Among a path's rows
 * at most one is a file: its `freed_at` is null.
 */
export interface FilesTable {
  integration_id: IntegrationId;
  path: StoredPath;
  blob_key: string;
  size_bytes: number;
  /** The MD5 of the bytes in quotes. */
  etag: string;
  content_type: string;
  modified_at: number;
  /** When the upload form was signed. Null if a run made the file. */
  signed_at: number | null;
  /** The chat whose run made the file. Null for an upload. */
  chat_key: ChatKey | null;
  /** The blob with the document's text. Null if it was not converted yet, or needs no conversion. */
  text_key: string | null;
  /** When the file was replaced or deleted. The sweep deletes the row with its blobs a day later. */
  freed_at: Generated<number | null>;
}

/** The paths that `sandboxFiles` of the runs of a chat named. */
export interface AnnouncedFilesTable {
  chat_key: ChatKey;
  path: StoredPath;
}

export interface Schema {
  installation: InstallationTable;
  installation_secret: InstallationSecretTable;
  nodes: NodesTable;
  node_beats: NodeBeatsTable;
  run_readers: RunReadersTable;
  commit_marks: CommitMarksTable;
  blob_folder: BlobFolderTable;
  owners: OwnersTable;
  people: PeopleTable;
  audit_events: AuditEventsTable;
  api_keys: ApiKeysTable;
  passwords: PasswordsTable;
  sessions: SessionsTable;
  set_up_links: SetUpLinksTable;
  sign_in_failures: SignInFailuresTable;
  integrations: IntegrationsTable;
  members: MembersTable;
  chats: ChatsTable;
  transient_chats: TransientChatsTable;
  messages: MessagesTable;
  runs: RunsTable;
  active_runs: ActiveRunsTable;
  unsuccessful_runs: UnsuccessfulRunsTable;
  shared_runs: SharedRunsTable;
  asked_questions: AskedQuestionsTable;
  usage_days: UsageDaysTable;
  usage_hours: UsageHoursTable;
  usage_walk: UsageWalkTable;
  uncounted_runs: UncountedRunsTable;
  adjustments: AdjustmentsTable;
  event_chunks: EventChunksTable;
  compacted_chunks: EventChunksTable;
  sweep_positions: SweepPositionsTable;
  skipped_runs: SkippedRunsTable;
  steps: StepsTable;
  unfinished_steps: UnfinishedStepsTable;
  agency_definitions: AgencyDefinitionsTable;
  blobs: BlobsTable;
  attachments: AttachmentsTable;
  tool_images: ToolImagesTable;
  upload_secrets: UploadSecretsTable;
  upload_forms: UploadFormsTable;
  files: FilesTable;
  erased_blobs: ErasedBlobsTable;
  announced_files: AnnouncedFilesTable;
  /** The files' sums below folders of members. Not every folder has a row. */
  folder_bytes: { integration_id: IntegrationId; folder: StoredPath; bytes: number };
  erasures: ErasuresTable;
  pending_blobs: PendingBlobsTable;
  schedules: SchedulesTable;
  schedule_ticks: ScheduleTicksTable;
  search_docs: SearchDocsTable;
  search_state: SearchStateTable;
  search_waiting: SearchWaitingTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_events: WebhookEventsTable;
  webhook_checks: WebhookChecksTable;
  webhook_deliveries: WebhookDeliveriesTable;
}
