import type { ScheduleTick } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { getAdvice } from '../../app/errors.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { shorten } from '../../lib/shorten.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Prose } from '../../ui/prose.tsx';
import { Time } from '../../ui/time.tsx';
import { REFRESH_MS, schedulesKey } from './schedule-queries.ts';

interface TicksProps {
  readonly integration: string;
  readonly scheduleId: string;
}

const listColumns = (integration: string): readonly Column<ScheduleTick>[] => [
  { title: 'Tick', share: 1.2, cell: ({ tick }) => <Time time={tick} /> },
  {
    title: 'Run or refusal',
    share: 1.5,
    cell: ({ runId, code }) =>
      runId === null ? (
        <code>{code}</code>
      ) : (
        <Link to="/integrations/$integration/runs/$run" params={{ integration, run: runId }}>
          {runId}
        </Link>
      ),
  },
  {
    title: 'Reason',
    share: 2,
    isMinor: true,
    cell: ({ error }) => (error === null ? <Nothing /> : <RefusalText error={error} />),
  },
  { title: 'Recorded', isMinor: true, cell: ({ at }) => <Time time={at} age /> },
];

function RefusalText({ error }: { readonly error: string }) {
  return (
    <span title={error}>
      <Prose text={shorten(error)} />
    </span>
  );
}

/** Why the newest tick has no run. Narrow screens have no room for it in the list. */
function NewestRefusal({ code, error }: Pick<ScheduleTick, 'code' | 'error'>) {
  const advice = code === null ? null : getAdvice(code);
  return (
    <div className="notice notice-bad">
      <strong>The newest tick was refused.</strong>
      <p>
        <Prose text={error ?? ''} /> {advice !== null && <Prose text={advice} />}
      </p>
    </div>
  );
}

/** What happened at each tick, the newest first. */
export function Ticks({ integration, scheduleId }: TicksProps) {
  const list = usePagedList(
    [...schedulesKey(integration), scheduleId, 'ticks'],
    (signal) => api().schedules.ticks({ apiIntegrationId: integration, scheduleId, limit: 100 }, { signal }),
    { refetchMs: REFRESH_MS },
  );
  const [newest] = list.rows;
  return (
    <section className="stack-tight" aria-labelledby="ticks">
      <h2 id="ticks">Ticks</h2>
      {newest !== undefined && newest.runId === null && <NewestRefusal {...newest} />}
      <DataTable
        what="ticks"
        list={list}
        columns={listColumns(integration)}
        rowKey={({ tick }) => tick}
        empty={<p className="muted">No tick has passed yet.</p>}
      />
    </section>
  );
}
