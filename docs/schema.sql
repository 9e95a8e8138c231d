-- The tables after all migrations. Written by `npm run schema`; do not edit.

-- SQLite


CREATE TABLE "active_runs" (
  "integration_id" text not null,
  "consumer_id" text not null,
  "chat_key" text not null,
  "run_id" text not null,
  "node_id" text not null,
  "held" bigint not null,
  "unit" text,
  "day" integer not null,
  constraint "active_runs_key" primary key ("integration_id", "consumer_id", "chat_key")
) without rowid;

CREATE TABLE "adjustments" (
  "adjustment_id" text primary key,
  "integration_id" text not null,
  "consumer_id" text not null,
  "idempotency_key_json" text not null,
  "unit" text not null,
  "amount_json" text not null,
  "applied_json" text not null,
  "reason_json" text,
  "period_start" bigint,
  "created_at" bigint not null
) without rowid;
CREATE INDEX "adjustments_consumer" on "adjustments" ("integration_id", "consumer_id", "created_at", "adjustment_id");
CREATE UNIQUE INDEX "adjustments_idempotency" on "adjustments" ("integration_id", "consumer_id", "idempotency_key_json");
CREATE INDEX "adjustments_newest" on "adjustments" ("integration_id", "created_at", "adjustment_id");

CREATE TABLE "agency_definitions" (
  "agency" text not null,
  "version" text not null,
  "definition_json" text not null,
  "seen_at" bigint not null,
  "run_id" text,
  constraint "agency_definitions_key" primary key ("agency", "version")
) without rowid;

CREATE TABLE "announced_files" (
  "chat_key" text not null,
  "path" text not null,
  constraint "announced_files_key" primary key ("chat_key", "path")
) without rowid;

CREATE TABLE "api_keys" (
  "key_id" text primary key,
  "owner_id" text not null,
  "name_json" text not null,
  "created_at" bigint not null,
  "expires_at" bigint,
  "last_used_at" bigint,
  "revoked_at" bigint,
  "role" text default 'manager' not null,
  "integrations_json" text,
  "creator_id" text,
  "creator_json" text
) without rowid;
CREATE INDEX "api_keys_owner" on "api_keys" ("owner_id", "key_id");

CREATE TABLE "asked_questions" (
  "question_id" text not null primary key,
  "chat_key" text not null,
  "run_id" text not null,
  "call_id_json" text not null,
  "owner_id" text,
  "question_json" text,
  "answered_run_id" text,
  "answer_json" text,
  "asked_at" bigint,
  "settled_at" bigint,
  "remembered_tool" text
) without rowid;
CREATE INDEX "asked_questions_answered" on "asked_questions" ("owner_id", "asked_at", "question_id") where answer_json is not null;
CREATE INDEX "asked_questions_chat" on "asked_questions" ("chat_key");
CREATE INDEX "asked_questions_list" on "asked_questions" ("owner_id", "asked_at", "question_id");
CREATE INDEX "asked_questions_open" on "asked_questions" ("owner_id", "asked_at", "question_id") where settled_at is null;
CREATE INDEX "asked_questions_remembered" on "asked_questions" ("chat_key", "remembered_tool") where remembered_tool is not null;

CREATE TABLE "attachments" (
  "chat_key" text not null,
  "run_id" text not null,
  "position" integer not null,
  "blob_key" text,
  "media_type" text,
  "size_bytes" bigint,
  "detail" text not null,
  "kind" text not null,
  "url" text,
  "url_key" text,
  "filename_json" text,
  "form" text,
  "pages" integer,
  constraint "attachments_key" primary key ("chat_key", "run_id", "position")
) without rowid;
CREATE INDEX "attachments_blob" on "attachments" ("blob_key");
CREATE INDEX "attachments_without_copy" on "attachments" ("chat_key") where url is not null and blob_key is null;

CREATE TABLE "audit_events" (
  "event_id" text not null primary key,
  "owner_id" text not null,
  "at" bigint not null,
  "actor_kind" text not null,
  "actor_id" text,
  "actor_name_json" text,
  "operation" text not null,
  "target_kind" text not null,
  "target_id" text not null,
  "changes_json" text,
  "request_id" text,
  "address" text,
  "integration_id" text,
  "consumer_id" text,
  "path" text
);
CREATE INDEX "audit_actor" on "audit_events" ("owner_id", "actor_id", "at", "event_id");
CREATE INDEX "audit_age" on "audit_events" ("at");
CREATE INDEX "audit_list" on "audit_events" ("owner_id", "at", "event_id");
CREATE INDEX "audit_member" on "audit_events" ("integration_id", "consumer_id") where consumer_id is not null;
CREATE INDEX "audit_operation" on "audit_events" ("owner_id", "operation", "at", "event_id");
CREATE INDEX "audit_path" on "audit_events" ("integration_id", "path") where path is not null;
CREATE INDEX "audit_target" on "audit_events" ("owner_id", "target_kind", "target_id", "at", "event_id");

CREATE TABLE "blob_folder" (
  "id" integer primary key,
  "mark" text not null,
  "kind" text default 'disk' not null
);

CREATE TABLE "blobs" (
  "integration_id" text not null,
  "sha256" text not null,
  "blob_key" text not null unique,
  "size_bytes" bigint not null,
  "created_at" bigint not null,
  "unused_since" bigint,
  constraint "blobs_key" primary key ("integration_id", "sha256")
) without rowid;
CREATE INDEX "blobs_unused" on "blobs" ("unused_since", "blob_key") where unused_since is not null;
CREATE TRIGGER chats_changed after update of updated_at on chats
    when new.updated_at / 3600000 <> new.updated_hour begin update chats set updated_hour = new.updated_at / 3600000 where chat_key = new.chat_key; end;
CREATE TRIGGER chats_created after insert on chats begin update chats set updated_hour = new.updated_at / 3600000 where chat_key = new.chat_key; end;

CREATE TABLE "chats" (
  "chat_key" text primary key,
  "integration_id" text not null,
  "chat_id" text not null,
  "alias" text,
  "consumer_id" text,
  "num_messages" integer not null,
  "text_bytes" bigint not null,
  "created_at" bigint not null,
  "updated_at" bigint not null,
  "deleted_at" bigint,
  "title_json" text,
  "metadata_json" text,
  "questions_json" text,
  "asking_run_id" text,
  "forked_from" text,
  "forked_run_id" text,
  "replaced_by" text,
  "former_chat_id" text,
  "former_alias" text,
  "transient" integer default 0 not null,
  "updated_hour" bigint,
  "summary_run_id" text
) without rowid;
CREATE UNIQUE INDEX "chats_alias" on "chats" ("integration_id", "alias") where deleted_at is null and alias is not null;
CREATE INDEX "chats_consumer" on "chats" ("integration_id", "consumer_id", "created_at", "chat_key") where consumer_id is not null;
CREATE INDEX "chats_forked" on "chats" ("forked_from") where forked_from is not null;
CREATE UNIQUE INDEX "chats_id" on "chats" ("integration_id", "chat_id") where deleted_at is null and chat_id <> chat_key;
CREATE INDEX "chats_newest" on "chats" ("integration_id", "created_at", "chat_key") where deleted_at is null and transient = 0;
CREATE INDEX "chats_replaced" on "chats" ("replaced_by") where replaced_by is not null;
CREATE INDEX "chats_updated" on "chats" ("integration_id", "updated_hour", "chat_key") where deleted_at is null and transient = 0 and updated_hour is not null;
CREATE INDEX "chats_waiting" on "chats" ("integration_id", "created_at", "chat_key") where asking_run_id is not null and deleted_at is null and transient = 0;

