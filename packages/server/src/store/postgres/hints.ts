import type { QueryConfig } from 'pg';
import type { Hint } from '../notifier.ts';

export const CHANNEL = 'runwire';
const LOG = 'log:';

/**
 * This statement is sent inside a transaction, so other nodes receive the hint after the commit, and never if it fails.
 * It is not used with a pooler.
 */
export function hintQuery(hint: Hint): QueryConfig {
  const text = 'select pg_notify($1, $2)';
  const values = [CHANNEL, hint.kind === 'log' ? `${LOG}${hint.nodeId}` : hint.kind];
  return { name: 'hint', text, values };
}

/** Returns null if the payload was sent by another version. */
export function readHint(payload: string): Hint | null {
  if (payload.startsWith(LOG)) return { kind: 'log', nodeId: payload.slice(LOG.length) };
  return payload === 'cancel' ? { kind: 'cancel' } : null;
}
