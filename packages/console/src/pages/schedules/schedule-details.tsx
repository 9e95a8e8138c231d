import type { Schedule } from '@runwire/client';
import { formatJson } from '../../lib/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { isOver } from './schedule-state.tsx';
import { Timing } from './timing.tsx';

const CATCH_UP: Readonly<Record<Schedule['catchUp'], string>> = {
  latest: 'the latest missed tick',
  none: 'no missed tick',
  all: 'all missed ticks, at most 24',
};

export function ScheduleDetails({ schedule }: { readonly schedule: Schedule }) {
  const { scheduleId, cron, timezone, catchUp, nextTickAt, request, createdAt, updatedAt } = schedule;
  return (
    <>
      <StateNotice schedule={schedule} />
      <section className="card stack-tight" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <dl className="definition">
          <dt>When</dt>
          <dd>
            <Timing {...schedule} />
          </dd>
          <dt>Time zone</dt>
          <dd>{cron === null ? <Nothing /> : timezone}</dd>
          <dt>Next tick</dt>
          <dd>{nextTickAt === null ? <Nothing /> : <Time time={nextTickAt} />}</dd>
          <dt>Catches up</dt>
          <dd>{CATCH_UP[catchUp]}</dd>
          <dt>Schedule id</dt>
          <dd className="row">
            <code>{scheduleId}</code> <CopyButton text={scheduleId} label="Copy schedule id" />
          </dd>
          <dt>Created</dt>
          <dd>
            <Time time={createdAt} />
          </dd>
          <dt>Changed</dt>
          <dd>
            <Time time={updatedAt} />
          </dd>
        </dl>
      </section>
      <section className="stack-tight">
        <h2>Request</h2>
        <JsonView text={formatJson(request)} label="request" />
      </section>
    </>
  );
}

/** Why nothing ticks, and what to do. */
function StateNotice({ schedule }: { readonly schedule: Schedule }) {
  const { active, pausedReason } = schedule;
  if (active) return null;
  if (pausedReason !== null) {
    return (
      <div className="notice notice-bad">
        <strong>The server paused the schedule.</strong>
        <p>
          {pausedReason} Correct the cause, then choose <em>Resume</em>.
        </p>
      </div>
    );
  }
  return isOver(schedule) ? (
    <div className="notice">
      <strong>The only tick has passed.</strong>
      <p>
        To use the schedule again, choose <em>Change</em>, set a later time and make it active.
      </p>
    </div>
  ) : (
    <div className="notice notice-warn">
      <strong>The schedule is paused.</strong>
      <p>Ticks that pass now are not run later. After you resume it, the schedule continues with its next tick.</p>
    </div>
  );
}