CREATE TABLE "commit_marks" (
  "process" text not null,
  "connection" bigint not null,
  "serial" bigint not null,
  "raised_at" bigint not null,
  constraint "commit_marks_key" primary key ("process", "connection")
) without rowid;

CREATE TABLE "compacted_chunks" (
  "run_id" text not null,
  "first_id" bigint not null,
  "last_id" bigint not null,
  "data" text not null,
  constraint "compacted_chunks_key" primary key ("run_id", "first_id")
);

CREATE TABLE "erased_blobs" (
  "integration_id" text not null,
  "erased_id" text not null,
  "blob_key" text not null,
  constraint "erased_blobs_key" primary key ("integration_id", "erased_id", "blob_key")
) without rowid;

CREATE TABLE "erasures" (
  "integration_id" text not null,
  "erased_id" text not null,
  "consumer_id" text,
  "folder_id" text,
  "started_at" bigint not null,
  "replaced_at" bigint,
  "finished_at" bigint,
  "has_content" bigint default 1 not null,
  "deleted_at" bigint,
  constraint "erasures_key" primary key ("integration_id", "erased_id")
) without rowid;
CREATE INDEX "erasures_finished" on "erasures" ("finished_at");
CREATE INDEX "erasures_folder" on "erasures" ("folder_id") where folder_id is not null;

CREATE TABLE "event_chunks" (
  "run_id" text not null,
  "first_id" bigint not null,
  "last_id" bigint not null,
  "data" text not null,
  constraint "event_chunks_key" primary key ("run_id", "first_id")
);

CREATE TABLE "files" (
  "integration_id" text not null,
  "path" text not null,
  "blob_key" text not null primary key,
  "size_bytes" bigint not null,
  "etag" text not null,
  "content_type" text not null,
  "modified_at" bigint not null,
  "signed_at" bigint,
  "chat_key" text,
  "text_key" text,
  "freed_at" bigint
);
CREATE INDEX "files_chat" on "files" ("chat_key", "path") where chat_key is not null and freed_at is null;
CREATE INDEX "files_freed" on "files" ("freed_at", "integration_id") where freed_at is not null;
CREATE UNIQUE INDEX "files_path" on "files" ("integration_id", "path") where freed_at is null;
CREATE INDEX "files_text" on "files" ("text_key") where text_key is not null;

CREATE TABLE "folder_bytes" (
  "integration_id" text not null,
  "folder" text not null,
  "bytes" bigint not null,
  constraint "folder_bytes_key" primary key ("integration_id", "folder")
) without rowid;

CREATE TABLE "installation" (
  "id" integer primary key,
  "accounts_version" bigint not null,
  "created_at" bigint not null
);

CREATE TABLE "installation_secret" (
  "id" integer primary key,
  "secret" text not null
);

CREATE TABLE "integrations" (
  "integration_id" text primary key,
  "sort_key" text not null,
  "owner_id" text not null,
  "name_json" text not null,
  "agency" text not null,
  "default_agent" text not null,
  "text_only" integer not null,
  "allowance_unit" text,
  "allowance_limit" bigint,
  "allowance_period" text,
  "on_disconnect" text not null,
  "max_run_seconds" integer not null,
  "max_runs_per_member" integer,
  "keep_attachments" integer not null,
  "created_at" bigint not null,
  "updated_at" bigint not null,
  "deleted_at" bigint,
  "files_deleted_at" bigint,
  "model" text,
  "file_access" text default 'chat' not null,
  "member_folder" text default '/app/mnt/members/{consumerId}' not null,
  "file_bytes" bigint default 0 not null,
  "client_tools" integer default 0 not null,
  "quota_bytes" bigint,
  "member_quota_bytes" bigint,
  "counted_bytes" bigint,
  "leftovers" bigint default 1 not null,
  "caller_instructions" integer default 0 not null,
  "auto_register" integer default 0 not null,
  "compatible_apis" text default 'openai,
  ai-sdk,
  ag-ui,
  mcp,
  agency-swarm' not null
) without rowid;
CREATE INDEX "integrations_owner" on "integrations" ("owner_id", "created_at", "sort_key");

