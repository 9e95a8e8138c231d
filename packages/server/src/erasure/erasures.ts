import type { Audit } from '../audit/audit.ts';
import type { ErasedIds } from '../domain/account/erased-ids.ts';
import { memberFolder } from '../domain/file/file-access.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import { iso } from '../domain/time.ts';
import { deleteMember, integrationById } from '../store/queries/accounts.ts';
import { beginErasure, type ErasureRow, findAnythingToErase, getErasure } from '../store/queries/erasures.ts';
import { rangeBelow } from '../store/queries/files.ts';
import { lockIntegrationForDelete } from '../store/queries/locks.ts';
import { first, type Store } from '../store/store.ts';

const NOTHING = 'Nothing is stored under this `consumerId`, and it was not erased within the last 30 days.';

function erasureJson(consumerId: string, row: Pick<ErasureRow, 'started_at' | 'finished_at'>) {
  return {
    consumerId,
    status: row.finished_at === null ? 'erasing' : 'erased',
    startedAt: iso(row.started_at),
    finishedAt: iso(row.finished_at),
  };
}

/**
 * Accepts erasures and tells their status. An erasure has four states, which are its row's columns:
 *
 *   refused ────────(E3)────▶ replaced ───(E4)───▶ deleted ───(files of the database scrubbed)──▶ erased
 *   `consumer_id` is set      it is null           `deleted_at` is set                            `finished_at` is set
 *
 * While the id is refused, it has no member and cannot be registered. After E3 a member with this id is a new one.
 */
export class Erasures {
  readonly #store: Store;
  readonly #ids: ErasedIds;
  readonly #wake: () => void;

  /** `wake` is called when an erasure was accepted. */
  constructor(store: Store, ids: ErasedIds, wake: () => void) {
    this.#store = store;
    this.#ids = ids;
    this.#wake = wake;
  }

  /**
   * E1: makes the id refused and stores the erasure. Returns the status of an erasure that was accepted before, unless
   * something was stored under the id since then.
   */
  async erase(integrationId: IntegrationId, consumerId: string, audit: Audit) {
    const erasedId = this.#ids.consumer(integrationId, consumerId);
    const row = await this.#store.transact('erasure', async (tx) => {
      // Waits for every transaction that adds to the integration: later ones find no member. It conflicts with the lock of
      // a PUT, which would otherwise register the member without seeing the erasure.
      await tx.all(lockIntegrationForDelete, { integrationId });
      const integration = await first(tx.all(integrationById, { integrationId }));
      if (integration === undefined) throw new Refusal('integration_not_found');
      const known = await first(tx.all(getErasure, { integrationId, erasedId }));
      if (known !== undefined && known.consumer_id !== null) return known;
      const range = rangeBelow(memberFolder(integration.member_folder, consumerId));
      const found = await first(tx.all(findAnythingToErase, { integrationId, consumerId, ...range }));
      if (found === undefined) {
        if (known === undefined) throw new Refusal('member_not_found', NOTHING);
        return known;
      }
      // Different from the time of an earlier erasure, so that a node that still executes that one cannot finish this one.
      const startedAt = Math.max(Date.now(), (known?.started_at ?? 0) + 1);
      await tx.run(deleteMember, { integrationId, consumerId });
      await tx.run(beginErasure, { integrationId, erasedId, consumerId, startedAt, hasContent: found.content });
      await audit(tx, { target: ['member', consumerId], integrationId, consumerId, after: { erase: true } });
      return { started_at: startedAt, finished_at: null };
    });
    this.#wake();
    return erasureJson(consumerId, row);
  }

  async status(integrationId: IntegrationId, consumerId: string) {
    const erasedId = this.#ids.consumer(integrationId, consumerId);
    const row = await first(this.#store.reads.all(getErasure, { integrationId, erasedId }));
    if (row === undefined)
      throw new Refusal('member_not_found', 'This `consumerId` was not erased within the last 30 days.');
    return erasureJson(consumerId, row);
  }
}
