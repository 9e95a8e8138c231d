import type { AuditEvent } from '@runwire/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { fromRecent } from '../../lib/recent-time.ts';
import { ClearFilters } from '../../ui/clear-filters.tsx';
import { CsvButton } from '../../ui/csv-button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { MemberName } from '../../ui/member-name.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { TimeRange } from '../../ui/time-range.tsx';

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const showChange = ([field, { before, after }]: [string, { readonly before: unknown; readonly after: unknown }]) =>
  `${field}: ${before === null ? '' : `${show(before)} → `}${after === null ? 'none' : show(after)}`;

/** The changed fields in one text, which is whole in its title. */
function Changes({ changes }: AuditEvent) {
  if (changes === null) return <Nothing />;
  const text = Object.entries(changes).map(showChange).join(' · ');
  return <bdi title={text}>{text}</bdi>;
}

type Filters = Readonly<Partial<Record<'actor' | 'operation' | 'target', string>>>;

/** Shows the events that have the same value. */
const Same = ({ search, children }: { readonly search: Filters; readonly children: ReactNode }) => (
  <Link to="/audit" search={(before) => ({ ...before, ...search })}>
    <bdi>{children}</bdi>
  </Link>
);

const MEMBER = 'member:';

/** What was changed. Members are called by their names. */
function Target({ target, apiIntegrationId }: AuditEvent) {
  const isMember = target.startsWith(MEMBER) && apiIntegrationId !== null;
  return (
    <Same search={{ target }}>
      {isMember ? (
        <>
          {MEMBER} <MemberName integration={apiIntegrationId} consumerId={target.slice(MEMBER.length)} />
        </>
      ) : (
        target
      )}
    </Same>
  );
}

const columns: readonly Column<AuditEvent>[] = [
  { title: 'Time', share: 1.5, cell: ({ at }) => <Time time={at} age /> },
  {
    title: 'Who',
    share: 1.5,
    cell: ({ actor: { id, name } }) =>
      id === null ? <bdi>{name}</bdi> : <Same search={{ actor: id }}>{name ?? id}</Same>,
  },
  { title: 'Operation', share: 1.6, cell: ({ operation }) => <Same search={{ operation }}>{operation}</Same> },
  { title: 'Target', share: 2, isMinor: true, cell: Target },
  { title: 'Changes', share: 2.6, cell: Changes },
  { title: 'Address', isMinor: true, cell: ({ address }) => address ?? <Nothing /> },
];

/** Who changed what. */
export function AuditPage() {
  const search = useSearch({ from: '/signed-in/audit' });
  const navigate = useNavigate({ from: '/audit' });
  // It stays the same while the page is open: the list would be read from its start again.
  const shown = useMemo(() => fromRecent(search), [search]);
  const { last: _, ...filters } = shown;
  const list = usePagedList(['audit', filters], (signal) => api().audit.list({ limit: 100, ...filters }, { signal }));
  const change = (changed: Partial<typeof search>) => void navigate({ search: changedSearch(changed), replace: true });
  const filter = (name: 'actor' | 'operation' | 'target') => ({
    name,
    value: search[name] ?? '',
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <Page
      title="Audit log"
      lead="Every change that a person or a key made, the newest first. Choose a value in the table to see its changes only."
    >
      <search className="filters">
        <FilterField label="Who" placeholder="id of a person or key" {...filter('actor')} />
        <FilterField label="Operation" placeholder="createApiKey" {...filter('operation')} />
        <FilterField label="Target" placeholder="key:key_…" {...filter('target')} />
        <TimeRange search={search} hasEnd onChange={change} />
        <ClearFilters
          isFiltered={Object.values(search).some((value) => value !== undefined)}
          onClear={() => void navigate({ search: {}, replace: true })}
        />
      </search>
      <CsvButton name="audit-log.csv" load={() => api().audit.csv(filters)}>
        All changes that match the filters.
      </CsvButton>
      <DataTable
        isWide
        what="changes"
        list={list}
        columns={columns}
        rowKey={({ eventId }) => eventId}
        empty={
          <EmptyState title="No changes">
            <p>No change matches the filters.</p>
          </EmptyState>
        }
      />
    </Page>
  );
}
