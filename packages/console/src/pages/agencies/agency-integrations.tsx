import type { Integration } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { May } from '../../ui/may.tsx';
import { type AgencyUsage, MAX_INTEGRATIONS } from './agency-usage.ts';
import { RunCountsText } from './run-counts.tsx';

interface AgencyIntegrationsProps {
  readonly integrations: readonly Integration[];
  readonly usage: AgencyUsage | undefined;
  /** The agent that the page shows. The playground opens with it if it is an entry point. */
  readonly agent: string | undefined;
}

/** The person's integrations that the agency answers, with the runs of the last 24 hours. */
export function AgencyIntegrations({ integrations, usage, agent }: AgencyIntegrationsProps) {
  return (
    <section className="stack-tight" aria-labelledby="integrations">
      <h2 id="integrations">Integrations</h2>
      {integrations.length === 0 ? (
        <p className="muted">
          None of your integrations uses this agency. Choose it in the settings of one, or{' '}
          <Link to="/integrations" search={{ create: '1' }}>
            create an integration
          </Link>
          .
        </p>
      ) : (
        <div className="table-frame">
          <table className="table">
            <caption className="visually-hidden">Integrations that use this agency</caption>
            <thead>
              <tr>
                <th scope="col">Integration</th>
                <th scope="col">Last 24 hours</th>
                <th scope="col">Playground</th>
              </tr>
            </thead>
            <tbody>
              {integrations.map(({ apiIntegrationId: integration, name }) => (
                <tr key={integration} data-row>
                  <td title={name ?? integration}>
                    <Link to="/integrations/$integration" params={{ integration }}>
                      <bdi>{name ?? integration}</bdi>
                    </Link>
                  </td>
                  <td>
                    <Link to="/integrations/$integration/runs" params={{ integration }}>
                      <RunCountsText counts={usage?.integrations.get(integration)} />
                    </Link>
                  </td>
                  <td>
                    <May call="getCompletionV2">
                      <Link
                        to="/integrations/$integration/playground"
                        params={{ integration }}
                        search={agent === undefined ? {} : { agent }}
                      >
                        Open<span className="visually-hidden"> the playground of {name ?? integration}</span>
                      </Link>
                    </May>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {integrations.length > MAX_INTEGRATIONS && (
        <p className="muted">
          Runs are counted for the first {MAX_INTEGRATIONS} integrations, also in the numbers at the agents.
        </p>
      )}
    </section>
  );
}
