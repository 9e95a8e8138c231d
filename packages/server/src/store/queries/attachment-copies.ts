import { sql } from 'kysely';
import type { ChatKey, IntegrationId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { isActiveIn } from './active-runs.ts';
import { getPage } from './page.ts';
import { soughtId } from './sought-id.ts';

/**
 * Starts from an integration's blobs: an integration that keeps no copies has few. SQLite executes cross joins in
 * the written order.
 */
export const chatsWithCopiesToRelease = statement(
  'chats with copies to let go',
  (db, p: { after: string; limit: number }) =>
    db
      .selectFrom('integrations as i')
      .crossJoin('blobs as b')
      .crossJoin('attachments as a')
      .select(['a.chat_key', 'i.integration_id'])
      .distinct()
      .where('i.keep_attachments', '=', 0)
      .whereRef('b.integration_id', '=', 'i.integration_id')
      .whereRef('a.blob_key', '=', 'b.blob_key')
      .where('a.url', 'is not', null)
      .where('a.chat_key', '>', soughtId<ChatKey>(p.after))
      .where(sql<boolean>`not exists (select 1 from chats c, active_runs r
        where c.chat_key = a.chat_key and ${isActiveIn('r', 'c')})`)
      .orderBy('a.chat_key')
      .limit(p.limit),
);

export const lockChatByKey = statement(
  'lock chat by key',
  (db, p: { chatKey: ChatKey }) =>
    db.selectFrom('chats').select('chat_key').where('chat_key', '=', p.chatKey).forUpdate(),
  { locks: true },
);

export const activeRunOfChat = statement('active run of chat', (db, p: { chatKey: ChatKey }) =>
  db
    .selectFrom('chats')
    .innerJoin('active_runs', (join) => join.on(isActiveIn('active_runs', 'chats')))
    .innerJoin('runs', 'runs.run_id', 'active_runs.run_id')
    .select(['runs.run_id', 'runs.usage_request_id', 'chats.chat_id'])
    .where('chats.chat_key', '=', p.chatKey),
);

/** Returns a row if the chat has no active run and its integration still keeps no copies. */
export const mayReleaseCopies = statement(
  'may let go of copies',
  (db, p: { chatKey: ChatKey; integrationId: IntegrationId }) =>
    db
      .selectFrom('integrations')
      .select('integration_id')
      .where('integration_id', '=', p.integrationId)
      .where('keep_attachments', '=', 0)
      .where(sql<boolean>`not exists (select 1 from chats c, active_runs r
        where c.chat_key = ${p.chatKey} and ${isActiveIn('r', 'c')})`),
);

/** An inline image or another chat may refer to the same blobs: the sweep checks this before it deletes them. */
export const freeCopiesOfChat = statement('free copies of chat', (db, p: { chatKey: ChatKey; now: number }) =>
  db
    .updateTable('blobs')
    .set({ unused_since: p.now })
    .where('blob_key', 'in', (eb) =>
      eb
        .selectFrom('attachments')
        .select('blob_key')
        .where('chat_key', '=', p.chatKey)
        .where('url', 'is not', null)
        .where('blob_key', 'is not', null)
        .$narrowType<{ blob_key: string }>(),
    ),
);

export const clearCopiesOfChat = statement('let go of copies', (db, p: { chatKey: ChatKey }) =>
  db
    .updateTable('attachments')
    .set({ blob_key: null })
    .where('chat_key', '=', p.chatKey)
    .where('url', 'is not', null)
    .where('blob_key', 'is not', null),
);

export const deletedIntegrations = statement(
  'deleted integrations',
  (db, p: { until: number; after: string; limit: number }) =>
    db
      .selectFrom('integrations')
      .select(['integration_id', 'deleted_at'])
      .where('deleted_at', '<=', p.until)
      .where('integration_id', '>', soughtId<IntegrationId>(p.after))
      .orderBy('integration_id')
      .limit(p.limit)
      .$narrowType<{ deleted_at: number }>(),
);

export type DeletedIntegration = Awaited<
  ReturnType<ReturnType<(typeof deletedIntegrations)['build']>['execute']>
>[number];

/** Reads the chats that are older than the given one, newest first. A deleted chat has neither attachments nor images of tools. */
export const chatsWithAttachments = statement(
  'chats with attachments',
  (db, p: { integrationId: IntegrationId; createdAt: number; chatKey: string; limit: number }) => {
    const chats = db
      .selectFrom('chats as c')
      .select(['c.chat_key', 'c.created_at'])
      .where('c.integration_id', '=', p.integrationId)
      .where(sql<boolean>`c.deleted_at is null`)
      .where(sql<boolean>`(exists (select 1 from attachments a where a.chat_key = c.chat_key)
        or exists (select 1 from tool_images t where t.chat_key = c.chat_key))`);
    const before = { createdAt: p.createdAt, id: p.chatKey };
    return getPage(chats, { before, limit: p.limit }, 'c.created_at', 'c.chat_key');
  },
);
