import { formatCount } from '../../lib/format.ts';
import type { RunCounts } from './agency-usage.ts';

/** `12 runs, 2 failed`. Unknown counts are *Runs*. */
export function RunCountsText({ counts }: { readonly counts: RunCounts | undefined }) {
  if (counts === undefined) return 'Runs';
  const { runs, failed } = counts;
  return (
    <span className="run-counts">
      {formatCount(runs, 'run')}
      {failed > 0 && (
        <>
          , <span className="run-counts-failed">{failed} failed</span>
        </>
      )}
    </span>
  );
}
