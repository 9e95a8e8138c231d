import { useEffect, useState } from 'react';
import { useChanges } from '../playground/changes.ts';
import { Parts } from '../playground/parts.tsx';
import type { EventLog, LogState } from './event-log.ts';
import { LiveParts } from './live-parts.ts';

interface LiveOutputProps {
  readonly log: EventLog;
  readonly logState: LogState;
}

/** An active run's output, as it is written. */
export function LiveOutput({ log, logState: { total } }: LiveOutputProps) {
  const [live] = useState(() => new LiveParts());
  useEffect(() => {
    if (total > 0) void live.read(log.frames);
  }, [live, log, total]);
  const { root } = live.content;
  useChanges(root.changes);
  if (root.parts.length === 0) return <p className="muted">The run has not written anything yet.</p>;
  return (
    <div className="answer">
      <Parts list={root} />
    </div>
  );
}
