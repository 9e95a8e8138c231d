import { type ReactNode, useMemo } from 'react';
import { fromRecent } from '../../lib/recent-time.ts';
import { ClearFilters } from '../../ui/clear-filters.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { SelectField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { SearchField, type SearchFilter } from '../../ui/search-field.tsx';
import { TimeRange } from '../../ui/time-range.tsx';
import { useMedia } from '../../ui/use-media.ts';
import { type ListKind, type ListSearch, useKindList } from './list-kind.ts';
import { ListTable } from './list-table.tsx';

interface ListPageProps<Row> {
  readonly kind: ListKind<Row>;
  readonly title: string;
  readonly lead: string;
  readonly integration: string;
  /** The address, which has everything that the page shows. */
  readonly search: ListSearch;
  /** An empty text removes a field of the address. */
  readonly onChange: (changed: ListSearch) => void;
  readonly filters: readonly SearchFilter[];
  /** False if the list has no filter for the end of a time. */
  readonly hasEnd: boolean;
  /** The orders of the list; the first one is that of an address without one. */
  readonly sorts?: readonly { readonly value: string; readonly label: string }[];
  /** Buttons beside the title. */
  readonly actions?: ReactNode;
  /** False if a click on a row always follows its link. */
  readonly hasSide?: boolean;
  /** Shown above the list, from the same filters. */
  readonly above?: (search: ListSearch) => ReactNode;
}

/** A narrower window has no room for a list and a side. */
const WIDE = '(min-width: 1280px)';

/** A list with one field for its filters, and a side that shows one row. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { kind, title, lead, integration, search, onChange, filters, hasEnd, sorts = [], above } = props;
  const { actions, hasSide = true } = props;
  const { peek, sort } = search;
  // It stays the same while the page is open: the list would be read from its start again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `search` has the same fields until one of them changes.
  const shown = useMemo(() => fromRecent(search), [JSON.stringify({ ...search, peek: '' })]);
  const list = useKindList(kind, integration, shown);
  const isWide = useMedia(WIDE);
  const canPeek = hasSide && isWide;
  const peekId = canPeek ? (peek ?? null) : null;
  const setPeek = (id: string | null) => onChange({ peek: id ?? '' });
  const first = list.rows[0];
  const kept = ['peek', 'sort', 'compare'];
  const isFiltered = Object.keys(search).some((name) => !kept.includes(name));
  return (
    <Page title={title} lead={lead} actions={actions}>
      <search className="filters">
        <SearchField scope={integration} filters={filters} search={search} onChange={onChange} />
        <TimeRange search={search} hasEnd={hasEnd} onChange={onChange} />
        {sorts.length > 0 && (
          <SelectField
            label="Sort by"
            name="sort"
            choices={sorts}
            value={sort ?? sorts[0]?.value ?? ''}
            onChange={(value) => onChange({ sort: value === sorts[0]?.value ? '' : value })}
          />
        )}
        <ClearFilters
          isFiltered={isFiltered}
          onClear={() =>
            onChange(
              Object.fromEntries(Object.keys(search).map((name) => [name, kept.includes(name) ? search[name] : ''])),
            )
          }
        />
        {canPeek && (
          <button
            type="button"
            className="button"
            aria-pressed={peekId !== null}
            aria-disabled={peekId === null && first === undefined}
            title="j and k go through the list, Enter opens the page, Escape closes the side."
            onClick={() => {
              if (peekId !== null) setPeek(null);
              else if (first !== undefined) setPeek(kind.rowKey(first));
            }}
          >
            Side panel
          </button>
        )}
      </search>
      {above?.(shown)}
      <div className={peekId === null ? undefined : 'list-peeked'}>
        <ListTable
          kind={kind}
          integration={integration}
          list={list}
          empty={isFiltered ? <NothingFound what={kind.what} /> : kind.none(integration)}
          peek={canPeek ? { id: peekId, onChange: setPeek } : undefined}
        />
        {peekId !== null && (
          <section className="card peek stack" aria-label="Side panel">
            <kind.Peek key={peekId} integration={integration} id={peekId} />
            <p className="small muted">
              <kbd>j</kbd> and <kbd>k</kbd> go through the list, <kbd>Enter</kbd> opens the page, <kbd>Esc</kbd> closes
              the side.
            </p>
          </section>
        )}
      </div>
    </Page>
  );
}

const NothingFound = ({ what }: { readonly what: string }) => (
  <EmptyState title={`No ${what.replace(/s$/, '')} matches the filters`}>
    <p>Remove a filter, or search for other words. All words must occur in messages, answers, tools or errors.</p>
  </EmptyState>
);
