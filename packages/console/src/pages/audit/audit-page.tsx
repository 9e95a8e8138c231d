import type { AuditEvent } from '@runwire/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const showChange = ([field, { before, after }]: [string, { readonly before: unknown; readonly after: unknown }]) =>
  `${field}: ${before === null ? '' : `${show(before)} → `}${after === null ? 'none' : show(after)}`;

/** The changed fields in one text, which is whole in its title. */
function Changes({ changes }: AuditEvent) {
  if (changes === null) return <Nothing />;
  const text = Object.entries(changes).map(showChange).join(' · ');
  return <bdi title={text}>{text}</bdi>;
}

const columns: readonly Column<AuditEvent>[] = [
  { title: 'Time', share: 1.5, cell: ({ at }) => <Time time={at} age /> },
  { title: 'Who', share: 1.5, cell: ({ actor }) => <bdi>{actor.name ?? actor.id}</bdi> },
  { title: 'Operation', share: 1.6, cell: ({ operation }) => operation },
  { title: 'Target', share: 2, isMinor: true, cell: ({ target }) => <bdi>{target}</bdi> },
  { title: 'Changes', share: 2.6, cell: Changes },
  { title: 'Address', isMinor: true, cell: ({ address }) => address ?? <Nothing /> },
];

/** Who changed what. */
export function AuditPage() {
  const search = useSearch({ from: '/signed-in/audit' });
  const navigate = useNavigate({ from: '/audit' });
  const list = usePagedList(['audit', search], (signal) => api().audit.list({ limit: 100, ...search }, { signal }));
  const filter = (name: 'actor' | 'operation' | 'target') => ({
    name,
    value: search[name] ?? '',
    onChange: (value: string) => void navigate({ search: changedSearch({ [name]: value }), replace: true }),
  });
  return (
    <Page title="Audit log" lead="Every change that a person or a key made, the newest first.">
      <search className="filters">
        <FilterField label="Who" placeholder="id of a person or key" {...filter('actor')} />
        <FilterField label="Operation" placeholder="createApiKey" {...filter('operation')} />
        <FilterField label="Target" placeholder="key:key_…" {...filter('target')} />
      </search>
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
