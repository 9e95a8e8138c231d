import { sql } from 'kysely';
import type { ChatId, ChatKey, IntegrationId, RunId } from '../../domain/ids.ts';
import { insertInto, type RowOf, statement } from '../statement.ts';
import type { JsonRows } from './file-batches.ts';
import { type FileRange, isFileIn, NO_PATH } from './files.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

/** A person by the id that the caller chose. */
export interface Person {
  readonly integrationId: IntegrationId;
  readonly consumerId: string;
}

/** A person by the id that replaces the caller's. */
export interface ErasedPerson {
  readonly integrationId: IntegrationId;
  readonly erasedId: string;
}

export const getErasure = statement('erasure of', (db, p: ErasedPerson) =>
  db
    .selectFrom('erasures')
    .selectAll()
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId),
);

export type ErasureRow = RowOf<typeof getErasure>;

/** An erasure with the id is not finished: with this condition an index finds the few that are not. */
export const isRefused = sql<boolean>`consumer_id is not null and finished_at is null`;

/** Returns a row if the id is refused until it is replaced. */
export const refusedPerson = statement('refused person', (db, p: Person) =>
  db
    .selectFrom('erasures')
    .select('erased_id')
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId)
    .where(isRefused),
);

/**
 * Erasures that have to continue. Owners take turns, so that thousands of erasures of one owner do not delay those of
 * another; an owner's erasures are ordered by age.
 */
export const unfinishedErasures = statement('unfinished erasures', (db, p: { limit: number }) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('erasures as e')
        .leftJoin('integrations as i', 'i.integration_id', 'e.integration_id')
        .selectAll('e')
        .select((e) =>
          e.fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('i.owner_id').orderBy('e.started_at').orderBy('e.erased_id'))
            .as('turn'),
        )
        .where(sql<boolean>`e.finished_at is null and (e.deleted_at is null or e.deleted_at <> e.started_at)`)
        .as('waiting'),
    )
    .selectAll()
    .orderBy('turn')
    .orderBy('started_at')
    .orderBy('erased_id')
    .limit(p.limit),
);

/** Erasures that deleted everything and are not marked as finished. */
export const deletedErasures = statement('deleted erasures', (db, p: { limit: number }) =>
  db
    .selectFrom('erasures')
    .selectAll()
    .where(sql<boolean>`finished_at is null and deleted_at = started_at`)
    .orderBy('started_at')
    .limit(p.limit),
);

/**
 * Returns a row if anything is stored under the id. `content` is 0 if that is a member without name and metadata, which was
 * never changed, and if no deleted rows of the integration are left in the database's files.
 */
export const findAnythingToErase = statement('find anything to erase', (db, p: Person & FileRange) => {
  const member = sql`select 1 from members where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId}`;
  return raw<{ content: number }>(
    db,
    sql<{ content: number }>`
      select case when content = 1
        or exists (select 1 from integrations where integration_id = ${p.integrationId} and leftovers <> 0)
        then 1 else 0 end as content
      from (select case when
        exists (${member} and (name_json is not null or metadata_json <> '{}' or updated_at <> created_at))
        or exists (select 1 from chats where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from runs where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from usage_days where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from adjustments where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from schedules where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from audit_events where integration_id = ${p.integrationId} and consumer_id = ${p.consumerId})
        or exists (select 1 from files where ${isFileIn(p)})
        or exists (select 1 from upload_forms
          where integration_id = ${p.integrationId} and path >= ${p.from} and path < ${p.to})
        then 1 else 0 end as content) found
      where content = 1 or exists (${member})`,
  );
});

/** Begins an erasure, or begins again for a member that was registered after an earlier one. */
export const beginErasure = statement(
  'begin erasure',
  (db, p: Person & ErasedPerson & { readonly startedAt: number; readonly hasContent: number }) =>
    db
      .insertInto('erasures')
      .values({
        integration_id: p.integrationId,
        erased_id: p.erasedId,
        consumer_id: p.consumerId,
        folder_id: null,
        started_at: p.startedAt,
        replaced_at: null,
        finished_at: null,
        has_content: p.hasContent,
        deleted_at: null,
      })
      .onConflict((c) =>
        c.columns(['integration_id', 'erased_id']).doUpdateSet((eb) => ({
          consumer_id: eb.ref('excluded.consumer_id'),
          started_at: eb.ref('excluded.started_at'),
          finished_at: null,
          deleted_at: null,
          // An earlier erasure of the id may still wait for its rewrite.
          has_content: sql<number>`case when erasures.finished_at is null then 1 else excluded.has_content end`,
        })),
      ),
  { overwrites: true },
);

