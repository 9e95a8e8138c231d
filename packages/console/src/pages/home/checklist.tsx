import type { Integration } from '@runwire/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../app/api.ts';
import { agenciesQuery } from '../../app/queries.ts';
import { Badge } from '../../ui/feedback.tsx';
import { useMay } from '../../ui/may.tsx';

/** The first request is shown this soon after it arrived. */
const LIVE_MS = 3_000;

interface Progress {
  readonly hasKey: boolean;
  /** The newest run of the integration. Null if there is none. */
  readonly runId: string | null;
  readonly hasMember: boolean;
}

const isComplete = ({ hasKey, runId, hasMember }: Progress) => hasKey && runId !== null && hasMember;

const startedQuery = (apiIntegrationId: string) =>
  queryOptions({
    queryKey: ['started', apiIntegrationId],
    queryFn: async ({ signal }): Promise<Progress> => {
      const options = { signal };
      const [keys, runs, members] = await Promise.all([
        api().keys.list({ limit: 1 }, options).page(),
        api().runs.list({ apiIntegrationId, texts: false, limit: 1 }, options).page(),
        api().members.list({ apiIntegrationId, limit: 1 }, options).page(),
      ]);
      const runId = runs.items[0]?.runId ?? null;
      return { hasKey: keys.items.length > 0, runId, hasMember: members.items.length > 0 };
    },
    refetchInterval: ({ state: { data } }) => (data !== undefined && isComplete(data) ? false : LIVE_MS),
  });

/** The steps are for people who may do them. Others may not even read the keys. */
const useStarted = (integration: string) => useQuery({ ...startedQuery(integration), enabled: useMay('createApiKey') });

/** True until it is known which steps are done. A list that appears later would move the page. */
export function useIsChecklistLoading(integration: string): boolean {
  const agencies = useQuery(agenciesQuery);
  const started = useStarted(integration);
  return agencies.isLoading || started.isLoading;
}

/** The first steps with an integration, until all of them are done. */
export function Checklist({
  integration: { apiIntegrationId: integration, allowances },
}: {
  readonly integration: Integration;
}) {
  const { data: agencies } = useQuery(agenciesQuery);
  const { data: started } = useStarted(integration);
  if (agencies === undefined || started === undefined) return null;
  const hasOwnAgency = agencies.some(({ source }) => source !== 'bundled');
  if (isComplete(started) && hasOwnAgency && allowances !== null) return null;
  const params = { integration };
  return (
    <section className="card stack-tight" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol className="plain-list stack-tight">
        <Step isDone={started.hasKey}>
          <Link to="/keys">Create an API key</Link> for your backend.
        </Step>
        <Step isDone={started.runId !== null}>
          {started.runId === null ? (
            <>
              <Link to="/integrations/$integration" params={params} search={{ tab: 'connect' }}>
                Send the first request
              </Link>
              . It appears here while it runs.
            </>
          ) : (
            <>
              The first request has arrived:{' '}
              <Link to="/integrations/$integration/runs/$run" params={{ integration, run: started.runId }}>
                the newest run
              </Link>
              .
            </>
          )}
        </Step>
        <Step isDone={hasOwnAgency}>
          Make an <Link to="/agencies">agency</Link> of your own: <code>runwire init my-agents</code>
        </Step>
        <Step isDone={started.hasMember}>
          Register a{' '}
          <Link to="/integrations/$integration/members" params={params}>
            member
          </Link>
          : a person or an account of your product.
        </Step>
        <Step isDone={allowances !== null}>
          Give each member an{' '}
          <Link to="/integrations/$integration" params={params} search={{ tab: 'settings' }}>
            allowance
          </Link>
          .
        </Step>
      </ol>
    </section>
  );
}

function Step({ isDone, children }: { readonly isDone: boolean; readonly children: ReactNode }) {
  return (
    <li className="row row-beside">
      <Badge tone={isDone ? 'good' : 'neutral'}>{isDone ? 'done' : 'to do'}</Badge>
      <span>{children}</span>
    </li>
  );
}
