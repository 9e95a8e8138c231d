export { backup } from './commands/backup.ts';
export { createKey } from './commands/create-key.ts';
export { migrateToPostgres } from './commands/migrate.ts';
export { restore } from './commands/restore.ts';
export { rotateUploads } from './commands/rotate-upload-secret.ts';
export { serve } from './main.ts';