CREATE TABLE "members" (
  "integration_id" text not null,
  "consumer_id" text not null,
  "sort_key" text not null,
  "name_json" text,
  "active" integer not null,
  "metadata_json" text not null,
  "own_limit" bigint,
  "created_at" bigint not null,
  "updated_at" bigint not null,
  constraint "members_key" primary key ("integration_id", "consumer_id")
);
CREATE INDEX "members_by_consumer_id" on "members" ("integration_id", lower("consumer_id"), "created_at", "sort_key", "consumer_id");
CREATE INDEX "members_by_name_json" on "members" ("integration_id", lower("name_json"), "created_at", "sort_key", "consumer_id");
CREATE INDEX "members_by_word_2" on "members" ("integration_id", lower(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end), "created_at", "sort_key", "consumer_id") where case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end is not null;
CREATE INDEX "members_by_word_3" on "members" ("integration_id", lower(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end), "created_at", "sort_key", "consumer_id") where case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end is not null;
CREATE INDEX "members_by_word_4" on "members" ("integration_id", lower(case when instr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, ' ') > 0 then substr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, instr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, ' ') + 1) end), "created_at", "sort_key", "consumer_id") where case when instr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, ' ') > 0 then substr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, instr(case when instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') > 0 then substr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, instr(case when instr("name_json", ' ') > 0 then substr("name_json", instr("name_json", ' ') + 1) end, ' ') + 1) end, ' ') + 1) end is not null;
CREATE INDEX "members_newest" on "members" ("integration_id", "created_at", "sort_key");
CREATE TRIGGER messages_unindexed after delete on messages when old.role = 'user' begin
    delete from search_docs where run_id = old.run_id
      and not exists (select 1 from shared_runs s where s.run_id = old.run_id and s.chat_key <> old.chat_key);
    delete from search_waiting where chat_key = old.chat_key and run_id in (old.run_id, ''); end;

CREATE TABLE "messages" (
  "message_id" text not null,
  "chat_key" text not null,
  "position" integer not null,
  "run_id" text not null,
  "role" text not null,
  "status" text not null,
  "agent" text not null,
  "content_json" text not null,
  "error_code" text,
  "error_message" text,
  "created_at" bigint not null,
  "sandbox_files_json" text,
  constraint "messages_key" primary key ("chat_key", "position")
);

CREATE TABLE "node_beats" (
  "node_id" text primary key,
  "beat" bigint not null,
  "seen_at" bigint default 0 not null,
  "draining" integer default 0 not null,
  "stats_json" text
) without rowid;

CREATE TABLE "nodes" (
  "node_id" text primary key,
  "boot" text not null,
  "dead" integer not null,
  "version" text not null,
  "started_at" bigint not null,
  "host" text,
  "address" text,
  "generation" integer default 0 not null
) without rowid;

CREATE TABLE "owners" (
  "owner_id" text primary key,
  "email" text unique,
  "name_json" text,
  "administrator" integer not null,
  "created_at" bigint not null
) without rowid;

CREATE TABLE "passwords" (
  "owner_id" text primary key,
  "password_hash" text not null,
  "changed_at" bigint not null
) without rowid;

CREATE TABLE "pending_blobs" (
  "batch_id" text not null primary key,
  "node_id" text not null,
  "integration_id" text not null,
  "erased_id" text,
  "path" text,
  "keys_json" text not null,
  "abandoned" bigint default 0 not null
) without rowid;

CREATE TABLE "people" (
  "person_id" text not null primary key,
  "owner_id" text not null,
  "email" text unique,
  "name_json" text,
  "role" text not null,
  "created_at" bigint not null,
  "last_seen_at" bigint
) without rowid;
CREATE INDEX "people_list" on "people" ("owner_id", "created_at", "person_id");

CREATE TABLE "run_readers" (
  "run_id" text not null,
  "node_id" text not null,
  constraint "run_readers_key" primary key ("run_id", "node_id")
) without rowid;

CREATE TABLE "runs" (
  "run_id" text primary key,
  "integration_id" text not null,
  "chat_key" text not null,
  "consumer_id" text,
  "usage_request_id" text,
  "fingerprint" text,
  "status" text not null,
  "agency" text not null,
  "agent" text not null,
  "node_id" text not null,
  "attempt" integer not null,
  "crashes" integer not null,
  "step" integer not null,
  "journal_format" integer not null,
  "held" bigint not null,
  "unit" text,
  "day" integer not null,
  "period" text,
  "period_start" bigint,
  "user_context_json" text,
  "cancel_requested_at" bigint,
  "cancel_mode" text,
  "last_event_id" bigint,
  "error_code" text,
  "error_message" text,
  "request_count" integer not null,
  "input_tokens" bigint not null,
  "cached_tokens" bigint not null,
  "output_tokens" bigint not null,
  "reasoning_tokens" bigint not null,
  "by_model_json" text not null,
  "charged_runs" integer,
  "charged_tokens" bigint,
  "charged_credits" bigint,
  "created_at" bigint not null,
  "started_at" bigint,
  "completed_at" bigint,
  "compacted_at" bigint,
  "agency_version" text,
  "structured" integer default 0 not null,
  "file_access" text default 'chat' not null,
  "member_folder" text,
  "continues" text,
  "answers_json" text,
  "client_tools_json" text,
  "tracked" integer default 0 not null,
  "only_step_json" text,
  "counted" integer default 0 not null,
  "extras_json" text,
  "response_deleted_at" bigint,
  "first_token_ms" bigint,
  "currency" text,
  "rerun_of" text,
  "rerun_after_step" bigint
) without rowid;
CREATE INDEX "reruns" on "runs" ((coalesce(integration_id, '')), "created_at", "run_id") where rerun_of is not null;
CREATE INDEX "runs_agent" on "runs" ("integration_id", "agent", "created_at", "run_id");
CREATE INDEX "runs_consumer" on "runs" ("integration_id", "consumer_id", "created_at", "run_id") where consumer_id is not null;
CREATE INDEX "runs_integration" on "runs" ("integration_id", "created_at", "run_id");
CREATE INDEX "runs_rerun_of" on "runs" ("rerun_of", "created_at", "run_id") where rerun_of is not null;
CREATE UNIQUE INDEX "runs_usage_request" on "runs" ("integration_id", "usage_request_id") where usage_request_id is not null;

CREATE TABLE "schedule_ticks" (
  "schedule_id" text not null,
  "tick_at" bigint not null,
  "run_id" text,
  "code" text,
  "error_json" text,
  "recorded_at" bigint not null,
  constraint "schedule_ticks_key" primary key ("schedule_id", "tick_at")
) without rowid;
CREATE INDEX "schedule_ticks_recorded" on "schedule_ticks" ("recorded_at");

CREATE TABLE "schedules" (
  "schedule_id" text not null primary key,
  "integration_id" text not null,
  "name_json" text not null,
  "cron" text,
  "every_seconds" bigint,
  "at" bigint,
  "timezone" text not null,
  "request_json" text not null,
  "consumer_id" text,
  "catch_up" text not null,
  "active" bigint not null,
  "paused_reason" text,
  "last_tick_at" bigint not null,
  "next_tick_at" bigint,
  "due_at" bigint,
  "tries" bigint not null,
  "retry_code" text,
  "failures" bigint not null,
  "uncounted_runs_json" text not null,
  "claimed_by" text,
  "created_at" bigint not null,
  "updated_at" bigint not null
);
CREATE INDEX "schedules_consumer" on "schedules" ("integration_id", "consumer_id") where consumer_id is not null;
CREATE INDEX "schedules_due" on "schedules" ("due_at") where due_at is not null;
CREATE INDEX "schedules_list" on "schedules" ("integration_id", "created_at", "schedule_id");
CREATE TRIGGER search_docs_added after insert on search_docs begin
    insert into search_index (rowid, words) values (new.doc, new.words); end;
CREATE TRIGGER search_docs_deleted after delete on search_docs begin
    insert into search_index (search_index, rowid, words) values ('delete', old.doc, old.words); end;

CREATE TABLE search_docs (
  doc integer primary key,
  run_id text not null unique,
  chat_key text not null,
  words text not null
);
CREATE VIRTUAL TABLE search_index using fts5 (
    words, content = 'search_docs', content_rowid = 'doc', detail = none, columnsize = 0, tokenize = 'ascii');

CREATE TABLE 'search_index_config'(
  k PRIMARY KEY,
  v
) WITHOUT ROWID;

CREATE TABLE 'search_index_data'(
  id INTEGER PRIMARY KEY,
  block BLOB
);

CREATE TABLE 'search_index_idx'(
  segid,
  term,
  pgno,
  PRIMARY KEY(segid, term)
) WITHOUT ROWID;

CREATE TABLE "search_state" (
  "id" integer primary key,
  "position" text not null,
  "rest" text
);
CREATE VIRTUAL TABLE search_terms using fts5vocab ('search_index', 'instance');

CREATE TABLE "search_waiting" (
  "chat_key" text not null,
  "run_id" text not null,
  "due_at" bigint not null,
  constraint "search_waiting_key" primary key ("chat_key", "run_id")
) without rowid;

CREATE TABLE "sessions" (
  "session_id" text primary key,
  "owner_id" text not null,
  "secret_hash" text not null,
  "created_at" bigint not null,
  "used_at" bigint not null
) without rowid;
CREATE INDEX "sessions_owner" on "sessions" ("owner_id", "session_id");
CREATE UNIQUE INDEX "sessions_secret" on "sessions" ("secret_hash");

CREATE TABLE "set_up_links" (
  "owner_id" text primary key,
  "secret_hash" text not null,
  "created_at" bigint not null,
  "expires_at" bigint
) without rowid;
CREATE UNIQUE INDEX "set_up_links_secret" on "set_up_links" ("secret_hash");

CREATE TABLE "shared_runs" (
  "run_id" text not null,
  "chat_key" text not null,
  constraint "shared_runs_key" primary key ("run_id", "chat_key")
) without rowid;
CREATE INDEX "shared_runs_chat" on "shared_runs" ("chat_key");

CREATE TABLE "sign_in_failures" (
  "failure_id" text primary key,
  "subject" text not null,
  "failed_at" bigint not null
) without rowid;
CREATE INDEX "sign_in_failures_subject" on "sign_in_failures" ("subject", "failed_at");

CREATE TABLE "skipped_runs" (
  "run_id" text not null primary key
);
CREATE TRIGGER steps_without_images after delete on steps begin
    delete from tool_images where run_id = old.run_id; end;

CREATE TABLE "steps" (
  "run_id" text not null,
  "step" integer not null,
  "attempt" integer not null,
  "kind" text not null,
  "agent" text not null,
  "caller_agent" text,
  "model" text,
  "tool" text,
  "call_id" text,
  "status" text not null,
  "first_event_id" bigint not null,
  "last_event_id" bigint not null,
  "record_json" text not null,
  "started_at" bigint not null,
  "completed_at" bigint not null,
  "loop" text default '' not null,
  "index_in_loop" integer default 0 not null,
  constraint "steps_key" primary key ("run_id", "step")
);

CREATE TABLE "sweep_positions" (
  "name" text not null primary key,
  "position" text not null
);
CREATE TRIGGER tool_images_deleted after delete on tool_images begin
    update blobs set unused_since = cast(unixepoch('subsec') * 1000 as integer) where blob_key = old.blob_key
      and not exists (select 1 from tool_images i where i.blob_key = old.blob_key); end;

CREATE TABLE "tool_images" (
  "run_id" text not null,
  "attachment_id" text not null,
  "chat_key" text not null,
  "blob_key" text not null,
  "media_type" text not null,
  "size_bytes" bigint not null,
  constraint "tool_images_key" primary key ("run_id", "attachment_id")
) without rowid;
CREATE INDEX "tool_images_blob" on "tool_images" ("blob_key");
CREATE INDEX "tool_images_chat" on "tool_images" ("chat_key");

CREATE TABLE "transient_chats" (
  "chat_key" text not null primary key,
  "due_at" bigint not null
) without rowid;
CREATE INDEX "transient_chats_due" on "transient_chats" ("due_at", "chat_key");

CREATE TABLE "uncounted_runs" (
  "run_id" text primary key,
  "integration_id" text not null
) without rowid;

CREATE TABLE "unfinished_steps" (
  "run_id" text not null,
  "step" integer not null,
  "attempt" integer not null,
  "kind" text not null,
  "loop" text not null,
  "index_in_loop" integer not null,
  "agent" text not null,
  "caller_agent" text,
  "model" text,
  "tool" text,
  "call_id" text,
  "status" text not null,
  "first_event_id" bigint not null,
  "last_event_id" bigint not null,
  "record_json" text not null,
  "started_at" bigint not null,
  "completed_at" bigint not null,
  constraint "unfinished_steps_key" primary key ("run_id", "step")
);

CREATE TABLE "unsuccessful_runs" (
  "integration_id" text not null,
  "status" text not null,
  "created_at" bigint not null,
  "run_id" text not null,
  constraint "unsuccessful_runs_key" primary key ("integration_id", "status", "created_at", "run_id")
) without rowid;

CREATE TABLE "upload_forms" (
  "integration_id" text not null,
  "form_id" text not null,
  "path" text not null,
  "size_bytes" bigint not null,
  "signed_at" bigint not null,
  "expires_at" bigint not null,
  "content_type" text default '' not null,
  "to_s3" integer default 0 not null,
  "settled_drop" text,
  "version" bigint default 0 not null,
  constraint "upload_forms_key" primary key ("integration_id", "path", "form_id")
) without rowid;
CREATE INDEX "upload_forms_signed" on "upload_forms" ("signed_at");

CREATE TABLE "upload_secrets" (
  "number" integer primary key,
  "made_at" bigint not null,
  "retired_at" bigint
);

CREATE TABLE "usage_days" (
  "integration_id" text not null,
  "consumer_id" text not null,
  "day" integer not null,
  "runs" bigint not null,
  "tokens" bigint not null,
  "credits" bigint not null,
  "credit_millionths" bigint default 0 not null,
  "ended_runs" bigint default 0 not null,
  "request_count" bigint default 0 not null,
  "input_tokens" bigint default 0 not null,
  "cached_tokens" bigint default 0 not null,
  "output_tokens" bigint default 0 not null,
  "reasoning_tokens" bigint default 0 not null,
  "charged_runs" bigint default 0 not null,
  "charged_tokens" bigint default 0 not null,
  "charged_credits" bigint default 0 not null,
  "newest_run_id" text default '' not null,
  "measures_json" text default '{}' not null,
  constraint "usage_days_key" primary key ("integration_id", "consumer_id", "day")
) without rowid;

CREATE TABLE "usage_hours" (
  "integration_id" text not null,
  "hour" integer not null,
  "agent" text not null,
  "model" text not null,
  "node_id" text not null,
  "status" text not null,
  "error_code" text not null,
  "agency_version" text not null,
  "has_member" integer not null,
  "rerun" integer not null,
  "runs" bigint not null,
  "model_runs" bigint not null,
  "charged_model_runs" bigint not null,
  "request_count" bigint not null,
  "input_tokens" bigint not null,
  "cached_tokens" bigint not null,
  "output_tokens" bigint not null,
  "reasoning_tokens" bigint not null,
  "charged_runs" bigint not null,
  "charged_tokens" bigint not null,
  "charged_credits" bigint not null,
  "newest_run_id" text not null,
  "measures_json" text default '{}' not null,
  constraint "usage_hours_key" primary key ("integration_id", "hour", "agent", "model", "node_id", "status", "error_code", "agency_version", "has_member", "rerun")
) without rowid;

CREATE TABLE "usage_walk" (
  "id" integer primary key,
  "after_run_id" text not null,
  "last_run_id" text not null
);

CREATE TABLE "webhook_checks" (
  "check_id" text not null primary key,
  "integration_id" text not null,
  "consumer_id" text not null,
  "amount_millionths" bigint not null,
  "limit_amount" bigint not null
);

CREATE TABLE "webhook_deliveries" (
  "delivery_id" text not null primary key,
  "integration_id" text not null,
  "endpoint_id" text not null,
  "event_id" text not null,
  "type" text not null,
  "run_id" text,
  "status" text not null,
  "attempts" integer default 0 not null,
  "next_attempt_at" bigint,
  "claim_id" text,
  "last_status" integer,
  "last_error" text,
  "answer_json" text,
  "created_at" bigint not null,
  "delivered_at" bigint,
  "settled_at" bigint
);
CREATE INDEX "webhook_deliveries_endpoint" on "webhook_deliveries" ("endpoint_id", "created_at", "delivery_id");
CREATE INDEX "webhook_deliveries_event" on "webhook_deliveries" ("event_id");
CREATE INDEX "webhook_deliveries_pending" on "webhook_deliveries" ("endpoint_id", "next_attempt_at", "delivery_id") where status = 'pending';
CREATE INDEX "webhook_deliveries_settled" on "webhook_deliveries" ("settled_at", "delivery_id") where settled_at is not null;

CREATE TABLE "webhook_endpoints" (
  "endpoint_id" text not null primary key,
  "integration_id" text not null,
  "url" text,
  "events" text not null,
  "description_json" text,
  "active" integer not null,
  "disabled_reason" text,
  "failing_since" bigint,
  "secret_number" bigint not null,
  "rotated_at" bigint,
  "created_at" bigint not null,
  "updated_at" bigint not null
);
CREATE INDEX "webhook_endpoints_integration" on "webhook_endpoints" ("integration_id", "created_at", "endpoint_id");

CREATE TABLE "webhook_events" (
  "event_id" text not null primary key,
  "integration_id" text not null,
  "type" text not null,
  "run_id" text,
  "consumer_id" text,
  "path" text,
  "once_key" text unique,
  "body_json" text not null,
  "created_at" bigint not null
);
CREATE INDEX "webhook_events_created" on "webhook_events" ("created_at");
CREATE INDEX "webhook_events_integration" on "webhook_events" ("integration_id", "created_at", "event_id");
CREATE INDEX "webhook_events_member" on "webhook_events" ("integration_id", "consumer_id") where consumer_id is not null;
CREATE INDEX "webhook_events_path" on "webhook_events" ("integration_id", "path") where path is not null;

-- PostgreSQL


create table "active_runs" (
  integration_id text collate "C" not null,
  consumer_id text collate "C" not null,
  chat_key text collate "C" not null,
  run_id text collate "C" not null,
  node_id text collate "C" not null,
  held bigint not null,
  unit text collate "C",
  day integer not null,
  constraint active_runs_key PRIMARY KEY (integration_id, consumer_id, chat_key)
);

create table "adjustments" (
  adjustment_id text collate "C" not null,
  integration_id text collate "C" not null,
  consumer_id text collate "C" not null,
  idempotency_key_json text collate "C" not null,
  unit text collate "C" not null,
  amount_json text collate "C" not null,
  applied_json text collate "C" not null,
  reason_json text collate "C",
  period_start bigint,
  created_at bigint not null,
  constraint adjustments_pkey PRIMARY KEY (adjustment_id)
);
CREATE INDEX adjustments_consumer ON adjustments USING btree (integration_id, consumer_id, created_at, adjustment_id);
CREATE UNIQUE INDEX adjustments_idempotency ON adjustments USING btree (integration_id, consumer_id, idempotency_key_json);
CREATE INDEX adjustments_newest ON adjustments USING btree (integration_id, created_at, adjustment_id);

create table "agency_definitions" (
  agency text collate "C" not null,
  version text collate "C" not null,
  definition_json text collate "C" not null,
  seen_at bigint not null,
  run_id text collate "C",
  constraint agency_definitions_key PRIMARY KEY (agency, version)
);

create table "announced_files" (
  chat_key text collate "C" not null,
  path text collate "C" not null,
  constraint announced_files_key PRIMARY KEY (chat_key, path)
);

create table "api_keys" (
  key_id text collate "C" not null,
  owner_id text collate "C" not null,
  name_json text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint,
  revoked_at bigint,
  role text collate "C" not null default 'manager'::text,
  integrations_json text collate "C",
  creator_id text collate "C",
  creator_json text collate "C",
  constraint api_keys_pkey PRIMARY KEY (key_id)
);
CREATE INDEX api_keys_owner ON api_keys USING btree (owner_id, key_id);

create table "asked_questions" (
  question_id text collate "C" not null,
  chat_key text collate "C" not null,
  run_id text collate "C" not null,
  call_id_json text collate "C" not null,
  owner_id text collate "C",
  question_json text collate "C",
  answered_run_id text collate "C",
  answer_json text collate "C",
  asked_at bigint,
  settled_at bigint,
  remembered_tool text collate "C",
  constraint asked_questions_pkey PRIMARY KEY (question_id)
);
CREATE INDEX asked_questions_answered ON asked_questions USING btree (owner_id, asked_at, question_id) WHERE (answer_json IS NOT NULL);
CREATE INDEX asked_questions_chat ON asked_questions USING btree (chat_key);
CREATE INDEX asked_questions_list ON asked_questions USING btree (owner_id, asked_at, question_id);
CREATE INDEX asked_questions_open ON asked_questions USING btree (owner_id, asked_at, question_id) WHERE (settled_at IS NULL);
CREATE INDEX asked_questions_remembered ON asked_questions USING btree (chat_key, remembered_tool) WHERE (remembered_tool IS NOT NULL);

create table "attachments" (
  chat_key text collate "C" not null,
  run_id text collate "C" not null,
  "position" integer not null,
  blob_key text collate "C",
  media_type text collate "C",
  size_bytes bigint,
  detail text collate "C" not null,
  kind text collate "C" not null default 'input_image'::text,
  url text collate "C",
  url_key text collate "C",
  filename_json text collate "C",
  form text collate "C" default 'image'::text,
  pages integer,
  constraint attachments_key PRIMARY KEY (chat_key, run_id, "position")
);
CREATE INDEX attachments_blob ON attachments USING btree (blob_key);
CREATE INDEX attachments_without_copy ON attachments USING btree (chat_key) WHERE ((url IS NOT NULL) AND (blob_key IS NULL));

create table "audit_events" (
  event_id text collate "C" not null,
  owner_id text collate "C" not null,
  at bigint not null,
  actor_kind text collate "C" not null,
  actor_id text collate "C",
  actor_name_json text collate "C",
  operation text collate "C" not null,
  target_kind text collate "C" not null,
  target_id text collate "C" not null,
  changes_json text collate "C",
  request_id text collate "C",
  address text collate "C",
  integration_id text collate "C",
  consumer_id text collate "C",
  path text collate "C",
  constraint audit_events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX audit_actor ON audit_events USING btree (owner_id, actor_id, at, event_id);
CREATE INDEX audit_age ON audit_events USING btree (at);
CREATE INDEX audit_list ON audit_events USING btree (owner_id, at, event_id);
CREATE INDEX audit_member ON audit_events USING btree (integration_id, consumer_id) WHERE (consumer_id IS NOT NULL);
CREATE INDEX audit_operation ON audit_events USING btree (owner_id, operation, at, event_id);
CREATE INDEX audit_path ON audit_events USING btree (integration_id, path) WHERE (path IS NOT NULL);
CREATE INDEX audit_target ON audit_events USING btree (owner_id, target_kind, target_id, at, event_id);

create table "blob_folder" (
  id integer not null,
  mark text collate "C" not null,
  kind text collate "C" not null default 'disk'::text,
  constraint blob_folder_pkey PRIMARY KEY (id)
);

create table "blobs" (
  integration_id text collate "C" not null,
  sha256 text collate "C" not null,
  blob_key text collate "C" not null,
  size_bytes bigint not null,
  created_at bigint not null,
  unused_since bigint,
  constraint blobs_key PRIMARY KEY (integration_id, sha256),
  constraint blobs_blob_key_key UNIQUE (blob_key)
);
CREATE INDEX blobs_unused ON blobs USING btree (unused_since, blob_key) WHERE (unused_since IS NOT NULL);

create table "chats" (
  chat_key text collate "C" not null,
  integration_id text collate "C" not null,
  chat_id text collate "C" not null,
  alias text collate "C",
  consumer_id text collate "C",
  num_messages integer not null,
  text_bytes bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  title_json text collate "C",
  metadata_json text collate "C",
  questions_json text collate "C",
  asking_run_id text collate "C",
  forked_from text collate "C",
  forked_run_id text collate "C",
  replaced_by text collate "C",
  former_chat_id text collate "C",
  former_alias text collate "C",
  transient integer not null default 0,
  updated_hour bigint generated always as (updated_at / 3600000) stored,
  summary_run_id text,
  constraint chats_pkey PRIMARY KEY (chat_key)
);
CREATE UNIQUE INDEX chats_alias ON chats USING btree (integration_id, alias) WHERE ((deleted_at IS NULL) AND (alias IS NOT NULL));
CREATE INDEX chats_consumer ON chats USING btree (integration_id, consumer_id, created_at, chat_key) WHERE (consumer_id IS NOT NULL);
CREATE INDEX chats_forked ON chats USING btree (forked_from) WHERE (forked_from IS NOT NULL);
CREATE UNIQUE INDEX chats_id ON chats USING btree (integration_id, chat_id) WHERE (deleted_at IS NULL);
CREATE INDEX chats_newest ON chats USING btree (integration_id, created_at, chat_key) WHERE ((deleted_at IS NULL) AND (transient = 0));
CREATE INDEX chats_replaced ON chats USING btree (replaced_by) WHERE (replaced_by IS NOT NULL);
CREATE INDEX chats_updated ON chats USING btree (integration_id, updated_hour, chat_key) WHERE ((deleted_at IS NULL) AND (transient = 0) AND (updated_hour IS NOT NULL));
CREATE INDEX chats_waiting ON chats USING btree (integration_id, created_at, chat_key) WHERE ((asking_run_id IS NOT NULL) AND (deleted_at IS NULL) AND (transient = 0));

create table "commit_marks" (
  process text collate "C" not null,
  connection bigint not null,
  serial bigint not null,
  raised_at bigint not null,
  constraint commit_marks_key PRIMARY KEY (process, connection)
);

create table "compacted_chunks" (
  run_id text collate "C" not null,
  first_id bigint not null,
  last_id bigint not null,
  data text collate "C" not null,
  constraint compacted_chunks_key PRIMARY KEY (run_id, first_id)
);

create table "erased_blobs" (
  integration_id text collate "C" not null,
  erased_id text collate "C" not null,
  blob_key text collate "C" not null,
  constraint erased_blobs_key PRIMARY KEY (integration_id, erased_id, blob_key)
);

create table "erasures" (
  integration_id text collate "C" not null,
  erased_id text collate "C" not null,
  consumer_id text collate "C",
  folder_id text collate "C",
  started_at bigint not null,
  replaced_at bigint,
  finished_at bigint,
  has_content bigint not null default 1,
  deleted_at bigint,
  constraint erasures_key PRIMARY KEY (integration_id, erased_id)
);
CREATE INDEX erasures_finished ON erasures USING btree (finished_at);
CREATE INDEX erasures_folder ON erasures USING btree (folder_id) WHERE (folder_id IS NOT NULL);

create table "event_chunks" (
  run_id text collate "C" not null,
  first_id bigint not null,
  last_id bigint not null,
  data text collate "C" not null,
  constraint event_chunks_key PRIMARY KEY (run_id, first_id)
) partition by RANGE (run_id);

create table "files" (
  integration_id text collate "C" not null,
  path text collate "C" not null,
  blob_key text collate "C" not null,
  size_bytes bigint not null,
  etag text collate "C" not null,
  content_type text collate "C" not null,
  modified_at bigint not null,
  signed_at bigint,
  chat_key text collate "C",
  text_key text collate "C",
  freed_at bigint,
  constraint files_pkey PRIMARY KEY (blob_key)
);
CREATE INDEX files_chat ON files USING btree (chat_key, path) WHERE ((chat_key IS NOT NULL) AND (freed_at IS NULL));
CREATE INDEX files_freed ON files USING btree (freed_at, integration_id) WHERE (freed_at IS NOT NULL);
CREATE UNIQUE INDEX files_path ON files USING btree (integration_id, path) WHERE (freed_at IS NULL);
CREATE INDEX files_text ON files USING btree (text_key) WHERE (text_key IS NOT NULL);

create table "folder_bytes" (
  integration_id text collate "C" not null,
  folder text collate "C" not null,
  bytes bigint not null,
  constraint folder_bytes_key PRIMARY KEY (integration_id, folder)
);

create table "installation" (
  id integer not null,
  accounts_version bigint not null,
  created_at bigint not null,
  constraint installation_pkey PRIMARY KEY (id)
);

create table "installation_secret" (
  id integer not null,
  secret text collate "C" not null,
  constraint installation_secret_pkey PRIMARY KEY (id)
);

create table "integrations" (
  integration_id text collate "C" not null,
  sort_key text collate "C" not null,
  owner_id text collate "C" not null,
  name_json text collate "C" not null,
  agency text collate "C" not null,
  default_agent text collate "C" not null,
  text_only integer not null,
  allowance_unit text collate "C",
  allowance_limit bigint,
  allowance_period text collate "C",
  on_disconnect text collate "C" not null,
  max_run_seconds integer not null,
  max_runs_per_member integer,
  keep_attachments integer not null,
  created_at bigint not null,
  updated_at bigint not null,
  deleted_at bigint,
  files_deleted_at bigint,
  model text,
  file_access text collate "C" not null default 'chat'::text,
  member_folder text collate "C" not null default '/app/mnt/members/{consumerId}'::text,
  file_bytes bigint not null default 0,
  client_tools integer not null default 0,
  quota_bytes bigint,
  member_quota_bytes bigint,
  counted_bytes bigint,
  leftovers bigint not null default 1,
  caller_instructions integer not null default 0,
  auto_register integer not null default 0,
  compatible_apis text collate "C" not null default 'openai,
  ai-sdk,
  ag-ui,
  mcp,
  agency-swarm'::text,
  constraint integrations_pkey PRIMARY KEY (integration_id)
);
CREATE INDEX integrations_owner ON integrations USING btree (owner_id, created_at, sort_key);

create table "members" (
  integration_id text collate "C" not null,
  consumer_id text collate "C" not null,
  sort_key text collate "C" not null,
  name_json text collate "C",
  active integer not null,
  metadata_json text collate "C" not null,
  own_limit bigint,
  created_at bigint not null,
  updated_at bigint not null,
  constraint members_key PRIMARY KEY (integration_id, consumer_id)
);
CREATE INDEX members_by_consumer_id ON members USING btree (integration_id, lower(consumer_id), created_at, sort_key);
CREATE INDEX members_by_name_json ON members USING btree (integration_id, lower(name_json), created_at, sort_key);
CREATE INDEX members_by_word_2 ON members USING btree (integration_id, lower(
CASE
    WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
    ELSE NULL::text
END), created_at, sort_key, consumer_id) WHERE (
CASE
    WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
    ELSE NULL::text
END IS NOT NULL);
CREATE INDEX members_by_word_3 ON members USING btree (integration_id, lower(
CASE
    WHEN (instr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) > 0) THEN substr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, (instr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) + 1))
    ELSE NULL::text
END), created_at, sort_key, consumer_id) WHERE (
CASE
    WHEN (instr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) > 0) THEN substr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, (instr(
    CASE
        WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) + 1))
    ELSE NULL::text
