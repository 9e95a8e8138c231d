import type { Agency, AgencyDefinition } from '@runwire/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { integrationsQuery, watchedAgenciesQuery } from '../../app/queries.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState, Loading } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import './agencies.css';
import { definitionQuery } from './agency-definition.ts';
import { AgencyFaults } from './agency-faults.tsx';
import { AgencyGraph } from './agency-graph.tsx';
import { AgencyIntegrations } from './agency-integrations.tsx';
import { AgencyProcess } from './agency-process.tsx';
import { agencyUsageQuery } from './agency-usage.ts';
import { type Agent, getTitle, SOURCES } from './agency-words.ts';
import { AgentDetails } from './agent-details.tsx';
import { AgentGuardrails } from './agent-guardrails.tsx';
import { AgentInstructions } from './agent-instructions.tsx';
import { AgentTools } from './agent-tools.tsx';
import { FlowsTable } from './flows-table.tsx';
import { layOutGraph } from './graph-layout.ts';
import { McpServers } from './mcp-servers.tsx';

const FROM = '/signed-in/agencies/$agency';

/** The widest graph that has room for the details beside it. */
const SIDE_BY_SIDE_PX = 640;

const toGraph = ({ agents = [], entryPoints = [], flows = [] }: Partial<Agency> = {}) =>
  layOutGraph({ agents: agents.map(({ name }) => name), entryPoints, flows });

export function AgencyPage() {
  const { agency: id } = useParams({ from: FROM });
  const { agent: chosen } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: '/agencies/$agency' });
  const { data: agencies, error, refetch } = useQuery(watchedAgenciesQuery);
  const agency = agencies?.find((item) => item.agency === id);
  const { data: integrations, isPending: areIntegrationsLoading } = useQuery(integrationsQuery);
  const users = useMemo(() => integrations?.filter((one) => one.agency === id) ?? [], [integrations, id]);
  const { data: usage } = useQuery(agencyUsageQuery(users));
  const definition = useQuery(definitionQuery(agency));
  const graph = useMemo(() => toGraph(agency), [agency]);
  // What appears later would move the rest of the page.
  const isLoading = areIntegrationsLoading || definition.isLoading;
  if (agency === undefined || isLoading) {
    return (
      <Page title={id}>
        {(agencies === undefined || isLoading) && error === null && <Loading what="the agency" />}
        {agencies === undefined && error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {agencies !== undefined && !isLoading && (
          <EmptyState title="This server has no agency with this id">
            <p>
              Its folder may have been renamed or removed. Choose another one on the page{' '}
              <Link to="/agencies">Agencies</Link>.
            </p>
          </EmptyState>
        )}
      </Page>
    );
  }
  const { agents, entryPoints, defaultAgent, flows, mcp, source, version, loadedAt } = agency;
  const agent =
    agents.find(({ name }) => name === chosen) ?? agents.find(({ name }) => name === defaultAgent) ?? agents[0];
  return (
    <Page
      title={getTitle(agency)}
      lead={
        <>
          <code>{id}</code>
          {source !== null && `, ${SOURCES[source]}`}
          {version === null && ', not loaded'}
          {version !== null && loadedAt !== null && (
            <>
              , version <code>{version}</code>, loaded <Time time={loadedAt} />
            </>
          )}
        </>
      }
    >
      <div className="stack-wide">
        {agency.error !== null && <AgencyFaults error={agency.error} hasOldVersion={version !== null} />}
        {agent !== undefined && (
          <section className="stack-tight" aria-labelledby="agents">
            <h2 id="agents">{flows.length === 0 ? 'Agents' : 'Agents and flows'}</h2>
            {/* A wide graph needs the whole width. */}
            <div className={graph.width > SIDE_BY_SIDE_PX ? 'agency-parts' : 'agency-parts agency-parts-narrow'}>
              <AgencyGraph
                key={id}
                graph={graph}
                chosen={agent.name}
                counts={usage?.agents}
                onChoose={(name) =>
                  void navigate({ search: name === defaultAgent ? {} : { agent: name }, replace: true })
                }
              />
              <AgentDetails
                agent={agent}
                isEntryPoint={entryPoints.includes(agent.name)}
                isDefault={agent.name === defaultAgent}
              />
            </div>
          </section>
        )}
        {agent !== undefined && <AgentText definition={definition} agent={agent} />}
        {integrations !== undefined && version !== null && (
          <AgencyIntegrations
            integrations={users}
            usage={usage}
            agent={agent !== undefined && entryPoints.includes(agent.name) ? agent.name : undefined}
          />
        )}
        {flows.length > 0 && <FlowsTable flows={flows} />}
        {version !== null && <AgencyProcess process={agency.process} />}
        {version !== null && <McpServers servers={mcp} />}
      </div>
    </Page>
  );
}

interface AgentTextProps {
  readonly definition: UseQueryResult<AgencyDefinition>;
  readonly agent: Agent;
}

/** What the agent's model reads. */
function AgentText({ definition: { data, error, refetch }, agent: shown }: AgentTextProps) {
  if (data === undefined) {
    return error === null ? (
      <Loading what="the instructions" />
    ) : (
      <ErrorNotice error={error} onRetry={() => void refetch()} />
    );
  }
  const { name, approval, editable, remember, conditional } = shown;
  const agent = data.agents.find((one) => one.name === name);
  if (agent === undefined) return null;
  return (
    <div key={name} className="agent-texts">
      <AgentInstructions definition={data} agent={agent} />
      <AgentGuardrails definition={data} agent={agent} />
      <AgentTools agent={agent} {...{ approval, editable, remember, conditional }} />
    </div>
  );
}
