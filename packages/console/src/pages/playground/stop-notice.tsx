import type { CancelResult } from '@runwire/client';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { LiveRun } from './live-run.ts';

const ANSWERS: Readonly<Record<CancelResult['status'], string>> = {
  cancelling: 'The server is stopping the run. It waits for a call that is being made.',
  cancelled: 'The server stopped the run. The text so far is kept, and what was used is charged.',
  completed: 'The run had completed before it could be stopped.',
  failed: 'The run had failed before it could be stopped.',
};

/** What the server answered when the person stopped the run. */
export function StopNotice({ live: { stopState, result } }: { readonly live: LiveRun }) {
  if (stopState === null) return null;
  if (typeof stopState === 'object') return <ErrorNotice error={stopState} />;
  // A run that was still stopping when the server answered has ended now.
  const state = stopState === 'cancelling' && result !== null ? result.status : stopState;
  return (
    <p className="part-line" role="status">
      {state === 'asked' ? 'Asking the server to stop…' : ANSWERS[state]}
    </p>
  );
}
