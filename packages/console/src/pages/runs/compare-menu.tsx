import type { RunRecord } from '@runwire/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { formatAge } from '../../lib/format.ts';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { rerunsQuery } from './run-queries.ts';

const MAX_RERUNS = 3;

/** The run of the chat before this one. Null if it is the first. */
const runBeforeQuery = ({ apiIntegrationId, chatId, runId, createdAt }: RunRecord) =>
  queryOptions({
    queryKey: ['runs', apiIntegrationId, runId, 'before'],
    queryFn: async ({ signal }) => {
      const filter = { apiIntegrationId, chatId, to: createdAt, texts: false, limit: 1 };
      return (await api().runs.list(filter, { signal }).page()).items[0] ?? null;
    },
    staleTime: 60_000,
  });

/** With which other run the run can be compared. */
export function CompareMenu({ run }: { readonly run: RunRecord }) {
  return (
    <Menu
      trigger={
        <button type="button" className="button">
          Compare
        </button>
      }
    >
      <Choices run={run} />
    </Menu>
  );
}

function Choices({ run }: { readonly run: RunRecord }) {
  const { apiIntegrationId: integration, runId, rerunOf } = run;
  const { data: reruns } = useQuery(rerunsQuery(run));
  const { data: before } = useQuery(runBeforeQuery(run));
  return (
    <>
      {rerunOf !== null && (
        <Choice integration={integration} left={rerunOf.runId} right={runId} label="With the original run" />
      )}
      {reruns?.items.slice(0, MAX_RERUNS).map((rerun) => (
        <Choice
          key={rerun.runId}
          integration={integration}
          left={runId}
          right={rerun.runId}
          label={`With its rerun of ${formatAge(rerun.createdAt)}`}
        />
      ))}
      {before != null && (
        <Choice integration={integration} left={before.runId} right={runId} label="With the run before in the chat" />
      )}
      <MenuLine />
      <MenuItem isLink>
        <Link to="/integrations/$integration/runs" params={{ integration }} search={{ compare: runId }}>
          With another run…
        </Link>
      </MenuItem>
    </>
  );
}

interface ChoiceProps {
  readonly integration: string;
  readonly left: string;
  readonly right: string;
  readonly label: string;
}

function Choice({ integration, left, right, label }: ChoiceProps) {
  return (
    <MenuItem isLink>
      <Link
        to="/integrations/$integration/runs/$run/compare"
        params={{ integration, run: left }}
        search={{ with: right }}
      >
        {label}
      </Link>
    </MenuItem>
  );
}
