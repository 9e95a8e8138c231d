import { wholeIntegration } from '../domain/account/scope.ts';
import { ErasureLoop } from '../erasure/erasure-loop.ts';
import { Erasures } from '../erasure/erasures.ts';
import { cancelRun } from '../runs/cancel-run.ts';
import type { Foundation } from './foundation.ts';
import type { OpenedRuns } from './open-runs.ts';

/** Opens what erases persons. Unfinished erasures continue when the loop is started. */
export function openErasure(foundation: Foundation, { cancel, forgetTurns }: OpenedRuns) {
  const { store, ids, blobs, pending, limits, settleUploads, scrub, overrides, logger, stack } = foundation;
  const loop = stack.use(
    new ErasureLoop({
      store,
      ids,
      cancelRun: (integrationId, runId) => cancelRun(cancel, wholeIntegration(integrationId), runId, 'immediate'),
      settleUploads,
      isClear: (person) => pending.isClear(person),
      deleteAbandoned: () => pending.deleteAbandoned(),
      deleteBlob: (blobKey) => blobs.delete(blobKey),
      forgetTurns,
      scrub,
      rewriteMs: limits.eraseRewriteMs,
      waitAt: overrides.waitAt,
      logger,
    }),
  );
  return { erasures: new Erasures(store, ids, () => loop.wake()), start: () => loop.start() };
}
