import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { scheduleQuery } from './schedule-queries.ts';
import { ScheduleView } from './schedule-view.tsx';

export function SchedulePage() {
  const { integration, schedule } = useParams({ from: '/signed-in/integrations/$integration/schedules/$schedule' });
  const { data, error, refetch } = useQuery(scheduleQuery(integration, schedule));
  // The page's state must not move to another schedule.
  if (data !== undefined) return <ScheduleView key={schedule} integration={integration} schedule={data} />;
  return (
    <Page title="Schedule">
      {error === null ? <Loading what="the schedule" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}
