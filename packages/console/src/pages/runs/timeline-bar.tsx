import { type TimelineSpan, toShare } from './time-span.ts';

interface TimelineBarProps {
  readonly span: TimelineSpan;
  readonly startMs: number;
  readonly endMs: number;
  /** When the model's first output arrived; null if it is not known. */
  readonly firstMs?: number | null;
}

const percent = (share: number) => `${100 * share}%`;

/** Shows when a step ran. */
export function TimelineBar({ span, startMs, endMs, firstMs = null }: TimelineBarProps) {
  const [from, to] = [toShare(span, startMs), toShare(span, endMs)];
  const first = firstMs === null ? 0 : toShare(span, firstMs);
  return (
    <span className="timeline-bar" aria-hidden="true">
      <span className="timeline-time" style={{ insetInlineStart: percent(from), width: percent(to - from) }} />
      {firstMs !== null && first > from && first < to && (
        <span className="timeline-first" style={{ insetInlineStart: percent(first) }} />
      )}
    </span>
  );
}
