import type { RunRecord } from '@runwire/client';
import { useEffect, useMemo, useState } from 'react';
import { useChanges } from '../transcript/changes.ts';
import { Parts, PartsRunContext } from '../transcript/parts.tsx';
import { NO_QUESTIONS } from '../transcript/turn.ts';
import type { EventLog, LogState } from './event-log.ts';
import { LiveParts } from './live-parts.ts';

interface LiveOutputProps {
  readonly run: Pick<RunRecord, 'apiIntegrationId' | 'runId'>;
  readonly log: EventLog;
  readonly logState: LogState;
}

/** An active run's output, as it is written. */
export function LiveOutput({ run: { apiIntegrationId, runId }, log, logState: { total } }: LiveOutputProps) {
  const [live] = useState(() => new LiveParts());
  useEffect(() => {
    if (total > 0) void live.read(log.frames);
  }, [live, log, total]);
  const { root } = live.content;
  useChanges(root.changes);
  const partsRun = useMemo(
    () => ({ integration: apiIntegrationId, runId, isActive: true, calls: [], pending: NO_QUESTIONS }),
    [apiIntegrationId, runId],
  );
  if (root.parts.length === 0) return <p className="muted">The run has not written anything yet.</p>;
  return (
    <div className="answer">
      <PartsRunContext value={partsRun}>
        <Parts list={root} />
      </PartsRunContext>
    </div>
  );
}
