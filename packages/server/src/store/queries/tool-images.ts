import { sql } from 'kysely';
import type { ChatKey, RunId } from '../../domain/ids.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import { raw } from './raw.ts';

/** A run that stores an image again, because it did not learn its commit's outcome, adds nothing. */
export const insertToolImage = insertInto(
  'tool_images',
  ['run_id', 'attachment_id', 'chat_key', 'blob_key', 'media_type', 'size_bytes'],
  { unlessExists: ['run_id', 'attachment_id'] },
);

export const toolImageOfRun = statement('tool image of run', (db, p: { runId: RunId; attachmentId: string }) =>
  db
    .selectFrom('tool_images')
    .select(['attachment_id', 'blob_key', 'media_type', 'size_bytes'])
    .where('run_id', '=', p.runId)
    .where('attachment_id', '=', p.attachmentId),
);

export type ToolImageRow = RowOf<typeof toolImageOfRun>;

/** Copies the images of a run for a rerun that keeps steps of it. */
export const copyToolImages = statement('copy tool images', (db, p: { from: RunId; runId: RunId; chatKey: ChatKey }) =>
  raw<never>(
    db,
    sql<never>`insert into tool_images (run_id, attachment_id, chat_key, blob_key, media_type, size_bytes)
        select cast(${p.runId} as text), attachment_id, cast(${p.chatKey} as text), blob_key, media_type, size_bytes
        from tool_images where run_id = ${p.from}`,
  ),
);

/** For a chat whose steps stay. Images are deleted with the steps of their run. A trigger frees their blobs. */
export const deleteToolImagesOfChat = statement('delete tool images of chat', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('tool_images').where('chat_key', '=', p.chatKey),
);
