import { type Selectable, sql } from 'kysely';
import type { IntegrationId, OwnerId } from '../../domain/ids.ts';
import type { IntegrationsTable } from '../schema.ts';
import { insertInto, pickColumns, type RowOf, sameAs, statement } from '../statement.ts';
import { getPage, type Page } from './page.ts';
import { soughtId } from './sought-id.ts';

type Db = Parameters<(typeof ownerById)['build']>[0];

export const installation = statement('installation', (db, _: Record<string, never>) =>
  db.selectFrom('installation').selectAll(),
);

/** The version of accounts, and the number of owners: 1, or 2 if there are two or more. */
export const accountsState = statement('accounts state', (db, _: Record<string, never>) =>
  db
    .selectFrom('installation')
    .select('accounts_version')
    .select(sql<number>`(select count(*) from (select 1 from owners limit 2) as some_owners)`.as('owners')),
);

export const insertInstallation = insertInto('installation', [{ id: 1, accounts_version: 1 }, 'created_at']);

/** Changes of accounts run one after the other: each reads the stored rows before it writes. */
export const lockInstallation = statement(
  'lock installation',
  (db, _: Record<string, never>) => db.selectFrom('installation').select('id').forUpdate(),
  { locks: true },
);

export const storedSecret = statement('kept secret', (db, _: Record<string, never>) =>
  db.selectFrom('installation_secret').select('secret'),
);

/** If several nodes make a secret concurrently, the first one is stored. */
export const storeSecretOnce = insertInto('installation_secret', [{ id: 1 }, 'secret'], { unlessExists: ['id'] });

export const raiseAccountsVersion = statement('raise accounts version', (db, _: Record<string, never>) =>
  db.updateTable('installation').set((eb) => ({ accounts_version: eb('accounts_version', '+', 1) })),
);

export const insertOwner = insertInto('owners', ['owner_id', 'email', 'name_json', 'administrator', 'created_at']);

export const ownerById = statement('owner by id', (db, p: { ownerId: string }) =>
  db.selectFrom('owners').selectAll().where('owner_id', '=', soughtId<OwnerId>(p.ownerId)),
);
export type OwnerRow = RowOf<typeof ownerById>;

/** The administrator is the first owner, made at the first start. */
export const firstOwner = statement('first owner', (db, _: Record<string, never>) =>
  db.selectFrom('owners').selectAll().where('administrator', '=', 1).limit(1),
);

/** Sets what an owner has in common with its first person, for nodes of the version before. */
export const updateOwner = statement(
  'update owner',
  (db, p: { ownerId: OwnerId; email: string | null; nameJson: string | null }) =>
    db.updateTable('owners').set({ email: p.email, name_json: p.nameJson }).where('owner_id', '=', p.ownerId),
);

export const deleteOwner = statement('delete owner', (db, p: { ownerId: OwnerId }) =>
  db.deleteFrom('owners').where('owner_id', '=', p.ownerId),
);

export const listOwners = (page: Page) => (db: Db) =>
  getPage(db.selectFrom('owners').selectAll(), page, 'created_at', 'owner_id');

export const insertKey = insertInto('api_keys', [
  'key_id',
  'owner_id',
  'name_json',
  'role',
  'integrations_json',
  'creator_id',
  'creator_json',
  'created_at',
  'expires_at',
  { last_used_at: null, revoked_at: null },
]);

export const anyKey = statement('any key', (db, _: Record<string, never>) =>
  db.selectFrom('api_keys').select('key_id').limit(1),
);

export const keyById = statement('key by id', (db, p: { keyId: string }) =>
  db.selectFrom('api_keys').selectAll().where('key_id', '=', p.keyId),
);
export type KeyRow = RowOf<typeof keyById>;

export const revokeKey = statement('revoke key', (db, p: { keyId: string; now: number }) =>
  db.updateTable('api_keys').set({ revoked_at: p.now }).where('key_id', '=', p.keyId).where('revoked_at', 'is', null),
);

