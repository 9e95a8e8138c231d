import { formatDuration } from '../../lib/format.ts';
import type { TimelineSpan } from './time-span.ts';

const MARKS = [0, 0.25, 0.5, 0.75, 1];

interface TimelineAxisProps {
  readonly span: TimelineSpan;
  /** When the run began. */
  readonly beginMs: number;
}

/** The times below which the bars are, from the start of the run. */
export function TimelineAxis({ span: { startMs, durationMs }, beginMs }: TimelineAxisProps) {
  return (
    <div className="timeline-axis small muted" aria-hidden="true">
      {MARKS.map((mark) => (
        <span key={mark}>{formatDuration(Math.max(0, startMs - beginMs + mark * durationMs))}</span>
      ))}
    </div>
  );
}
