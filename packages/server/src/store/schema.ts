import type { Generated } from 'kysely';
import type { AllowancePeriod, AllowanceUnit } from '../domain/allowance.ts';
import type { AttachmentForm, AttachmentKind, ImageDetail } from '../domain/attachment.ts';
import type { CancelMode, RunStatus } from '../domain/run-state.ts';

/*
 * Types both databases have alike: text, 64-bit integers (times are milliseconds since 1970, flags 0 or 1).
 * A column called `…_json` holds JSON text: what comes from outside may hold U+0000 and lone surrogates, which
 * PostgreSQL's own text and jsonb refuse.
 */

export interface InstallationTable {
  id: number;
  /** Raised by whoever changes keys, integrations or owners; caches are dropped when it moves. */
  accounts_version: number;
  created_at: number;
}

export const NODE_ALIVE = 0;
/** Found without its process: its unfinished runs crashed with it. */
export const NODE_DEAD = 1;
/** It stopped in good order and let go of its unfinished runs: they did not crash. */
export const NODE_RELEASED = 2;
/** In place of a run's node: it was let go at the end of a step, for any node to go on with. */
export const RELEASED_RUN = '';

/** Where several nodes share a secret that no setting gives them. */
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
  /** The name of its machine; null if an earlier version registered it. */
  host: string | null;
  /** The address at which it listens; null until it does, and if an earlier version registered it. */
  address: string | null;
}

export interface NodeBeatsTable {
  node_id: string;
  beat: number;
  /** By the clock of the node itself, for people alone; 0: it is of a version that does not beat. */
  seen_at: number;
  draining: number;
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
  /** By the clock of the process; only the sweep of old rows reads it. */
  raised_at: number;
}

/** Nodes with readers of a run whose integration says `onDisconnect: "cancel"`; rows of dead nodes do not count. */
export interface RunReadersTable {
  run_id: string;
  node_id: string;
}

/** The mark of the folder that all nodes of this installation keep their files in. */
/** Where an installation keeps its files. */
export type FilesKind = 'disk' | 's3';

export interface BlobFolderTable {
  id: number;
  mark: string;
  kind: Generated<FilesKind>;
}

export interface OwnersTable {
  owner_id: string;
  email: string | null;
  name_json: string | null;
  administrator: number;
  created_at: number;
}

export interface ApiKeysTable {
  key_id: string;
  owner_id: string;
  name_json: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface IntegrationsTable {
  integration_id: string;
  /** Sorts integrations in the order in which they were made, also within a millisecond. */
  sort_key: string;
  owner_id: string;
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
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** When the files of a deleted one were; null: they are there, or were never looked for. */
  files_deleted_at: number | null;
}

export interface MembersTable {
  integration_id: string;
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

export interface ChatsTable {
  chat_key: string;
  integration_id: string;
  chat_id: string;
  alias: string | null;
  consumer_id: string | null;
  num_messages: number;
  /** UTF-8 bytes of all message texts: what the next turn sends again. */
  text_bytes: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface MessagesTable {
  message_id: string;
  chat_key: string;
  /** 1, 2, 3 … within the chat. */
  position: number;
  run_id: string;
  role: 'user' | 'assistant';
  status: 'completed' | 'failed' | 'cancelled';
  agent: string;
  content_json: string;
  error_code: string | null;
  error_message: string | null;
  /** `[{name, path}]` of a user's message; null: none. */
  sandbox_files_json: string | null;
  created_at: number;
}

/** Run and usage record in one row: so there is exactly one record per run, and they never disagree. */
export interface RunsTable {
  run_id: string;
  integration_id: string;
  chat_key: string;
  consumer_id: string | null;
  usage_request_id: string | null;
  fingerprint: string | null;
  status: RunStatus;
  agency: string;
  agent: string;
  /** Or `RELEASED_RUN`. */
  node_id: string;
  attempt: number;
  crashes: number;
  step: number;
  journal_format: number;
  held: number;
  unit: AllowanceUnit | null;
  day: number;
  period: AllowancePeriod | null;
  period_start: number | null;
  user_context_json: string | null;
  cancel_requested_at: number | null;
  cancel_mode: CancelMode | null;
  /** Set at the end; while the run runs, the log knows. */
  last_event_id: number | null;
  error_code: string | null;
  error_message: string | null;
  request_count: number;
  input_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  by_model_json: string;
  charged_runs: number | null;
  charged_tokens: number | null;
  charged_credits: number | null;
  created_at: number;
  started_at: number | null;
  completed_at: number | null;
  /** When its events were compacted. */
  compacted_at: number | null;
}

/** What a member used, by the day of admission; outlives the member's row. */
export interface UsageDaysTable {
  integration_id: string;
  consumer_id: string;
  day: number;
  runs: number;
  tokens: number;
  credits: number;
}

export interface EventChunksTable {
  run_id: string;
  first_id: number;
  last_id: number;
  data: string;
}

/** The journal: a finished model or tool step, enough to go on from without doing it again. */
export interface StepsTable {
  run_id: string;
  step: number;
  attempt: number;
  kind: 'model' | 'tool';
  agent: string;
  caller_agent: string | null;
  model: string | null;
  tool: string | null;
  call_id: string | null;
  status: 'completed' | 'failed';
  first_event_id: number;
  last_event_id: number;
  record_json: string;
  started_at: number;
  completed_at: number;
}

/** Which blobs are in use: by the hash of their bytes within an integration. */
export interface BlobsTable {
  integration_id: string;
  sha256: string;
  /** Its name in the blob store; never used twice. */
  blob_key: string;
  size_bytes: number;
  created_at: number;
  /** Since when perhaps nothing refers to it; null: something does. */
  unused_since: number | null;
}

/** What came with a user's message; `Attachment` says what the columns mean. */
export interface AttachmentsTable {
  chat_key: string;
  run_id: string;
  /** 0, 1, 2 … in the request's `attachments`. */
  position: number;
  kind: AttachmentKind;
  url: string | null;
  url_key: string | null;
  filename_json: string | null;
  detail: ImageDetail;
  form: AttachmentForm | null;
  media_type: string | null;
  pages: number | null;
  size_bytes: number | null;
  blob_key: string | null;
}

/** The secrets that sign upload forms are derived from the installation's own and these numbers. */
export interface UploadSecretsTable {
  number: number;
  made_at: number;
  /** Forms that were signed with it later than this are not taken; null: it is the one in use. */
  retired_at: number | null;
}

/** Signed upload forms, until an hour after they expired. */
export interface UploadFormsTable {
  integration_id: string;
  form_id: string;
  /** Below the mount. */
  path: string;
  size_bytes: number;
  signed_at: number;
  expires_at: number;
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
  api_keys: ApiKeysTable;
  integrations: IntegrationsTable;
  members: MembersTable;
  chats: ChatsTable;
  messages: MessagesTable;
  runs: RunsTable;
  usage_days: UsageDaysTable;
  event_chunks: EventChunksTable;
  steps: StepsTable;
  blobs: BlobsTable;
  attachments: AttachmentsTable;
  upload_secrets: UploadSecretsTable;
  upload_forms: UploadFormsTable;
}
