import { sql } from 'kysely';
import type { ChatId, IntegrationId } from '../../domain/ids.ts';
import { statement } from '../statement.ts';
import { raw } from './raw.ts';
import { soughtId } from './sought-id.ts';

/*
 * Row locks. Every transaction takes them in this order, so that two transactions wait for each other in one direction
 * only: installation (`lockInstallation`) → integration → member → chat → run → its row in `active_runs` → usage day.
 *
 * A lock is a statement of its own, sent before the statement that reads the facts: a statement that waited for a lock
 * still sees the snapshot from before the wait. The embedded store has one writer and skips these statements.
 */

/** The order in which gathered statements are sent: their locks' order. */
export const CHAT_ORDER = 1;
export const MESSAGE_ORDER = 2;
export const RUN_ORDER = 3;
export const ACTIVE_RUN_ORDER = 4;
export const STEP_ORDER = 5;
export const CHUNK_ORDER = 6;
export const DAY_ORDER = 7;
export const HOUR_ORDER = 8;

/**
 * Keeps the integration from being deleted before this transaction ends. FOR KEY SHARE conflicts with the lock of a
 * DELETE only: transactions that add to an integration do not wait for each other, nor for a signing or a PATCH.
 */
export const keepIntegration = statement(
  'keep integration',
  (db, p: { integrationId: IntegrationId }) =>
    db.selectFrom('integrations').select('integration_id').where('integration_id', '=', p.integrationId).forKeyShare(),
  { locks: true },
);

/**
 * Transactions that sign forms or change files of one integration run one after the other: each sees the files and forms
 * of the earlier ones when it checks the quota and the folders.
 */
export const lockIntegrationForFiles = statement(
  'lock integration for files',
  (db, p: { integrationId: IntegrationId }) =>
    db
      .selectFrom('integrations')
      .select('integration_id')
      .where('integration_id', '=', p.integrationId)
      .forNoKeyUpdate(),
  { locks: true },
);

/** Waits for every transaction that adds to the integration; later ones find it deleted. */
export const lockIntegrationForDelete = statement(
  'lock integration for delete',
  (db, p: { integrationId: IntegrationId }) =>
    db.selectFrom('integrations').select('integration_id').where('integration_id', '=', p.integrationId).forUpdate(),
  { locks: true },
);

/**
 * The locks of T1 in one statement: the integration FOR KEY SHARE, then the member, if there is one. The member's lock
 * makes what T1 reads of the member's usage final.
 */
export const lockForAdmission = statement(
  'lock for admission',
  (db, p: { integrationId: IntegrationId; consumerId: string | null }) =>
    raw<{ integrations: number; members: number }>(
      db,
      sql<{ integrations: number; members: number }>`
        with i as materialized (
          select integration_id from integrations where integration_id = ${p.integrationId} for key share
        ), m as materialized (
          select m.consumer_id from members m join i on i.integration_id = m.integration_id
          where m.consumer_id = ${p.consumerId} for update of m
        ) select (select count(*) from i) as integrations, (select count(*) from m) as members`,
    ),
  { locks: true },
);

export const lockMember = statement(
  'lock member',
  (db, p: { integrationId: IntegrationId; consumerId: string }) =>
    db
      .selectFrom('members')
      .select('consumer_id')
      .where('integration_id', '=', p.integrationId)
      .where('consumer_id', '=', p.consumerId)
      .forUpdate(),
  { locks: true },
);

/** Keeps the chat from being deleted, so that no run starts in a deleted chat. */
export const lockChat = statement(
  'lock chat',
  (db, p: { integrationId: IntegrationId; chatId: string }) =>
    db
      .selectFrom('chats')
      .select('chat_key')
      .where('integration_id', '=', p.integrationId)
      .where('chat_id', '=', soughtId<ChatId>(p.chatId))
      .where('deleted_at', 'is', null)
      .forUpdate(),
  { locks: true },
);
