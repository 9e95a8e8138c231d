/**
 * What an installation is made of. Every table of the database stands in one of the two lists, and a test compares them
 * with the database; columns are read from the database itself.
 */
export const COPIED_TABLES = [
  'installation',
  // An unfinished run is taken over by what its node's row says.
  'nodes',
  'owners',
  'api_keys',
  'integrations',
  'members',
  'chats',
  'messages',
  'runs',
  'usage_days',
  'event_chunks',
  'steps',
  'blobs',
  'attachments',
  // Forms that were signed before stay valid to their end.
  'upload_secrets',
  'upload_forms',
] as const;

/** Tables that are not copied like the others. */
export const LEFT_TABLES = [
  // Copied in its own way: the embedded store keeps it in a file.
  'installation_secret',
  // These rows belong to processes of the source.
  'node_beats',
  'run_readers',
  'commit_marks',
  // The mark of the folder: a move takes it along, a restore makes a new one.
  'blob_folder',
  // Kysely's own: the copy's tables are made by its migrations.
  'kysely_migration',
  'kysely_migration_lock',
] as const;
