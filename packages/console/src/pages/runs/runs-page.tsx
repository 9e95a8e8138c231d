import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { changedSearch } from '../../app/search.ts';
import type { SearchFilter } from '../../ui/search-field.tsx';
import type { ListSearch } from '../lists/list-kind.ts';
import { ListPage } from '../lists/list-page.tsx';
import { memberFilter } from '../lists/member-filter.tsx';
import { RunHistogram } from './run-histogram.tsx';
import { CHOOSE_FIRST, comparedRunList, runList } from './run-list.tsx';

const STATUSES = ['admitted', 'running', 'completed', 'failed', 'cancelled'];

export function RunsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/runs' });
  const search = useSearch({ from: '/signed-in/integrations/$integration/runs' });
  const navigate = useNavigate({ from: '/integrations/$integration/runs' });
  const filters: readonly SearchFilter[] = [
    { name: 'status', detail: 'state of the run', values: STATUSES },
    { name: 'agent', detail: 'agent of the request', values: useAgents(integration) },
    memberFilter(integration),
    { name: 'chat', detail: 'id of the chat' },
    { name: 'original', detail: 'id of a run with reruns' },
  ];
  const { compare } = search;
  const kind = useMemo(() => (compare === undefined ? runList : comparedRunList(compare)), [compare]);
  const change = (changed: ListSearch) =>
    void navigate({ search: changedSearch(changed), replace: true, resetScroll: false });
  return (
    <ListPage
      kind={kind}
      title="Runs"
      lead="A run is one request that an agent answers. The newest run is first."
      integration={integration}
      search={search}
      onChange={change}
      filters={filters}
      hasEnd
      hasSide={compare === undefined}
      actions={
        compare === undefined && (
          <button type="button" className="button" onClick={() => change({ compare: CHOOSE_FIRST })}>
            Compare two runs
          </button>
        )
      }
      above={(shown) => (
        <>
          <RunHistogram
            integration={integration}
            search={shown}
            onChoose={(times) => void navigate({ search: changedSearch({ ...times, last: '' }), resetScroll: false })}
          />
          {compare !== undefined && (
            <p className="notice compare-choice" role="status">
              {compare === CHOOSE_FIRST ? 'Choose the first run in the list.' : 'Choose the run to compare it with.'}
              <button type="button" className="button button-small" onClick={() => change({ compare: '' })}>
                Do not compare
              </button>
            </p>
          )}
        </>
      )}
    />
  );
}

/** The agency's agents. */
function useAgents(integration: string): readonly string[] {
  const { data: agencies = [] } = useQuery(agenciesQuery);
  const { data: settings } = useQuery(integrationQuery(integration));
  return agencies.find(({ agency }) => agency === settings?.agency)?.agents.map(({ name }) => name) ?? [];
}
