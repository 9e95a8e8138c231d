import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { integrationQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { usageQuery } from '../usage/usage-data.ts';
import { dayTimes, readPeriod } from '../usage/usage-period.ts';
import { UsageReport } from '../usage/usage-report.tsx';

interface MemberUsageProps {
  readonly integration: string;
  readonly consumerId: string;
}

/** What the member used in the last 30 days. */
export function MemberUsage({ integration, consumerId }: MemberUsageProps) {
  const period = readPeriod(undefined, undefined);
  const filters = { period, member: consumerId, agent: undefined, model: undefined };
  const usage = useQuery(usageQuery(integration, filters, null));
  const settings = useQuery(integrationQuery(integration));
  const navigate = useNavigate();
  const error = usage.error ?? settings.error;
  const retry = () => {
    void usage.refetch();
    void settings.refetch();
  };
  if (error !== null) return <ErrorNotice error={error} onRetry={retry} />;
  if (usage.data === undefined || settings.data === undefined) return <Loading what="the usage" />;
  if (usage.data.days.length === 0) {
    return (
      <EmptyState title="No runs in the last 30 days">
        <p>Tokens, runs and charge of this member are shown here by day.</p>
      </EmptyState>
    );
  }
  return (
    <div className="stack-wide">
      <UsageReport
        usage={usage.data}
        measure="tokens"
        unit={settings.data.allowances?.unit ?? null}
        marks={[]}
        onChoose={(day) =>
          void navigate({
            to: '/integrations/$integration/runs',
            params: { integration },
            search: { member: consumerId, ...dayTimes(day) },
          })
        }
      />
      <Link to="/integrations/$integration/usage" params={{ integration }} search={{ member: consumerId }}>
        Other days, agents and models
      </Link>
    </div>
  );
}