END IS NOT NULL);
CREATE INDEX members_by_word_4 ON members USING btree (integration_id, lower(
CASE
    WHEN (instr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) > 0) THEN substr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, (instr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) + 1))
    ELSE NULL::text
END), created_at, sort_key, consumer_id) WHERE (
CASE
    WHEN (instr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) > 0) THEN substr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, (instr(
    CASE
        WHEN (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) > 0) THEN substr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, (instr(
        CASE
            WHEN (instr(name_json, ' '::text) > 0) THEN substr(name_json, (instr(name_json, ' '::text) + 1))
            ELSE NULL::text
        END, ' '::text) + 1))
        ELSE NULL::text
    END, ' '::text) + 1))
    ELSE NULL::text
END IS NOT NULL);
CREATE INDEX members_newest ON members USING btree (integration_id, created_at, sort_key);

create table "messages" (
  message_id text collate "C" not null,
  chat_key text collate "C" not null,
  "position" integer not null,
  run_id text collate "C" not null,
  role text collate "C" not null,
  status text collate "C" not null,
  agent text collate "C" not null,
  content_json text collate "C" not null,
  error_code text collate "C",
  error_message text collate "C",
  created_at bigint not null,
  sandbox_files_json text collate "C",
  constraint messages_key PRIMARY KEY (chat_key, "position")
);

