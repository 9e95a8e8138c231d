import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { EndpointView } from './endpoint-view.tsx';
import { endpointQuery } from './webhook-queries.ts';
import './webhooks.css';

export function EndpointPage() {
  const { integration, endpoint } = useParams({ from: '/signed-in/integrations/$integration/webhooks/$endpoint' });
  const { data, error, refetch } = useQuery(endpointQuery(integration, endpoint));
  // The page's state must not move to another endpoint.
  if (data !== undefined) return <EndpointView key={endpoint} integration={integration} endpoint={data} />;
  return (
    <Page title="Endpoint">
      {error === null ? <Loading what="the endpoint" /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}
