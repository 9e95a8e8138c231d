import { isBlank } from '@runwire/lib/is-blank.ts';
import { sortableId } from '@runwire/lib/sortable-id.ts';
import { parseOwnJson } from '@runwire/lib/strict-json.ts';
import { type Audit, differs } from '../audit/audit.ts';
import type { MemberInput } from '../domain/account/account-inputs.ts';
import { allowanceJson, usedAmount } from '../domain/admission/allowance.ts';
import { DEFAULT_MEMBER_FOLDER, memberFolder } from '../domain/file/file-access.ts';
import { wholePath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { isCallerId } from '../domain/ids.ts';
import { jsonWith } from '../domain/list-page.ts';
import { checkMetadata } from '../domain/metadata.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import type { LargeListQuery, LargePages } from '../store/large-pages.ts';
import { noteLeftovers } from '../store/leftovers.ts';
import {
  deleteMember,
  insertMember,
  integrationById,
  type MemberRow,
  memberById,
  updateMember,
} from '../store/queries/accounts.ts';
import { memberAllowance, periodDays } from '../store/queries/allowance.ts';
import { refusedPerson } from '../store/queries/erasures.ts';
import { keepIntegration, lockMember } from '../store/queries/locks.ts';
import { listMembers, memberSizes } from '../store/queries/member-list.ts';
import { first, type Reads, type Store, type Tx } from '../store/store.ts';

export interface MemberQuery extends LargeListQuery {
  /** The start of the id or the name. */
  readonly q?: string;
}

export class Members {
  readonly #store: Store;
  readonly #pages: LargePages;

  constructor(store: Store, pages: LargePages) {
    this.#store = store;
    this.#pages = pages;
  }

  /** Registers the member, or changes the given fields and keeps the others. */
  async put(integrationId: IntegrationId, consumerId: string, input: MemberInput, audit: Audit) {
    if (!isCallerId(consumerId) || isBlank(consumerId)) {
      throw new Refusal(
        'invalid_request',
        '`consumerId` must be 1 to 256 characters, not blank and without control characters.',
      );
    }
    if (input.metadata !== undefined) checkMetadata(input.metadata);
    return this.#store.transact('account', async (tx) => {
      const [, integration] = await Promise.all([
        tx.all(keepIntegration, { integrationId }),
        first(tx.all(integrationById, { integrationId })),
      ]);
      if (integration === undefined) throw new Refusal('integration_not_found');
      const before = await this.#write(tx, integrationId, consumerId, input);
      const created = before === null;
      // Only now: while this PUT waited for its locks, an erasure may have begun.
      const refused = await first(tx.all(refusedPerson, { integrationId, consumerId }));
      if (refused !== undefined) throw new Refusal('erasure_running');
      // Read inside the transaction: a later read could see another PUT or a DELETE.
      const member = await this.#read(tx, integrationId, consumerId);
      const fields = { before: before ?? {}, after: settings(member) };
      // Backends repeat this request often, and a repeat changes nothing.
      if (created || differs(fields.before, fields.after))
        await audit(tx, { target: ['member', consumerId], integrationId, consumerId, ...fields });
      return { created, member };
    });
  }

  /** Resolves to what was stored before; null if the member is new. If several PUTs are concurrent, the insert decides. */
  async #write(tx: Tx, integrationId: IntegrationId, consumerId: string, input: MemberInput) {
    const now = Date.now();
    const values = (row: MemberRow | undefined) => ({
      integration_id: integrationId,
      consumer_id: consumerId,
      name_json: input.name === undefined ? (row?.name_json ?? null) : input.name && JSON.stringify(input.name),
      active: Number(input.active ?? row?.active ?? true),
      metadata_json: input.metadata === undefined ? (row?.metadata_json ?? '{}') : JSON.stringify(input.metadata),
      own_limit: input.allowance === undefined ? (row?.own_limit ?? null) : (input.allowance?.limit ?? null),
      // Different from `created_at` after any change: an erasure has to know that there was one.
      updated_at: row === undefined ? now : Math.max(now, row.created_at + 1),
    });
    for (;;) {
      if ((await tx.run(insertMember, { ...values(undefined), sort_key: sortableId(now) })) === 1) return null;
      await tx.all(lockMember, { integrationId, consumerId });
      const row = await first(tx.all(memberById, { integrationId, consumerId }));
      if (row !== undefined) {
        await tx.run(updateMember, values(row));
        return settings(recordJson(row));
      }
      // A DELETE committed between the insert and the lock: the next insert registers the member.
    }
  }

  get(integrationId: IntegrationId, consumerId: string) {
    return this.#read(this.#store.reads, integrationId, consumerId);
  }

  async #read(reads: Reads, integrationId: IntegrationId, consumerId: string) {
    const row = await first(reads.all(memberById, { integrationId, consumerId }));
    if (row === undefined)
      throw new Refusal('member_not_found', 'This integration has no member with this `consumerId`.');
    return memberJson(reads, row);
  }

  list(integrationId: IntegrationId, query: MemberQuery) {
    const { reads } = this.#store;
    const filter = { integrationId, start: query.q ?? null };
    return this.#pages.read(query, {
      showsAll: true,
      sizes: (page) => reads.query(memberSizes({ ...filter, ...page })),
      rows: (page) => reads.query(listMembers({ ...filter, ...page })),
      position: (row) => ({ createdAt: row.created_at, id: row.sort_key }),
      show: async (row) => {
        // Earlier versions accepted metadata of any size. It is shown as it is stored.
        const { metadata: _, ...member } = await memberJson(reads, { ...row, metadata_json: '{}' });
        return jsonWith(member, 'metadata', row.metadata_json);
      },
    });
  }

  /** Deletes the member but not the usage, which is stored by day under the member's id. */
  async delete(integrationId: IntegrationId, consumerId: string, audit: Audit): Promise<void> {
    const deleted = await this.#store.transact('account', async (tx) => {
      await noteLeftovers(this.#store, tx, [integrationId]);
      const count = await tx.run(deleteMember, { integrationId, consumerId });
      if (count > 0) await audit(tx, { target: ['member', consumerId], integrationId, consumerId });
      return count;
    });
    if (deleted === 0) throw new Refusal('member_not_found', 'This integration has no member with this `consumerId`.');
  }
}

/** What a caller sets of a member. */
const settings = ({ name, active, metadata, ownLimit }: ReturnType<typeof recordJson>) => ({
  name,
  active,
  metadata,
  ownLimit,
});

const recordJson = (row: MemberRow) => ({
  consumerId: row.consumer_id,
  name: row.name_json === null ? null : (JSON.parse(row.name_json) as string),
  active: row.active === 1,
  metadata: parseOwnJson(row.metadata_json) as Record<string, unknown>,
  ownLimit: row.own_limit,
});

async function memberJson(reads: Reads, row: MemberRow) {
  const now = Date.now();
  const found = await first(
    reads.all(memberAllowance, {
      integrationId: row.integration_id,
      consumerId: row.consumer_id,
      ...periodDays(now),
    }),
  );
  const { allowance_unit: unit = null, allowance_limit: limit = null, allowance_period: period = null } = found ?? {};
  return {
    ...recordJson(row),
    allowance:
      unit === null || period === null
        ? null
        : allowanceJson(
            {
              unit,
              period,
              limit: row.own_limit ?? limit ?? 0,
              used: usedAmount(found?.used ?? 0),
              reserved: found?.reserved ?? 0,
            },
            now,
          ),
    folder: wholePath(memberFolder(found?.member_folder ?? DEFAULT_MEMBER_FOLDER, row.consumer_id)),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
  };
}