create table "node_beats" (
  node_id text collate "C" not null,
  beat bigint not null,
  seen_at bigint not null default 0,
  draining integer not null default 0,
  stats_json text collate "C",
  constraint node_beats_pkey PRIMARY KEY (node_id)
);

create table "nodes" (
  node_id text collate "C" not null,
  boot text collate "C" not null,
  dead integer not null,
  version text collate "C" not null,
  started_at bigint not null,
  host text,
  address text,
  generation integer not null default 0,
  constraint nodes_pkey PRIMARY KEY (node_id),
  constraint nodes_generation_roles CHECK (((NOT (generation < 4)) OR (dead <> 0)))
);

create table "owners" (
  owner_id text collate "C" not null,
  email text collate "C",
  name_json text collate "C",
  administrator integer not null,
  created_at bigint not null,
  constraint owners_pkey PRIMARY KEY (owner_id),
  constraint owners_email_key UNIQUE (email)
);

create table "passwords" (
  owner_id text collate "C" not null,
  password_hash text collate "C" not null,
  changed_at bigint not null,
  constraint passwords_pkey PRIMARY KEY (owner_id)
);

create table "pending_blobs" (
  batch_id text collate "C" not null,
  node_id text collate "C" not null,
  integration_id text collate "C" not null,
  erased_id text collate "C",
  path text collate "C",
  keys_json text collate "C" not null,
  abandoned bigint not null default 0,
  constraint pending_blobs_pkey PRIMARY KEY (batch_id)
);

