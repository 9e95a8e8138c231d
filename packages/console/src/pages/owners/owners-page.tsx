import type { CreatedOwner, Owner } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { meQuery } from '../../app/queries.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Badge, EmptyState, Loading } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { SetUpLinkDialog } from '../people/set-up-link-dialog.tsx';
import { CreateOwnerDialog } from './create-owner-dialog.tsx';
import './owners.css';

export function OwnersPage() {
  const { data: me } = useQuery(meQuery);
  if (me !== undefined) return <Owners ownId={me.ownerId} />;
  return (
    <Page title="Owners">
      <Loading what="owners" />
    </Page>
  );
}

type OpenDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'created'; readonly owner: CreatedOwner }
  | { readonly kind: 'delete'; readonly owner: Owner };

const getName = ({ name, email, ownerId }: Owner) => name ?? email ?? ownerId;

function Owners({ ownId }: { readonly ownId: string }) {
  const client = useQueryClient();
  const list = usePagedList(['owners'], (signal) => api().owners.list({ limit: 100 }, { signal }));
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['owners'] });
  const columns: readonly Column<Owner>[] = [
    { title: 'E-mail', share: 2, cell: ({ email }) => <bdi>{email ?? <Nothing />}</bdi> },
    { title: 'Name', share: 1.5, cell: ({ name }) => <bdi>{name ?? <Nothing />}</bdi> },
    {
      title: 'Role',
      cell: ({ administrator }) => (administrator ? <Badge tone="active">administrator</Badge> : 'owner'),
    },
    { title: 'Created', cell: ({ createdAt }) => <Time time={createdAt} age /> },
    {
      title: 'Actions',
      cell: (owner) =>
        owner.ownerId === ownId ? (
          <span className="muted">you</span>
        ) : (
          <button
            type="button"
            className="button button-small"
            aria-label={`Delete ${getName(owner)}`}
            onClick={() => setDialog({ kind: 'delete', owner })}
          >
            Delete
          </button>
        ),
    },
  ];
  return (
    <Page
      title="Owners"
      lead={
        <>
          An owner is an organisation with its own integrations, keys and people. You cannot see those of others. If a
          set-up link has expired, <code>runwire owners link EMAIL</code> on the server makes a new one.
        </>
      }
      actions={
        <button type="button" className="button button-primary" onClick={() => setDialog({ kind: 'create' })}>
          Create an owner
        </button>
      }
    >
      <DataTable
        isWide
        what="owners"
        list={list}
        columns={columns}
        rowKey={({ ownerId }) => ownerId}
        empty={
          <EmptyState title="No owners yet">
            <p>Create an owner, and send them the set-up link.</p>
          </EmptyState>
        }
      />
      {dialog?.kind === 'create' && (
        <CreateOwnerDialog
          onClose={close}
          onCreated={(owner) => {
            setDialog({ kind: 'created', owner });
            void refresh();
          }}
        />
      )}
      {dialog?.kind === 'created' && <SetUpLinkDialog {...dialog.owner} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${getName(dialog.owner)}?`}
          action="Delete owner"
          pendingLabel="Deleting…"
          onClose={close}
          onConfirm={async () => {
            await api().owners.delete({ ownerId: dialog.owner.ownerId });
            await refresh();
            notify(`${getName(dialog.owner)} is deleted.`);
          }}
        >
          <p>
            Its people and API keys end. An owner that still has integrations cannot be deleted. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
