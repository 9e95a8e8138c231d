import type { RunRecord } from '@runwire/client';
import { useEffect, useState } from 'react';
import { formatCount, formatNumber } from '../../lib/format.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import type { EventLog, LogState } from './event-log.ts';
import { EventRows } from './event-rows.tsx';
import { frameText, isCompacted, readableFrame } from './event-text.ts';
import { isActive } from './run-state.ts';

interface EventsTabProps {
  readonly run: RunRecord;
  readonly log: EventLog;
  readonly state: LogState;
  readonly text: string;
  readonly onText: (text: string) => void;
}

/** The run's events as sent. */
export function EventsTab({ run, log, state, text, onText }: EventsTabProps) {
  const [chosenId, setChosenId] = useState<number | null>(null);
  useEffect(() => log.setFilter(text), [log, text]);
  if (run.chatDeleted) return <p className="muted">The chat of this run was deleted, and the events with it.</p>;
  const chosen = chosenId === null ? undefined : log.frames.find(({ id }) => id === chosenId);
  return (
    <div className="stack">
      <search className="row events-filter">
        <FilterField label="Events that contain" name="text" value={text} onChange={onText} />
        <p className="small muted" role="status">
          {toSentence(run, state, text)}
        </p>
      </search>
      {state.error !== null && <ErrorNotice error={state.error} onRetry={() => log.start()} />}
      {!state.isReading && isCompacted(log.frames) && (
        <div className="notice">
          <strong>The events were compacted.</strong>
          <p>
            The server keeps all events for some days after the end of a run. Then it joins the pieces of each text, so
            these are fewer events than were sent.
          </p>
        </div>
      )}
      <EventRows log={log} state={state} chosenId={chosenId} onChoose={setChosenId} />
      {chosen !== undefined && (
        <CodeBlock code={readableFrame(chosen)} copied={frameText(chosen)} label={`event ${chosen.id}`} />
      )}
    </div>
  );
}

function toSentence(run: RunRecord, { total, matching, isReading }: LogState, text: string): string {
  const events = formatCount(total, 'event');
  const found = text === '' ? events : `${formatNumber(matching)} of ${events}`;
  if (!isReading) return found;
  return isActive(run) ? `${found}; the run continues` : `${found}; reading…`;
}
