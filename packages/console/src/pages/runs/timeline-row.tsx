import { formatDuration } from '../../lib/format.ts';
import { Status } from '../../ui/feedback.tsx';
import { shorten } from '../../ui/long-text.tsx';
import type { TimelineStep } from './step-tree.ts';

interface TimelineRowProps {
  readonly row: TimelineStep;
  /** The time of the whole run. */
  readonly span: { readonly startMs: number; readonly durationMs: number };
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

/** Deeper steps are not indented further, because narrow screens have no room. */
const MAX_DEPTH = 4;

export function TimelineRow({ row: { step, depth, startMs, endMs }, span, isChosen, onChoose }: TimelineRowProps) {
  const share = (ms: number) => `${100 * Math.min(1, Math.max(0, span.durationMs === 0 ? 0 : ms / span.durationMs))}%`;
  return (
    <li>
      <button
        type="button"
        className={`timeline-row timeline-${step.kind}`}
        aria-current={isChosen ? 'true' : undefined}
        onClick={onChoose}
      >
        <span className="timeline-text" style={{ paddingInlineStart: `${Math.min(depth, MAX_DEPTH)}rem` }}>
          <span className="ellipsis">
            {step.tool === null ? 'Model' : <code>{shorten(step.tool)}</code>}{' '}
            <bdi className="small muted">{shorten(step.agent)}</bdi>
          </span>
          {step.status === 'failed' && <Status status="failed" />}
        </span>
        <span className="small number">{formatDuration(endMs - startMs)}</span>
        <span className="timeline-bar" aria-hidden="true">
          <span style={{ insetInlineStart: share(startMs - span.startMs), width: share(endMs - startMs) }} />
        </span>
      </button>
    </li>
  );
}
