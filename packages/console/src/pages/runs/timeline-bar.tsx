/** The whole run's time. */
export interface TimelineSpan {
  readonly startMs: number;
  readonly durationMs: number;
}

interface TimelineBarProps {
  readonly span: TimelineSpan;
  readonly startMs: number;
  readonly endMs: number;
}

/** Shows when a step ran. */
export function TimelineBar({ span, startMs, endMs }: TimelineBarProps) {
  const share = (ms: number) => `${100 * Math.min(1, Math.max(0, span.durationMs === 0 ? 0 : ms / span.durationMs))}%`;
  return (
    <span className="timeline-bar" aria-hidden="true">
      <span style={{ insetInlineStart: share(startMs - span.startMs), width: share(endMs - startMs) }} />
    </span>
  );
}