/** Keys that may do everything of the owner. */
export const usableManagerKeys = statement('usable manager keys', (db, p: { ownerId: OwnerId; now: number }) =>
  db
    .selectFrom('api_keys')
    .select('key_id')
    .where('owner_id', '=', p.ownerId)
    .where('role', '=', 'manager')
    .where('integrations_json', 'is', null)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
);

/** Returns those of these keys that were not revoked. */
export const unrevokedAmong = (keyIds: readonly string[]) => (db: Db) =>
  db.selectFrom('api_keys').select(['key_id', 'role']).where('key_id', 'in', keyIds).where('revoked_at', 'is', null);

export const deleteOwnerKeys = statement('delete keys of', (db, p: { ownerId: OwnerId }) =>
  db.deleteFrom('api_keys').where('owner_id', '=', p.ownerId),
);

export const touchKey = statement('touch key', (db, p: { keyId: string; now: number }) =>
  db.updateTable('api_keys').set({ last_used_at: p.now }).where('key_id', '=', p.keyId),
);

/** `creatorId` is null for the keys of all creators. */
export const listKeys = (ownerId: OwnerId, creatorId: string | null, page: Page) => (db: Db) =>
  getPage(
    db
      .selectFrom('api_keys')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .$if(creatorId !== null, (keys) => keys.where('creator_id', '=', creatorId)),
    page,
    'created_at',
    'key_id',
  );

/** What an owner can set. */
const INTEGRATION_COLUMNS = [
  'name_json',
  'agency',
  'default_agent',
  'text_only',
  'allowance_unit',
  'allowance_limit',
  'allowance_period',
  'on_disconnect',
  'max_run_seconds',
  'max_runs_per_member',
  'keep_attachments',
  'client_tools',
  'caller_instructions',
  'auto_register',
  'compatible_apis',
  'model',
  'file_access',
  'member_folder',
  'quota_bytes',
  'member_quota_bytes',
] as const;

export type IntegrationValues = Pick<Selectable<IntegrationsTable>, (typeof INTEGRATION_COLUMNS)[number]>;

export const insertIntegration = insertInto('integrations', [
  'integration_id',
  'sort_key',
  'owner_id',
  ...INTEGRATION_COLUMNS,
  'created_at',
  { updated_at: sameAs('created_at'), deleted_at: null, leftovers: 0 },
]);

export const updateIntegration = statement(
  'update integration',
  (db, p: IntegrationValues & { integrationId: IntegrationId; now: number }) =>
    db
      .updateTable('integrations')
      .set({ ...pickColumns(p, INTEGRATION_COLUMNS), updated_at: p.now })
      .where('integration_id', '=', p.integrationId)
      .where('deleted_at', 'is', null),
);

export const deleteIntegration = statement(
  'delete integration',
  (db, p: { integrationId: IntegrationId; now: number }) =>
    db
      .updateTable('integrations')
      .set({ deleted_at: p.now, updated_at: p.now })
      .where('integration_id', '=', p.integrationId)
      .where('deleted_at', 'is', null),
);

/** Integrations that were deleted before `until` and whose files may still exist. */
export const integrationsToEmpty = statement('integrations to empty', (db, p: { until: number; limit: number }) =>
  db
    .selectFrom('integrations')
    .select('integration_id')
    .where('deleted_at', '<=', p.until)
    .where('files_deleted_at', 'is', null)
    .orderBy('deleted_at')
    .limit(p.limit),
);

export const markFilesDeleted = statement(
  'note files deleted',
  (db, p: { integrationId: IntegrationId; now: number }) =>
    db
      .updateTable('integrations')
      .set({ files_deleted_at: p.now })
      .where('integration_id', '=', p.integrationId)
      .where('deleted_at', 'is not', null),
);

export const integrationById = statement('integration by id', (db, p: { integrationId: string }) =>
  db
    .selectFrom('integrations')
    .selectAll()
    .where('integration_id', '=', soughtId<IntegrationId>(p.integrationId))
    .where('deleted_at', 'is', null),
);
export type IntegrationRow = RowOf<typeof integrationById>;

/**
 * Ids are unique regardless of letter case, and an id is never free again after DELETE (`contract-9-integration-id`).
 * Ids are ASCII, so `lower` gives the same result in both stores. Call it under `lockInstallation`, which every insert
 * of an integration holds.
 */
