import type { QueryConfig } from 'pg';
import type { Hint } from '../notifier.ts';

export const CHANNEL = 'runwire';
const LOG = 'log:';

/** Sent inside a transaction, so that it is heard once that is committed, and not at all where it is not. Never behind a pooler. */
export function hintQuery(hint: Hint): QueryConfig {
  const text = 'select pg_notify($1, $2)';
  const values = [CHANNEL, hint.kind === 'log' ? `${LOG}${hint.nodeId}` : hint.kind];
  return { name: 'hint', text, values };
}

/** Null: of another version. */
export function readHint(payload: string): Hint | null {
  if (payload.startsWith(LOG)) return { kind: 'log', nodeId: payload.slice(LOG.length) };
  return payload === 'cancel' ? { kind: 'cancel' } : null;
}
