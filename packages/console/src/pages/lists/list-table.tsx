import { type ReactNode, useMemo } from 'react';
import type { PagedList } from '../../app/paged-list.ts';
import { DataTable } from '../../ui/data-table.tsx';
import type { Peek } from '../../ui/use-peek.ts';
import { type ListKind, useKindList } from './list-kind.ts';
import './lists.css';

interface ListTableProps<Row> {
  readonly kind: ListKind<Row>;
  readonly integration: string;
  readonly list: PagedList<Row>;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
  readonly hasMember?: boolean;
  readonly peek?: Peek | undefined;
}

export function ListTable<Row>({ kind, integration, list, empty, hasMember = true, peek }: ListTableProps<Row>) {
  const columns = useMemo(
    () => kind.columns(integration).filter(({ title }) => hasMember || title !== 'Member'),
    [kind, integration, hasMember],
  );
  return (
    <DataTable
      what={kind.what}
      list={list}
      columns={columns}
      rowKey={kind.rowKey}
      empty={empty}
      hasRowLinks
      peek={peek}
    />
  );
}

interface MemberListProps<Row> {
  readonly kind: ListKind<Row>;
  readonly integration: string;
  readonly consumerId: string;
  readonly empty: ReactNode;
}

/** A member's runs or chats. */
export function MemberList<Row>({ kind, integration, consumerId, empty }: MemberListProps<Row>) {
  const list = useKindList(kind, integration, { member: consumerId });
  return <ListTable kind={kind} integration={integration} list={list} empty={empty} hasMember={false} />;
}