export const activeRunsOfPerson = statement('active runs of person', (db, p: Person) =>
  db
    .selectFrom('active_runs')
    .select('run_id')
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId),
);

/** The template of member folders, also of a deleted integration. */
export const readMemberFolder = statement('member folder of', (db, p: { integrationId: IntegrationId }) =>
  db.selectFrom('integrations').select('member_folder').where('integration_id', '=', p.integrationId),
);

type Replacement = Person & ErasedPerson;

/** The person's chats, deleted ones included. */
export const chatsOfPerson = statement('chats of person', (db, p: Person & { limit: number }) =>
  db
    .selectFrom('chats')
    .select(['chat_key', 'chat_id'])
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId)
    .limit(p.limit),
);

/** The person's runs. */
export const runsOfPerson = statement('runs of person', (db, p: Person & { limit: number }) =>
  db
    .selectFrom('runs')
    .select('run_id')
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId)
    .limit(p.limit),
);

/** The row stays for the runs that refer to it. */
export const replaceChat = statement(
  'replace chat',
  (db, p: { chatKey: ChatKey; erasedId: string; erasedChatId: ChatId; now: number }) =>
    db
      .updateTable('chats')
      .set((eb) => ({
        consumer_id: p.erasedId,
        chat_id: p.erasedChatId,
        alias: null,
        title_json: null,
        metadata_json: null,
        questions_json: null,
        asking_run_id: null,
        summary_run_id: null,
        former_chat_id: null,
        former_alias: null,
        updated_at: p.now,
        deleted_at: eb.fn.coalesce('deleted_at', eb.val(p.now)),
      }))
      .where('chat_key', '=', p.chatKey),
);

/** Replaces the id in some runs, which no sweep compacts from then on: that would write their events again. */
export const replaceRuns = statement(
  'replace runs',
  (db, p: Replacement & { sentence: string; now: number; limit: number }) =>
    db
      .updateTable('runs')
      .set((eb) => ({
        consumer_id: p.erasedId,
        member_folder: null,
        user_context_json: null,
        extras_json: null,
        client_tools_json: null,
        answers_json: null,
        error_message: sql<string | null>`case when error_message is null then null else ${p.sentence} end`,
        compacted_at: eb.fn.coalesce('compacted_at', eb.val(p.now)),
      }))
      .where('run_id', 'in', (eb) =>
        eb
          .selectFrom('runs')
          .select('run_id')
          .where('integration_id', '=', p.integrationId)
          .where('consumer_id', '=', p.consumerId)
          .limit(p.limit),
      ),
);

/** The key is a text of the caller. Its place is taken by the adjustment's id, which is unique too. */
export const replaceAdjustments = statement('replace adjustments', (db, p: Replacement) =>
  db
    .updateTable('adjustments')
    .set({
      consumer_id: p.erasedId,
      reason_json: null,
      idempotency_key_json: sql<string>`'"' || adjustment_id || '"'`,
    })
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId),
);

type PersonsFiles = FileRange & ErasedPerson;

/**
 * The files below the person's folder, the files that runs of the person's chats made, and earlier versions of both. Each
 * part has its own index: for one condition with `or`, SQLite reads all files.
 */
const isPersons = (p: PersonsFiles) => {
  const ofChats = sql`chat_key in (select chat_key from chats
    where chats.integration_id = ${p.integrationId} and chats.consumer_id = ${p.erasedId})`;
  return sql<boolean>`blob_key in (
    select blob_key from files where ${isFileIn(p)}
    union all
    select blob_key from files where freed_at is null and ${ofChats}
    union all
    select blob_key from files where freed_at >= 0 and integration_id = ${p.integrationId}
      and ((path >= ${p.from} and path < ${p.to}) or ${ofChats}))`;
};

export const sumPersonsFiles = statement('sum files of person', (db, p: PersonsFiles) =>
  raw<{ bytes: number }>(
    db,
    sql<{ bytes: number }>`
      select cast(coalesce(sum(size_bytes), 0) as bigint) as bytes from files where freed_at is null and ${isPersons(p)}`,
  ),
);

