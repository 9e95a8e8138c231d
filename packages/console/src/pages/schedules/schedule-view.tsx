import type { Schedule, ScheduledRun } from '@runwire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { shorten } from '../../lib/shorten.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { May } from '../../ui/may.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EditScheduleDialog } from './edit-schedule-dialog.tsx';
import { ScheduleDetails } from './schedule-details.tsx';
import { schedulesKey } from './schedule-queries.ts';
import { isOver, ScheduleState } from './schedule-state.tsx';
import { Ticks } from './ticks.tsx';

interface ScheduleViewProps {
  readonly integration: string;
  readonly schedule: Schedule;
}

export function ScheduleView({ integration, schedule }: ScheduleViewProps) {
  const { scheduleId, name, active, nextTickAt } = schedule;
  const ids = { apiIntegrationId: integration, scheduleId };
  const client = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const close = () => setDialog(null);
  const finish = (text: string) => {
    void client.invalidateQueries({ queryKey: schedulesKey(integration) });
    notify(text);
  };
  const toggle = useMutation({
    mutationFn: async () => {
      await api().schedules.update({ ...ids, active: !active });
      finish(active ? 'The schedule is paused.' : 'The schedule is active.');
    },
  });
  const run = useMutation({ mutationFn: () => api().schedules.run(ids) });
  const isPending = toggle.isPending || run.isPending;
  const error = toggle.error ?? run.error;
  const act = (action: typeof toggle.mutate | typeof run.mutate) => {
    if (isPending) return;
    toggle.reset();
    run.reset();
    action();
  };
  return (
    <Page
      title={shorten(name, 80)}
      place={scheduleId}
      lead={
        <span className="row" role="status">
          <ScheduleState {...schedule} />
          {nextTickAt !== null && (
            <span>
              next tick <Time time={nextTickAt} age />
            </span>
          )}
        </span>
      }
      actions={
        <>
          <May call="runSchedule">
            <button type="button" className="button" aria-disabled={isPending} onClick={() => act(run.mutate)}>
              {run.isPending ? 'Starting…' : 'Run now'}
            </button>
          </May>
          <May call="updateSchedule">
            <button type="button" className="button" onClick={() => setDialog('edit')}>
              Change
            </button>
          </May>
          {!isOver(schedule) && (
            <May call="updateSchedule">
              <button type="button" className="button" aria-disabled={isPending} onClick={() => act(toggle.mutate)}>
                {toggle.isPending ? 'Sending…' : active ? 'Pause' : 'Resume'}
              </button>
            </May>
          )}
          <May call="deleteSchedule">
            <button type="button" className="button button-danger" onClick={() => setDialog('delete')}>
              Delete
            </button>
          </May>
        </>
      }
    >
      <div className="stack-wide">
        {error !== null && <ErrorNotice error={error} />}
        {run.data !== undefined && <StartedNotice integration={integration} run={run.data} />}
        <ScheduleDetails schedule={schedule} />
        <Ticks integration={integration} scheduleId={scheduleId} />
      </div>
      {dialog === 'edit' && (
        <EditScheduleDialog
          integration={integration}
          schedule={schedule}
          onClose={close}
          onChanged={() => {
            close();
            finish('The schedule is changed.');
          }}
        />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete the schedule?"
          action="Delete schedule"
          pendingLabel="Deleting…"
          onClose={close}
          onConfirm={async () => {
            await api().schedules.delete(ids);
            await navigate({ to: '/integrations/$integration/schedules', params: { integration } });
            client.removeQueries({ queryKey: [...schedulesKey(integration), scheduleId] });
            finish('The schedule is deleted.');
          }}
        >
          <p>It will start no more runs, and its ticks are deleted. Its runs remain.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}

interface StartedNoticeProps {
  readonly integration: string;
  readonly run: ScheduledRun;
}

/** The run that a person has started, which is no tick. */
function StartedNotice({ integration, run: { runId } }: StartedNoticeProps) {
  return (
    <div className="notice notice-good" role="status">
      <p>
        The run{' '}
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          {runId}
        </Link>{' '}
        was started. It is no tick, so it is not in the list below.
      </p>
    </div>
  );
}
