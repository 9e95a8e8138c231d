import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { rows, tamper } from './tampered-store.ts';

/** The run of a tick belongs to its node, so another node starts a second one. */
const tickPerNode = (): Overrides => ({
  wrapStore: tamper({
    params: (statement, given) =>
      statement === 'insert runs'
        ? { ...given, usage_request_id: `${given.usage_request_id} on ${given.node_id}` }
        : given,
    rows: (statement, all) =>
      statement === 'admission facts' ? all.map((row) => ({ ...row, known_run_id: null })) : all,
  }),
});

/** A restored schedule looks as if it had not ticked yet. */
const catchUpAfterRestore = () =>
  rows('claimed schedule', (all) =>
    all.map((row) => (row.next_tick_at === null ? { ...row, last_tick_at: row.created_at } : row)),
  );

export const SCHEDULE_FAULTS = { 'tick-per-node': tickPerNode, 'catch-up-after-restore': catchUpAfterRestore };