/** Call it before the files are deleted. */
export const erasePersonsBlobs = statement('erase blobs of person', (db, p: PersonsFiles) =>
  raw<never>(
    db,
    sql<never>`
      insert into erased_blobs (integration_id, erased_id, blob_key)
      select integration_id, cast(${p.erasedId} as text), blob_key from files where ${isPersons(p)}
      union all
      select integration_id, cast(${p.erasedId} as text), text_key from files where text_key is not null and ${isPersons(p)}`,
  ),
);

/** Bytes of uploads and of texts of documents that are being written. Call it before the files are deleted. */
export const tagPersonsPending = statement('tag pending of person', (db, p: PersonsFiles) =>
  db
    .updateTable('pending_blobs')
    .set({ erased_id: p.erasedId, path: null })
    .where('integration_id', '=', p.integrationId)
    .where(
      sql<boolean>`((path >= ${p.from} and path < ${p.to})
        or path in (select path from files where integration_id = ${p.integrationId} and ${isPersons(p)}))`,
    ),
);

export const deletePersonsFiles = statement('delete files of person', (db, p: PersonsFiles) =>
  db.deleteFrom('files').where(isPersons(p)),
);

/** A form without a path is closed: what S3 receives for it is deleted. */
export const closeForms = statement('close forms', (db, p: FileRange) =>
  db
    .updateTable('upload_forms')
    .set({ path: NO_PATH, content_type: '', size_bytes: 0 })
    .where('integration_id', '=', p.integrationId)
    .where('path', '>=', p.from)
    .where('path', '<', p.to),
);

export interface FolderErasure {
  readonly erased_id: string;
  readonly started_at: number;
  readonly replaced_at: number | null;
  /** 1 if the folder's files are still being deleted. */
  readonly running: number;
  /** The refused id, if the row was not found by its folder. */
  readonly consumer_id: string | null;
}

/**
 * The erasures that replaced a person's id with one of these folders, and the erasures that have not replaced an id yet:
 * their folder is not stored. `folders`: `{id}`; the id is a hash of the integration and the folder.
 */
export const erasuresOfFolders = statement(
  'erasures of folders',
  (db, p: { integrationId: IntegrationId; folders: JsonRows }) =>
    raw<FolderErasure>(
      db,
      sql<FolderErasure>`
        select e.erased_id, e.started_at, e.replaced_at, cast(case when e.finished_at is null
          and (e.deleted_at is null or e.deleted_at <> e.started_at) then 1 else 0 end as bigint) as running,
          cast(null as text) as consumer_id
        from json_each(${p.folders}) as j cross join erasures as e
        where e.folder_id = j.value ->> 'id' and e.folder_id is not null
        union all
        select erased_id, started_at, replaced_at, 0, consumer_id from erasures
        where integration_id = ${p.integrationId} and ${isRefused}`,
    ),
);

/** From then on the id can be registered again. `content` is 1 if E3 found something that E1 did not. */
export const markReplaced = statement(
  'mark replaced',
  (db, p: ErasedPerson & { folderId: string; content: number; now: number }) =>
    db
      .updateTable('erasures')
      .set({
        consumer_id: null,
        folder_id: p.folderId,
        replaced_at: p.now,
        has_content: sql<number>`case when ${p.content} = 1 then 1 else has_content end`,
      })
      .where('integration_id', '=', p.integrationId)
      .where('erased_id', '=', p.erasedId),
  { overwrites: true },
);

/** Everything of the person is deleted. Changes no row if the erasure was begun again. */
export const markDeleted = statement('mark deleted', (db, p: ErasedPerson & { startedAt: number }) =>
  db
    .updateTable('erasures')
    .set({ deleted_at: p.startedAt })
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId)
    .where('started_at', '=', p.startedAt)
    .where('consumer_id', 'is', null)
    .where('finished_at', 'is', null),
);

export interface RunsAfter extends ErasedPerson {
  readonly afterTime: number;
  readonly afterRunId: string;
  readonly limit: number;
}