create table "people" (
  person_id text collate "C" not null,
  owner_id text collate "C" not null,
  email text collate "C",
  name_json text collate "C",
  role text collate "C" not null,
  created_at bigint not null,
  last_seen_at bigint,
  constraint people_pkey PRIMARY KEY (person_id),
  constraint people_email_key UNIQUE (email)
);
CREATE INDEX people_list ON people USING btree (owner_id, created_at, person_id);

create table "run_readers" (
  run_id text collate "C" not null,
  node_id text collate "C" not null,
  constraint run_readers_key PRIMARY KEY (run_id, node_id)
);

create table "runs" (
  run_id text collate "C" not null,
  integration_id text collate "C" not null,
  chat_key text collate "C" not null,
  consumer_id text collate "C",
  usage_request_id text collate "C",
  fingerprint text collate "C",
  status text collate "C" not null,
  agency text collate "C" not null,
  agent text collate "C" not null,
  node_id text collate "C" not null,
  attempt integer not null,
  crashes integer not null,
  step integer not null,
  journal_format integer not null,
  held bigint not null,
  unit text collate "C",
  day integer not null,
  period text collate "C",
  period_start bigint,
  user_context_json text collate "C",
  cancel_requested_at bigint,
  cancel_mode text collate "C",
  last_event_id bigint,
  error_code text collate "C",
  error_message text collate "C",
  request_count integer not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  by_model_json text collate "C" not null,
  charged_runs integer,
  charged_tokens bigint,
  charged_credits bigint,
  created_at bigint not null,
  started_at bigint,
  completed_at bigint,
  compacted_at bigint,
  agency_version text,
  structured integer not null default 0,
  file_access text collate "C" not null default 'chat'::text,
  member_folder text collate "C",
  continues text collate "C",
  answers_json text collate "C",
  client_tools_json text collate "C",
  tracked integer not null default 0,
  only_step_json text collate "C",
  counted integer not null default 0,
  extras_json text collate "C",
  response_deleted_at bigint,
  first_token_ms bigint,
  currency text collate "C",
  rerun_of text collate "C",
  rerun_after_step bigint,
  constraint runs_pkey PRIMARY KEY (run_id)
);
CREATE INDEX reruns ON runs USING btree (COALESCE(integration_id, ''::text), created_at, run_id) WHERE (rerun_of IS NOT NULL);
CREATE INDEX runs_agent ON runs USING btree (integration_id, agent, created_at, run_id);
CREATE INDEX runs_consumer ON runs USING btree (integration_id, consumer_id, created_at, run_id) WHERE (consumer_id IS NOT NULL);
CREATE INDEX runs_integration ON runs USING btree (integration_id, created_at, run_id);
CREATE INDEX runs_rerun_of ON runs USING btree (rerun_of, created_at, run_id) WHERE (rerun_of IS NOT NULL);
CREATE UNIQUE INDEX runs_usage_request ON runs USING btree (integration_id, usage_request_id) WHERE (usage_request_id IS NOT NULL);

