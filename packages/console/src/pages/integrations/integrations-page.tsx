import type { Agency, Integration } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { wholeList } from '../../app/paged-list.ts';
import { integrationsQuery, watchedAgenciesQuery } from '../../app/queries.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { AgencyBadge } from '../../ui/agency-warning.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateIntegrationDialog } from './create-integration-dialog.tsx';
import { FirstAgencyHint } from './first-agency-hint.tsx';
import './integrations.css';
import { May } from '../../ui/may.tsx';

const columnsFor = (agencies: readonly Agency[] | undefined): readonly Column<Integration>[] => [
  {
    title: 'Name',
    share: 2,
    cell: ({ apiIntegrationId, name }) => (
      <span className="integration-link">
        <Link className="ellipsis" to="/integrations/$integration" params={{ integration: apiIntegrationId }}>
          <bdi>{name ?? apiIntegrationId}</bdi>
        </Link>
      </span>
    ),
  },
  { title: 'Id', share: 1.5, isMinor: true, cell: ({ apiIntegrationId }) => <code>{apiIntegrationId}</code> },
  {
    title: 'Agency',
    share: 1.5,
    cell: ({ agency }) => (
      <span className="integration-link">
        <Link className="ellipsis" to="/agencies/$agency" params={{ agency }}>
          <bdi>{agency}</bdi>
        </Link>
        <AgencyBadge agencies={agencies} agency={agency} />
      </span>
    ),
  },
  { title: 'Entry point', isMinor: true, cell: ({ defaultAgent }) => <bdi>{defaultAgent ?? <Nothing />}</bdi> },
  {
    title: 'Model',
    isMinor: true,
    cell: ({ model }) => (model === null ? <span className="muted">of the agency</span> : <bdi>{model}</bdi>),
  },
  { title: 'Created', isMinor: true, cell: ({ createdAt }) => <Time time={createdAt} age /> },
];

export function IntegrationsPage() {
  const list = wholeList(useQuery(integrationsQuery));
  const { data: agencies } = useQuery(watchedAgenciesQuery);
  const columns = useMemo(() => columnsFor(agencies), [agencies]);
  const [isCreating, setCreating] = useCreateDialog('createIntegration');
  const hasOwnAgency = agencies?.some(({ source }) => source !== 'bundled') ?? true;
  const create = (
    <May call="createIntegration">
      <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
        Create integration
      </button>
    </May>
  );
  const isEmpty = !list.isLoading && list.error === null && list.rows.length === 0;
  return (
    <Page
      title="Integrations"
      lead="Your backend calls an integration, and the agents of its agency answer."
      {...(isEmpty ? {} : { actions: create })}
    >
      <div className="stack-wide">
        <DataTable
          what="integrations"
          list={list}
          columns={columns}
          rowKey={({ apiIntegrationId }) => apiIntegrationId}
          empty={
            <EmptyState title="No integrations yet">
              <p>
                An integration connects your backend to an agency: a group of agents that works together. It has its own
                members, chats, files and limits.
              </p>
              {create}
            </EmptyState>
          }
        />
        {!hasOwnAgency && <FirstAgencyHint />}
      </div>
      {isCreating && <CreateIntegrationDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}