export const integrationIdTaken = statement('integration id taken', (db, p: { integrationId: IntegrationId }) =>
  db
    .selectFrom('integrations')
    .select('integration_id')
    .where(sql<boolean>`lower(integration_id) = lower(${p.integrationId})`)
    .limit(1),
);

export const activeRunOfIntegration = statement(
  'active run of integration',
  (db, p: { integrationId: IntegrationId }) =>
    db
      .selectFrom('active_runs')
      .innerJoin('runs', 'runs.run_id', 'active_runs.run_id')
      .innerJoin('chats', 'chats.chat_key', 'runs.chat_key')
      .select(['runs.run_id', 'runs.usage_request_id', 'chats.chat_id'])
      .where('active_runs.integration_id', '=', p.integrationId)
      .limit(1),
);

/** Returns a row if the owner has an integration that is not deleted. */
export const findAnyIntegration = statement('any integration of', (db, p: { ownerId: OwnerId }) =>
  db
    .selectFrom('integrations')
    .select('integration_id')
    .where('owner_id', '=', p.ownerId)
    .where('deleted_at', 'is', null)
    .limit(1),
);

/** `among` is null for all integrations of the owner. */
export const listIntegrations = (ownerId: OwnerId, among: readonly string[] | null, page: Page) => (db: Db) =>
  getPage(
    db
      .selectFrom('integrations')
      .selectAll()
      .where('owner_id', '=', ownerId)
      .where('deleted_at', 'is', null)
      .$if(among !== null, (all) => all.where('integration_id', 'in', among as readonly IntegrationId[])),
    page,
    'created_at',
    'sort_key',
  );

export const memberById = statement('member by id', (db, p: { integrationId: IntegrationId; consumerId: string }) =>
  db
    .selectFrom('members')
    .selectAll()
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId),
);
export type MemberRow = RowOf<typeof memberById>;

/** What most callers need of a member. Its metadata, which can be large, is not read. */
export const memberState = statement('member state', (db, p: { integrationId: IntegrationId; consumerId: string }) =>
  db
    .selectFrom('members')
    .select(['active', 'sort_key'])
    .where('integration_id', '=', p.integrationId)
    .where('consumer_id', '=', p.consumerId),
);

const MEMBER_COLUMNS = ['name_json', 'active', 'metadata_json', 'own_limit', 'updated_at'] as const;

/**
 * Changes no row if the member is registered already. Waits for a concurrent insert of the same member. It overwrites the
 * rows that it moves to another page: otherwise copies of 35 % of 2000 ids stayed after their members were deleted.
 */
export const insertMember = insertInto(
  'members',
  ['integration_id', 'consumer_id', 'sort_key', ...MEMBER_COLUMNS, { created_at: sameAs('updated_at') }],
  { unlessExists: ['integration_id', 'consumer_id'], overwrites: true },
);

export const updateMember = statement(
  'update member',
  (db, p: Pick<MemberRow, (typeof MEMBER_COLUMNS)[number] | 'integration_id' | 'consumer_id'>) =>
    db
      .updateTable('members')
      .set(pickColumns(p, MEMBER_COLUMNS))
      .where('integration_id', '=', p.integration_id)
      .where('consumer_id', '=', p.consumer_id),
  { overwrites: true },
);

export const deleteMember = statement(
  'delete member',
  (db, p: { integrationId: IntegrationId; consumerId: string }) =>
    db.deleteFrom('members').where('integration_id', '=', p.integrationId).where('consumer_id', '=', p.consumerId),
  { overwrites: true },
);

export const creditIntegrations = statement('credit integrations', (db, _: Record<string, never>) =>
  db
    .selectFrom('integrations')
    .select(['integration_id', 'agency', 'model'])
    .where('allowance_unit', '=', 'credits')
    .where('deleted_at', 'is', null),
);

/** Writes without changing a value, to find out whether the store accepts writes. */
export const touchInstallation = statement('touch installation', (db, _: Record<string, never>) =>
  db.updateTable('installation').set((eb) => ({ created_at: eb.ref('created_at') })),
);