create table "schedule_ticks" (
  schedule_id text collate "C" not null,
  tick_at bigint not null,
  run_id text collate "C",
  code text collate "C",
  error_json text collate "C",
  recorded_at bigint not null,
  constraint schedule_ticks_key PRIMARY KEY (schedule_id, tick_at)
);
CREATE INDEX schedule_ticks_recorded ON schedule_ticks USING btree (recorded_at);

create table "schedules" (
  schedule_id text collate "C" not null,
  integration_id text collate "C" not null,
  name_json text collate "C" not null,
  cron text collate "C",
  every_seconds bigint,
  at bigint,
  timezone text collate "C" not null,
  request_json text collate "C" not null,
  consumer_id text collate "C",
  catch_up text collate "C" not null,
  active bigint not null,
  paused_reason text collate "C",
  last_tick_at bigint not null,
  next_tick_at bigint,
  due_at bigint,
  tries bigint not null,
  retry_code text collate "C",
  failures bigint not null,
  uncounted_runs_json text collate "C" not null,
  claimed_by text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  constraint schedules_pkey PRIMARY KEY (schedule_id)
);
CREATE INDEX schedules_consumer ON schedules USING btree (integration_id, consumer_id) WHERE (consumer_id IS NOT NULL);
CREATE INDEX schedules_due ON schedules USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX schedules_list ON schedules USING btree (integration_id, created_at, schedule_id);

create table "search_docs" (
  run_id text collate "C" not null,
  chat_key text collate "C" not null,
  words tsvector not null,
  constraint search_docs_pkey PRIMARY KEY (run_id)
);
CREATE INDEX search_docs_words ON search_docs USING gin (words) WITH (gin_pending_list_limit='256');

create table "search_state" (
  id integer not null,
  "position" text collate "C" not null,
  rest text collate "C",
  constraint search_state_pkey PRIMARY KEY (id)
);

create table "search_waiting" (
  chat_key text collate "C" not null,
  run_id text collate "C" not null,
  due_at bigint not null,
  constraint search_waiting_key PRIMARY KEY (chat_key, run_id)
);

create table "sessions" (
  session_id text collate "C" not null,
  owner_id text collate "C" not null,
  secret_hash text collate "C" not null,
  created_at bigint not null,
  used_at bigint not null,
  constraint sessions_pkey PRIMARY KEY (session_id)
);
CREATE INDEX sessions_owner ON sessions USING btree (owner_id, session_id);
CREATE UNIQUE INDEX sessions_secret ON sessions USING btree (secret_hash);

create table "set_up_links" (
  owner_id text collate "C" not null,
  secret_hash text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  constraint set_up_links_pkey PRIMARY KEY (owner_id)
);
CREATE UNIQUE INDEX set_up_links_secret ON set_up_links USING btree (secret_hash);

create table "shared_runs" (
  run_id text collate "C" not null,
  chat_key text collate "C" not null,
  constraint shared_runs_key PRIMARY KEY (run_id, chat_key)
);
CREATE INDEX shared_runs_chat ON shared_runs USING btree (chat_key);

create table "sign_in_failures" (
  failure_id text collate "C" not null,
  subject text collate "C" not null,
  failed_at bigint not null,
  constraint sign_in_failures_pkey PRIMARY KEY (failure_id)
);
CREATE INDEX sign_in_failures_subject ON sign_in_failures USING btree (subject, failed_at);

create table "skipped_runs" (
  run_id text collate "C" not null,
  constraint skipped_runs_pkey PRIMARY KEY (run_id)
);

