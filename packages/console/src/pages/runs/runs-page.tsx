import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { changedSearch } from '../../app/search.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { RunFilters } from './run-filters.tsx';
import { RunHistogram } from './run-histogram.tsx';
import { RunsTable } from './runs-table.tsx';

export function RunsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/runs' });
  const search = useSearch({ from: '/signed-in/integrations/$integration/runs' });
  const navigate = useNavigate({ from: '/integrations/$integration/runs' });
  const isFiltered = Object.keys(search).length > 0;
  return (
    <Page title="Runs" lead="A run is one request that an agent answers. The newest run is first.">
      <RunFilters
        integration={integration}
        search={search}
        onChange={(changed) => void navigate({ search: changedSearch(changed), replace: true, resetScroll: false })}
        onClear={() => void navigate({ search: {}, replace: true })}
      />
      <RunHistogram
        integration={integration}
        search={search}
        onChoose={(times) => void navigate({ search: changedSearch(times), replace: false, resetScroll: false })}
      />
      <RunsTable
        integration={integration}
        search={search}
        empty={
          isFiltered ? (
            <EmptyState title="No run matches the filters">
              <p>Change a filter, or clear all filters.</p>
            </EmptyState>
          ) : (
            <EmptyState title="No runs yet">
              <p>Send a message in the playground, or from your backend.</p>
              <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
                Open the playground
              </Link>
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
