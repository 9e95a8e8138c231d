import type { RunRecord } from '@runwire/client';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { EventLog, type LogState } from './event-log.ts';

/**
 * A run's events. They are read when they are first needed, kept while the page is open, and released when it is
 * left.
 */
export function useEventLog(
  { apiIntegrationId, runId, chatId, usageRequestId }: RunRecord,
  isNeeded: boolean,
): readonly [EventLog, LogState] {
  const [log] = useState(() => new EventLog({ apiIntegrationId, runId, chatId, usageRequestId, lastEventId: 0 }));
  const [isStarted, setStarted] = useState(false);
  if (isNeeded && !isStarted) setStarted(true);
  useEffect(() => {
    if (!isStarted) return;
    log.start();
    return () => log.stop();
  }, [log, isStarted]);
  return [log, useSyncExternalStore(log.subscribe, log.state)];
}
