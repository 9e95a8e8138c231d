import type { MemberInput } from '../domain/account-inputs.ts';
import { allowanceJson } from '../domain/allowance.ts';
import { isBlank, isCallerId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { sortableId } from '../lib/sortable-id.ts';
import { parseOwnJson } from '../lib/strict-json.ts';
import { deleteMember, listMembers, type MemberRow, memberById, putMember } from '../store/queries/accounts.ts';
import { lockMember } from '../store/queries/admission.ts';
import { memberAllowance, periodDays } from '../store/queries/allowance.ts';
import type { Page } from '../store/queries/page.ts';
import { type ListQuery, readPage } from '../store/read-page.ts';
import { first, type Store } from '../store/store.ts';

export class Members {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Registers, or changes what is given and keeps the rest. */
  async put(integrationId: string, consumerId: string, input: MemberInput) {
    if (!isCallerId(consumerId) || isBlank(consumerId)) {
      throw new Refusal(
        'invalid_request',
        '`consumerId` must be 1 to 256 characters, not blank and without control characters.',
      );
    }
    const created = await this.#store.transact('account', async (tx) => {
      await tx.all(lockMember, { integrationId, consumerId });
      const row = await first(tx.all(memberById, { integrationId, consumerId }));
      const now = Date.now();
      const name = input.name === undefined ? (row?.name_json ?? null) : input.name && JSON.stringify(input.name);
      await tx.run(putMember, {
        integrationId,
        consumerId,
        sortKey: row?.sort_key ?? sortableId(now),
        nameJson: name,
        active: Number(input.active ?? row?.active ?? true),
        metadataJson: input.metadata === undefined ? (row?.metadata_json ?? '{}') : JSON.stringify(input.metadata),
        ownLimit: input.allowance === undefined ? (row?.own_limit ?? null) : (input.allowance?.limit ?? null),
        createdAt: row?.created_at ?? now,
        now,
      });
      return row === undefined;
    });
    return { created, member: await this.get(integrationId, consumerId) };
  }

  async get(integrationId: string, consumerId: string) {
    const row = await first(this.#store.reads.all(memberById, { integrationId, consumerId }));
    if (row === undefined) throw new Refusal('member_not_found', 'There is no such member in this integration.');
    return this.#json(row);
  }

  list(integrationId: string, query: ListQuery) {
    const members = (page: Page) => listMembers(integrationId, page);
    const position = (row: MemberRow) => ({ createdAt: row.created_at, id: row.sort_key });
    return readPage(this.#store.reads, query, members, position, (row) => this.#json(row));
  }

  /** What the member used stays: it is kept by the day, under the member's id. */
  async delete(integrationId: string, consumerId: string): Promise<void> {
    const deleted = await this.#store.transact('account', (tx) => tx.run(deleteMember, { integrationId, consumerId }));
    if (deleted === 0) throw new Refusal('member_not_found', 'There is no such member in this integration.');
  }

  async #json(row: MemberRow) {
    const now = Date.now();
    const found = await first(
      this.#store.reads.all(memberAllowance, {
        integrationId: row.integration_id,
        consumerId: row.consumer_id,
        ...periodDays(now),
      }),
    );
    const { allowance_unit: unit = null, allowance_limit: limit = null, allowance_period: period = null } = found ?? {};
    return {
      consumerId: row.consumer_id,
      name: row.name_json === null ? null : (JSON.parse(row.name_json) as string),
      active: row.active === 1,
      metadata: parseOwnJson(row.metadata_json) as Record<string, unknown>,
      ownLimit: row.own_limit,
      allowance:
        unit === null || period === null
          ? null
          : allowanceJson(
              {
                unit,
                period,
                limit: row.own_limit ?? limit ?? 0,
                used: found?.used ?? 0,
                reserved: found?.reserved ?? 0,
              },
              now,
            ),
      createdAt: iso(row.created_at),
      updatedAt: iso(row.updated_at),
    };
  }
}
