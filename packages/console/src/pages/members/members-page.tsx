import type { Member } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { ClearFilters } from '../../ui/clear-filters.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { FilterField } from '../../ui/filter-field.tsx';
import { May } from '../../ui/may.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { AllowanceBar } from './allowance-bar.tsx';
import { MemberState } from './member-state.tsx';
import { RegisterMemberDialog } from './register-member-dialog.tsx';

const ROUTE = '/integrations/$integration/members';

export function MembersPage() {
  const { integration } = useParams({ from: `/signed-in${ROUTE}` });
  const { q } = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isRegistering, setRegistering] = useCreateDialog('putMember');
  const filters = { apiIntegrationId: integration, limit: 200, q };
  const list = usePagedList(['members', integration, { q }], (signal) => api().members.list(filters, { signal }));
  const search = (text: string) =>
    void navigate({ to: ROUTE, params: { integration }, search: text === '' ? {} : { q: text }, replace: true });
  const columns: readonly Column<Member>[] = [
    {
      title: 'Member',
      share: 2,
      cell: ({ consumerId, name }) => (
        <Link to="/integrations/$integration/members/$member" params={{ integration, member: consumerId }}>
          <bdi>{name ?? consumerId}</bdi>
        </Link>
      ),
    },
    {
      title: 'Id',
      share: 2,
      isMinor: true,
      cell: ({ consumerId }) => (
        <code>
          <bdi>{consumerId}</bdi>
        </code>
      ),
    },
    { title: 'State', share: 1.2, cell: (member) => <MemberState {...member} /> },
    { title: 'Allowance', share: 2, cell: ({ allowance }) => <AllowanceBar allowance={allowance} /> },
    { title: 'Registered', share: 1.3, isMinor: true, cell: ({ createdAt }) => <Time time={createdAt} age /> },
  ];
  const register = (
    <May call="putMember">
      <button type="button" className="button button-primary" onClick={() => setRegistering(true)}>
        Register member
      </button>
    </May>
  );
  const isEmpty = q === undefined && !list.isLoading && list.error === null && list.rows.length === 0;
  return (
    <Page
      title="Members"
      lead="The people who use your product through this integration. Each member has its own allowance, chats and files."
      {...(isEmpty ? {} : { actions: register })}
    >
      <search className="filters member-search">
        <FilterField
          label="Search"
          name="q"
          placeholder="Start of the id or of a word of the name"
          value={q ?? ''}
          onChange={search}
        />
        <ClearFilters isFiltered={q !== undefined} onClear={() => search('')} />
      </search>
      <DataTable
        what="members"
        list={list}
        columns={columns}
        rowKey={({ consumerId }) => consumerId}
        empty={<NoMembers isFiltered={q !== undefined} register={register} />}
      />
      {isRegistering && (
        <RegisterMemberDialog
          integration={integration}
          onClose={() => setRegistering(false)}
          onRegistered={() => {
            setRegistering(false);
            void client.invalidateQueries({ queryKey: ['members', integration] });
            notify('The member is registered.');
          }}
        />
      )}
    </Page>
  );
}

interface NoMembersProps {
  readonly isFiltered: boolean;
  readonly register: ReactNode;
}

function NoMembers({ isFiltered, register }: NoMembersProps) {
  if (isFiltered) {
    return (
      <EmptyState title="No member found">
        <p>
          No id and no word of a name begins with this text. Search for the first letters of an id, or of a word of a
          name.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No members yet">
      <p>
        Register a member here, or let your backend do it with <code>PUT …/members/{'{consumerId}'}</code>. Then send
        its id as <code>consumerId</code> with each request.
      </p>
      {register}
    </EmptyState>
  );
}