create table "steps" (
  run_id text collate "C" not null,
  step integer not null,
  attempt integer not null,
  kind text collate "C" not null,
  agent text collate "C" not null,
  caller_agent text collate "C",
  model text collate "C",
  tool text collate "C",
  call_id text collate "C",
  status text collate "C" not null,
  first_event_id bigint not null,
  last_event_id bigint not null,
  record_json text collate "C" not null,
  started_at bigint not null,
  completed_at bigint not null,
  loop text not null default ''::text,
  index_in_loop integer not null default 0,
  constraint steps_key PRIMARY KEY (run_id, step)
);

create table "sweep_positions" (
  name text collate "C" not null,
  "position" text collate "C" not null,
  constraint sweep_positions_pkey PRIMARY KEY (name)
);

create table "tool_images" (
  run_id text collate "C" not null,
  attachment_id text collate "C" not null,
  chat_key text collate "C" not null,
  blob_key text collate "C" not null,
  media_type text collate "C" not null,
  size_bytes bigint not null,
  constraint tool_images_key PRIMARY KEY (run_id, attachment_id)
);
CREATE INDEX tool_images_blob ON tool_images USING btree (blob_key);
CREATE INDEX tool_images_chat ON tool_images USING btree (chat_key);

create table "transient_chats" (
  chat_key text collate "C" not null,
  due_at bigint not null,
  constraint transient_chats_pkey PRIMARY KEY (chat_key)
);
CREATE INDEX transient_chats_due ON transient_chats USING btree (due_at, chat_key);

create table "uncounted_runs" (
  run_id text collate "C" not null,
  integration_id text collate "C" not null,
  constraint uncounted_runs_pkey PRIMARY KEY (run_id)
);

create table "unfinished_steps" (
  run_id text collate "C" not null,
  step integer not null,
  attempt integer not null,
  kind text collate "C" not null,
  loop text collate "C" not null,
  index_in_loop integer not null,
  agent text collate "C" not null,
  caller_agent text collate "C",
  model text collate "C",
  tool text collate "C",
  call_id text collate "C",
  status text collate "C" not null,
  first_event_id bigint not null,
  last_event_id bigint not null,
  record_json text collate "C" not null,
  started_at bigint not null,
  completed_at bigint not null,
  constraint unfinished_steps_key PRIMARY KEY (run_id, step)
);

create table "unsuccessful_runs" (
  integration_id text collate "C" not null,
  status text collate "C" not null,
  created_at bigint not null,
  run_id text collate "C" not null,
  constraint unsuccessful_runs_key PRIMARY KEY (integration_id, status, created_at, run_id)
);

create table "upload_forms" (
  integration_id text collate "C" not null,
  form_id text collate "C" not null,
  path text collate "C" not null,
  size_bytes bigint not null,
  signed_at bigint not null,
  expires_at bigint not null,
  content_type text collate "C" not null default ''::text,
  to_s3 integer not null default 0,
  settled_drop text collate "C",
  version bigint not null default 0,
  constraint upload_forms_key PRIMARY KEY (integration_id, path, form_id)
);
CREATE INDEX upload_forms_signed ON upload_forms USING btree (signed_at);

create table "upload_secrets" (
  number integer not null,
  made_at bigint not null,
  retired_at bigint,
  constraint upload_secrets_pkey PRIMARY KEY (number)
);

create table "usage_days" (
  integration_id text collate "C" not null,
  consumer_id text collate "C" not null,
  day integer not null,
  runs bigint not null,
  tokens bigint not null,
  credits bigint not null,
  credit_millionths bigint not null default 0,
  ended_runs bigint not null default 0,
  request_count bigint not null default 0,
  input_tokens bigint not null default 0,
  cached_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reasoning_tokens bigint not null default 0,
  charged_runs bigint not null default 0,
  charged_tokens bigint not null default 0,
  charged_credits bigint not null default 0,
  newest_run_id text collate "C" not null default ''::text,
  measures_json text collate "C" not null default '{}'::text,
  constraint usage_days_key PRIMARY KEY (integration_id, consumer_id, day)
);

create table "usage_hours" (
  integration_id text collate "C" not null,
  hour integer not null,
  agent text collate "C" not null,
  model text collate "C" not null,
  node_id text collate "C" not null,
  status text collate "C" not null,
  error_code text collate "C" not null,
  agency_version text collate "C" not null,
  has_member integer not null,
  rerun integer not null,
  runs bigint not null,
  model_runs bigint not null,
  charged_model_runs bigint not null,
  request_count bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  output_tokens bigint not null,
  reasoning_tokens bigint not null,
  charged_runs bigint not null,
  charged_tokens bigint not null,
  charged_credits bigint not null,
  newest_run_id text collate "C" not null,
  measures_json text collate "C" not null default '{}'::text,
  constraint usage_hours_key PRIMARY KEY (integration_id, hour, agent, model, node_id, status, error_code, agency_version, has_member, rerun)
);

create table "usage_walk" (
  id integer not null,
  after_run_id text collate "C" not null,
  last_run_id text collate "C" not null,
  constraint usage_walk_pkey PRIMARY KEY (id)
);

create table "webhook_checks" (
  check_id text collate "C" not null,
  integration_id text collate "C" not null,
  consumer_id text collate "C" not null,
  amount_millionths bigint not null,
  limit_amount bigint not null,
  constraint webhook_checks_pkey PRIMARY KEY (check_id)
);

create table "webhook_deliveries" (
  delivery_id text collate "C" not null,
  integration_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  type text collate "C" not null,
  run_id text collate "C",
  status text collate "C" not null,
  attempts integer not null default 0,
  next_attempt_at bigint,
  claim_id text collate "C",
  last_status integer,
  last_error text collate "C",
  answer_json text collate "C",
  created_at bigint not null,
  delivered_at bigint,
  settled_at bigint,
  constraint webhook_deliveries_pkey PRIMARY KEY (delivery_id)
);
CREATE INDEX webhook_deliveries_endpoint ON webhook_deliveries USING btree (endpoint_id, created_at, delivery_id);
CREATE INDEX webhook_deliveries_event ON webhook_deliveries USING btree (event_id);
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries USING btree (endpoint_id, next_attempt_at, delivery_id) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries USING btree (settled_at, delivery_id) WHERE (settled_at IS NOT NULL);

create table "webhook_endpoints" (
  endpoint_id text collate "C" not null,
  integration_id text collate "C" not null,
  url text collate "C",
  events text collate "C" not null,
  description_json text collate "C",
  active integer not null,
  disabled_reason text collate "C",
  failing_since bigint,
  secret_number bigint not null,
  rotated_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  constraint webhook_endpoints_pkey PRIMARY KEY (endpoint_id)
);
CREATE INDEX webhook_endpoints_integration ON webhook_endpoints USING btree (integration_id, created_at, endpoint_id);

create table "webhook_events" (
  event_id text collate "C" not null,
  integration_id text collate "C" not null,
  type text collate "C" not null,
  run_id text collate "C",
  consumer_id text collate "C",
  path text collate "C",
  once_key text collate "C",
  body_json text collate "C" not null,
  created_at bigint not null,
  constraint webhook_events_pkey PRIMARY KEY (event_id),
  constraint webhook_events_once_key_key UNIQUE (once_key)
);
CREATE INDEX webhook_events_created ON webhook_events USING btree (created_at);
CREATE INDEX webhook_events_integration ON webhook_events USING btree (integration_id, created_at, event_id);
CREATE INDEX webhook_events_member ON webhook_events USING btree (integration_id, consumer_id) WHERE (consumer_id IS NOT NULL);
CREATE INDEX webhook_events_path ON webhook_events USING btree (integration_id, path) WHERE (path IS NOT NULL);
