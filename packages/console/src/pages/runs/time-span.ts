/** The part of a run's time that the bars show. */
export interface TimelineSpan {
  readonly startMs: number;
  readonly durationMs: number;
}

interface Times {
  readonly startMs: number;
  readonly endMs: number;
}

const LEAST_MS = 10;
/** The room before and after a chosen step. */
const MARGIN = 0.1;

/** Shows the chosen step if it takes a part of the span, otherwise the middle half. */
export function zoomIn(span: TimelineSpan, chosen: Times | null): TimelineSpan {
  const { startMs, durationMs } = span;
  const ownMs = chosen === null ? 0 : Math.max(LEAST_MS, (chosen.endMs - chosen.startMs) * (1 + 2 * MARGIN));
  if (chosen !== null && ownMs < durationMs) {
    const middleMs = (chosen.startMs + chosen.endMs) / 2;
    return { startMs: middleMs - ownMs / 2, durationMs: ownMs };
  }
  const half = Math.max(LEAST_MS, durationMs / 2);
  return { startMs: startMs + (durationMs - half) / 2, durationMs: half };
}

/** Shows twice as much. Null if that is the whole run. */
export function zoomOut({ startMs, durationMs }: TimelineSpan, whole: TimelineSpan): TimelineSpan | null {
  if (2 * durationMs >= whole.durationMs) return null;
  const earliest = startMs - durationMs / 2;
  const latest = whole.startMs + whole.durationMs - 2 * durationMs;
  return { startMs: Math.max(whole.startMs, Math.min(earliest, latest)), durationMs: 2 * durationMs };
}

/** The share of the span at a time, between 0 and 1. */
export const toShare = ({ startMs, durationMs }: TimelineSpan, timeMs: number): number =>
  durationMs === 0 ? 0 : Math.min(1, Math.max(0, (timeMs - startMs) / durationMs));
