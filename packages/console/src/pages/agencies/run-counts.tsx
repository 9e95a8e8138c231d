import { formatCount } from '../../lib/format.ts';
import type { RunCounts } from './agency-usage.ts';

/** `12 runs, 2 failed`. */
export function RunCountsText({ counts: { runs, failed } }: { readonly counts: RunCounts }) {
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
