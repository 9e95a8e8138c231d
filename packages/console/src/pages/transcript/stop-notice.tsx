import { CANCEL_ANSWERS } from '../../lib/cancel-answers.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { LiveRun } from './live-run.ts';

/** What the server answered when the person stopped the run. */
export function StopNotice({ live: { stopState, result } }: { readonly live: LiveRun }) {
  if (stopState === null) return null;
  if (typeof stopState === 'object') return <ErrorNotice error={stopState} />;
  // A run that was still stopping when the server answered has ended now.
  const state = stopState === 'cancelling' && result !== null ? result.status : stopState;
  return (
    <p className="part-line" role="status">
      {state === 'asked' ? 'Asking the server to stop…' : CANCEL_ANSWERS[state]}
    </p>
  );
}
