import type { Schedule } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { May } from '../../ui/may.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateScheduleDialog } from './create-schedule-dialog.tsx';
import { REFRESH_MS, schedulesKey } from './schedule-queries.ts';
import { ScheduleState } from './schedule-state.tsx';
import { Timing } from './timing.tsx';

/** Requests may be large, so a page has few. */
const PAGE_ROWS = 50;

const listColumns = (integration: string): readonly Column<Schedule>[] => [
  {
    title: 'Name',
    share: 2,
    cell: ({ scheduleId, name }) => (
      <Link to="/integrations/$integration/schedules/$schedule" params={{ integration, schedule: scheduleId }}>
        <bdi>{shorten(name)}</bdi>
        <span className="visually-hidden">, {scheduleId}</span>
      </Link>
    ),
  },
  { title: 'State', cell: ScheduleState },
  { title: 'When', share: 1.5, cell: Timing },
  {
    title: 'Time zone',
    share: 1.2,
    isMinor: true,
    cell: ({ cron, timezone }) => (cron === null ? <Nothing /> : timezone),
  },
  { title: 'Next tick', share: 2, isMinor: true, cell: NextTick },
];

/** When the next tick is due, or why there is none. */
function NextTick({ nextTickAt, pausedReason }: Schedule) {
  if (nextTickAt !== null) return <Time time={nextTickAt} age />;
  return pausedReason === null ? <Nothing /> : <span title={pausedReason}>{shorten(pausedReason, 80)}</span>;
}

export function SchedulesPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/schedules' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const list = usePagedList(
    [...schedulesKey(integration), 'list'],
    (signal) => api().schedules.list({ apiIntegrationId: integration, limit: PAGE_ROWS }, { signal }),
    { refetchMs: REFRESH_MS },
  );
  const [isCreating, setCreating] = useCreateDialog('createSchedule');
  const create = (
    <May call="createSchedule">
      <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
        Create schedule
      </button>
    </May>
  );
  return (
    <Page
      title="Schedules"
      lead="Runs that start by themselves, once per tick."
      {...(list.rows.length === 0 ? {} : { actions: create })}
    >
      <DataTable
        what="schedules"
        list={list}
        columns={listColumns(integration)}
        rowKey={({ scheduleId }) => scheduleId}
        empty={
          <EmptyState title="No schedules yet">
            <p>Create one to start runs every Monday at nine, every five minutes, or once.</p>
            {create}
          </EmptyState>
        }
      />
      {isCreating && (
        <CreateScheduleDialog
          integration={integration}
          onClose={() => setCreating(false)}
          onCreated={({ scheduleId }) => {
            void client.invalidateQueries({ queryKey: schedulesKey(integration) });
            const params = { integration, schedule: scheduleId };
            void navigate({ to: '/integrations/$integration/schedules/$schedule', params });
          }}
        />
      )}
    </Page>
  );
}
