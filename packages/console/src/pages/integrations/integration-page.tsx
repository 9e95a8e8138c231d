import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { integrationQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import './integrations.css';
import { May } from '../../ui/may.tsx';
import { ConnectPanel } from './connect-panel.tsx';
import { OverviewPanel } from './overview-panel.tsx';
import { SettingsPanel } from './settings-panel.tsx';

const FROM = '/signed-in/integrations/$integration';

export function IntegrationPage() {
  const { integration: id } = useParams({ from: FROM });
  const { tab } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/integrations/$integration' });
  const { data: integration, error, refetch } = useQuery(integrationQuery(id));
  if (integration === undefined) {
    return (
      <Page title={id}>
        {error === null ? (
          <Loading what="the integration" />
        ) : (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  const { name, agency, defaultAgent } = integration;
  return (
    <Page
      title={name ?? id}
      lead={
        <>
          <code>{id}</code>, answered by{' '}
          {defaultAgent !== null && (
            <>
              <bdi>{defaultAgent}</bdi> of{' '}
            </>
          )}
          the agency{' '}
          <Link to="/agencies/$agency" params={{ agency }}>
            <bdi>{agency}</bdi>
          </Link>
          .
        </>
      }
      actions={
        <May call="getCompletionV2">
          <Link className="button" to="/integrations/$integration/playground" params={{ integration: id }}>
            Open playground
          </Link>
        </May>
      }
    >
      <Tabs
        // Another integration has other settings in the same form.
        key={id}
        label="Parts of the integration"
        value={tab === 'settings' || tab === 'connect' ? tab : 'overview'}
        onChange={(value) => void navigate({ search: value === 'overview' ? {} : { tab: value }, replace: true })}
        tabs={[
          { id: 'overview', title: 'Overview', content: <OverviewPanel integration={integration} /> },
          { id: 'connect', title: 'Connect', content: <ConnectPanel integration={integration} /> },
          { id: 'settings', title: 'Settings', content: <SettingsPanel integration={integration} />, isKept: true },
        ]}
      />
    </Page>
  );
}