export const erasedRuns = statement('erased runs', (db, p: RunsAfter) =>
  db
    .selectFrom('runs')
    .select(['run_id', 'created_at', 'usage_request_id', 'fingerprint'])
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.erasedId)
    .where((eb) => eb(eb.refTuple('created_at', 'run_id'), '>', eb.tuple(p.afterTime, soughtId<RunId>(p.afterRunId))))
    .orderBy('created_at')
    .orderBy('run_id')
    .limit(p.limit),
);

/** The fingerprint shows whether the id is the caller's: both are replaced together. */
export const replaceUsageRequest = statement(
  'replace usage request',
  (db, p: { runId: RunId; erasedUsageRequestId: string }) =>
    db
      .updateTable('runs')
      .set({ usage_request_id: p.erasedUsageRequestId, fingerprint: null })
      .where('run_id', '=', p.runId)
      .where('fingerprint', 'is not', null),
);

export const eraseEvents = statement('erase events', (db, p: { runId: RunId }) =>
  db.deleteFrom('event_chunks').where('run_id', '=', p.runId),
);

/** Called after `eraseEvents`: a compaction locks a chunk, so this statement sees what it wrote. */
export const eraseCompacted = statement('erase compacted', (db, p: { runId: RunId }) =>
  db.deleteFrom('compacted_chunks').where('run_id', '=', p.runId),
);

export const eraseSteps = statement('erase steps', (db, p: { runId: RunId }) =>
  db.deleteFrom('steps').where('run_id', '=', p.runId),
);

export const eraseUnfinishedSteps = statement('erase unfinished steps', (db, p: { runId: RunId }) =>
  db.deleteFrom('unfinished_steps').where('run_id', '=', p.runId),
);

export const erasedChats = statement('erased chats', (db, p: ErasedPerson & { after: string; limit: number }) =>
  db
    .selectFrom('chats')
    .select('chat_key')
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.erasedId)
    .where('chat_key', '>', soughtId<ChatKey>(p.after))
    .orderBy('chat_key')
    .limit(p.limit),
);

/** Every run added a message, so a chat without messages never had a run. */
export const deleteChatWithoutRuns = statement('delete chat without runs', (db, p: { chatKey: ChatKey }) =>
  db.deleteFrom('chats').where('chat_key', '=', p.chatKey).where('num_messages', '=', 0),
);

/** Blobs of attachments that no message may refer to any more. They belonged to deleted chats or to erased ones. */
export const findUnusedBlobs = statement('unused blobs of', (db, p: { integrationId: IntegrationId; limit: number }) =>
  db
    .selectFrom('blobs')
    .select('blob_key')
    .where('integration_id', '=', p.integrationId)
    .where(sql<boolean>`unused_since is not null`)
    .limit(p.limit),
);

type ErasedBlob = ErasedPerson & { readonly blobKey: string };

/** The bytes are deleted after the commit. The row tells the next server which ones, if this one dies before. */
export const eraseBlob = insertInto('erased_blobs', ['integration_id', 'erased_id', 'blob_key']);

export const erasedBlobs = statement('erased blobs', (db, p: ErasedPerson & { limit: number }) =>
  db
    .selectFrom('erased_blobs')
    .select('blob_key')
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId)
    .limit(p.limit),
);

/** Call it after the bytes were deleted. */
export const forgetErasedBlob = statement('forget erased blob', (db, p: ErasedBlob) =>
  db
    .deleteFrom('erased_blobs')
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId)
    .where('blob_key', '=', p.blobKey),
);

/** Changes no row if the erasure was begun again, or another node finished it. */
export const markErased = statement('mark erased', (db, p: ErasedPerson & { startedAt: number; now: number }) =>
  db
    .updateTable('erasures')
    .set({ finished_at: p.now })
    .where('integration_id', '=', p.integrationId)
    .where('erased_id', '=', p.erasedId)
    .where('started_at', '=', p.startedAt)
    .where('consumer_id', 'is', null)
    .where('finished_at', 'is', null),
);

/** Returns a row if there are statuses to delete. */
export const oldErasures = statement('old erasures', (db, p: { until: number }) =>
  db.selectFrom('erasures').select('erased_id').where('finished_at', '<=', p.until).limit(1),
);

export const deleteOldErasures = statement('delete old erasures', (db, p: { until: number }) =>
  db.deleteFrom('erasures').where('finished_at', '<=', p.until),
);
