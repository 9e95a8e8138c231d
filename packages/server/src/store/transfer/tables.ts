/**
 * Every table of the database is in one of the two lists, and a test compares the lists with the database. Columns are
 * read from the database.
 */
export const COPIED_TABLES = [
  'installation',
  // The state of a node decides how its unfinished runs are taken over.
  'nodes',
  'owners',
  'people',
  'audit_events',
  'api_keys',
  'passwords',
  'sessions',
  'set_up_links',
  'sign_in_failures',
  'integrations',
  'members',
  'chats',
  'transient_chats',
  'messages',
  'runs',
  'active_runs',
  'unsuccessful_runs',
  'shared_runs',
  'asked_questions',
  'usage_days',
  'usage_hours',
  'usage_walk',
  'uncounted_runs',
  'adjustments',
  'event_chunks',
  'compacted_chunks',
  'sweep_positions',
  'skipped_runs',
  'steps',
  'unfinished_steps',
  'agency_definitions',
  'blobs',
  'attachments',
  'tool_images',
  // Forms that were signed before the copy stay valid until they expire.
  'upload_secrets',
  'upload_forms',
  'files',
  'announced_files',
  'folder_bytes',
  'erasures',
  'erased_blobs',
  // The blobs of dead nodes are deleted by the installation that got the copy.
  'pending_blobs',
  'schedules',
  'schedule_ticks',
  'webhook_endpoints',
  'webhook_events',
  'webhook_checks',
  'webhook_deliveries',
] as const;

/** Tables that are not copied, or copied in another way. */
export const UNCOPIED_TABLES = [
  // Copied separately, because the embedded store has it in a file.
  'installation_secret',
  // These rows belong to processes of the source.
  'node_beats',
  'run_readers',
  'commit_marks',
  // The folder's mark: a move takes it along, a restore makes a new one.
  'blob_folder',
  // The loop builds the index of words again.
  'search_docs',
  'search_index',
  'search_index_config',
  'search_index_data',
  'search_index_idx',
  'search_terms',
  'search_state',
  'search_waiting',
  // Kysely's own tables: the migrations of the copy create them.
  'kysely_migration',
  'kysely_migration_lock',
] as const;
