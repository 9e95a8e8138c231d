import { type Kysely, sql } from 'kysely';
import type { StoredAttachment } from '../../domain/attachment/attachment.ts';
import type { ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import type { Schema } from '../schema.ts';
import { insertInto, pickColumns, statement } from '../statement.ts';
import { type PositionRange, runsOfRange } from './chats.ts';

export const blobByHash = statement('blob by hash', (db, p: { integrationId: IntegrationId; sha256: string }) =>
  db
    .selectFrom('blobs')
    .select('blob_key')
    .where('integration_id', '=', p.integrationId)
    .where('sha256', '=', p.sha256),
);

export const insertBlob = insertInto('blobs', [
  'integration_id',
  'sha256',
  'blob_key',
  'size_bytes',
  'created_at',
  { unused_since: null },
]);

/** Changes no row if the sweep has deleted the blob. */
export const useBlob = statement('use blob', (db, p: { blobKey: string }) =>
  db.updateTable('blobs').set({ unused_since: null }).where('blob_key', '=', p.blobKey),
);

const attachmentColumns = [
  'run_id',
  'position',
  'kind',
  'url',
  'url_key',
  'filename_json',
  'detail',
  'form',
  'media_type',
  'pages',
  'size_bytes',
  'blob_key',
] as const;

export const insertAttachment = insertInto('attachments', ['chat_key', ...attachmentColumns]);

const FETCHED_COLUMNS = ['form', 'media_type', 'pages', 'size_bytes', 'blob_key'] as const;

/** What a fetch finds out. `blob_key` is null if no copy is kept. */
export type FetchedColumns = Pick<StoredAttachment, (typeof FETCHED_COLUMNS)[number]>;

export const attachmentFetched = statement(
  'attachment fetched',
  (db, p: FetchedColumns & { chat_key: ChatKey; run_id: RunId; position: number }) =>
    db
      .updateTable('attachments')
      .set(pickColumns(p, FETCHED_COLUMNS))
      .where('chat_key', '=', p.chat_key)
      .where('run_id', '=', p.run_id)
      .where('position', '=', p.position),
);

/** Reads the messages' attachments at these positions. */
export const historyAttachments = statement('history attachments', (db, p: PositionRange) =>
  db
    .selectFrom('attachments')
    .select(attachmentColumns)
    .where('chat_key', '=', p.chatKey)
    .where('run_id', 'in', runsOfRange(db, p))
    .orderBy('run_id')
    .orderBy('position'),
);

/** Reads the attachments that must be fetched again for the next turn: those of ended turns that did not fail. */
export const earlierWithoutCopy = statement('earlier without copy', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('attachments as a')
    .leftJoin('runs as r', 'r.run_id', 'a.run_id')
    .select(['a.url', 'a.url_key'])
    .where('a.chat_key', '=', p.chatKey)
    .where(sql<boolean>`a.url is not null and a.blob_key is null and a.form is not null`)
    // Imported turns have no run.
    .where(sql<boolean>`coalesce(r.status, 'completed') in ('completed', 'cancelled')`)
    .orderBy('a.run_id')
    .orderBy('a.position')
    .$narrowType<{ url: string; url_key: string }>(),
);

/** Reads the URLs of all attachments of the chat. */
export const urlsOfChat = statement('urls of chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('attachments')
    .select(['run_id', 'position', 'url', 'url_key'])
    .where('chat_key', '=', p.chatKey)
    .where('url', 'is not', null)
    .$narrowType<{ url: string; url_key: string }>(),
);

export const refreshUrl = statement(
  'refresh url',
  (db, p: { chatKey: ChatKey; runId: RunId; position: number; url: string }) =>
    db
      .updateTable('attachments')
      .set({ url: p.url })
      .where('chat_key', '=', p.chatKey)
      .where('run_id', '=', p.runId)
      .where('position', '=', p.position),
);

export const attachmentsOfRun = statement('attachments of run', (db, p: { chatKey: ChatKey; runId: RunId }) =>
  db
    .selectFrom('attachments')
    .select(attachmentColumns)
    .where('chat_key', '=', p.chatKey)
    .where('run_id', '=', p.runId)
    .orderBy('position'),
);

export function attachmentsOfRuns(chatKey: ChatKey, runIds: readonly RunId[]) {
  return (db: Parameters<(typeof historyAttachments)['build']>[0]) =>
    db
      .selectFrom('attachments')
      .select(attachmentColumns)
      .where('chat_key', '=', chatKey)
      .where('run_id', 'in', [...runIds])
      .orderBy('run_id')
      .orderBy('position');
}

/** Call it after a message stopped referring to the blob. Another message may still do so: the sweep checks this. */
export const freeBlob = statement('free blob', (db, p: { blobKey: string; now: number }) =>
  db.updateTable('blobs').set({ unused_since: p.now }).where('blob_key', '=', p.blobKey),
);

const markBlobsOfChat = (db: Kysely<Schema>, chatKey: ChatKey, unusedSince: number | null) =>
  db
    .updateTable('blobs')
    .set({ unused_since: unusedSince })
    .where('blob_key', 'in', (eb) =>
      eb
        .selectFrom('attachments')
        .select('blob_key')
        .where('chat_key', '=', chatKey)
        .where('blob_key', 'is not', null)
        .$narrowType<{ blob_key: string }>(),
    );

/** Another chat may refer to the same blobs: the sweep checks this before it deletes them. */
export const freeBlobsOfChat = statement('free blobs of chat', (db, p: { chatKey: ChatKey; since: number }) =>
  markBlobsOfChat(db, p.chatKey, p.since),
);

/** Keeps the blobs that a fork's attachments refer to: a sweep that wants to delete one waits for this transaction. */
export const useBlobsOfChat = statement('use blobs of chat', (db, p: { chatKey: ChatKey }) =>
  markBlobsOfChat(db, p.chatKey, null),
);

export const deleteAttachments = statement('delete attachments', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('attachments').where('chat_key', '=', p.chatKey),
);

const unused = sql<boolean>`unused_since is not null`;

export const unusedBlobs = statement('unused blobs', (db, p: { until: number; limit: number }) =>
  db
    .selectFrom('blobs')
    .select('blob_key')
    .where(unused)
    .where('unused_since', '<=', p.until)
    .orderBy('unused_since')
    .orderBy('blob_key')
    .limit(p.limit),
);

const isReferredTo = sql<boolean>`(exists (select 1 from attachments where attachments.blob_key = blobs.blob_key)
  or exists (select 1 from tool_images where tool_images.blob_key = blobs.blob_key))`;

/** Checks the time again, because a request that refers to the blob may have reset it since the sweep read it. */
export const deleteBlobRow = statement('forget blob', (db, p: { blobKey: string; until: number }) =>
  db
    .deleteFrom('blobs')
    .where('blob_key', '=', p.blobKey)
    .where(unused)
    .where('unused_since', '<=', p.until)
    .where(sql<boolean>`not ${isReferredTo}`),
);

export const keepUsedBlob = statement('keep used blob', (db, p: { blobKey: string }) =>
  db.updateTable('blobs').set({ unused_since: null }).where('blob_key', '=', p.blobKey).where(isReferredTo),
);

/** The blobs among these that a row refers to. */
export function knownBlobs(blobKeys: readonly string[]) {
  return (db: Parameters<(typeof unusedBlobs)['build']>[0]) => {
    const among = (table: 'blobs' | 'files') =>
      db
        .selectFrom(table)
        .select('blob_key')
        .where('blob_key', 'in', [...blobKeys]);
    const texts = db
      .selectFrom('files')
      .select((eb) => eb.ref('text_key').$notNull().as('blob_key'))
      .where('text_key', 'in', [...blobKeys]);
    return among('blobs').union(among('files')).union(texts);
  };
}
