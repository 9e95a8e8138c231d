import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { RunTrace } from '@runwire/server/src/telemetry/run-trace.ts';
import { rows } from './tampered-store.ts';

/** Contents are exported without the setting. */
function leakContent(): Overrides {
  Object.defineProperty(RunTrace.prototype, 'hasContent', { get: () => true });
  return {};
}

export const TRACE_FAULTS = {
  // A takeover finds no parent, so its attempt is a trace of its own.
  'new-trace-per-attempt': () => rows('unfinished run', (found) => found.map((row) => ({ ...row, extras_json: null }))),
  'leak-content': leakContent,
};
