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
import { InviteDialog } from './invite-dialog.tsx';
import { InvitedDialog } from './invited-dialog.tsx';
import './people.css';

/** Only the administrator sees other owners. */
export function PeoplePage() {
  const { data: me } = useQuery(meQuery);
  if (me === undefined) {
    return (
      <Page title="People">
        <Loading what="people" />
      </Page>
    );
  }
  if (!me.administrator) {
    return (
      <Page title="People">
        <EmptyState title="Only an administrator manages people">
          <p>Ask an administrator of this server to invite or to delete a person.</p>
        </EmptyState>
      </Page>
    );
  }
  return <Owners ownId={me.ownerId} />;
}

type OpenDialog =
  | { readonly kind: 'invite' }
  | { readonly kind: 'invited'; readonly owner: CreatedOwner }
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
    { title: 'Invited', cell: ({ createdAt }) => <Time time={createdAt} age /> },
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
      title="People"
      lead={
        <>
          Each person has integrations and API keys of their own. You cannot see the integrations of others. If a set-up
          link has expired, <code>runwire owners link EMAIL</code> on the server makes a new one.
        </>
      }
      actions={
        <button type="button" className="button button-primary" onClick={() => setDialog({ kind: 'invite' })}>
          Invite a person
        </button>
      }
    >
      <DataTable
        isWide
        what="people"
        list={list}
        columns={columns}
        rowKey={({ ownerId }) => ownerId}
        empty={
          <EmptyState title="No people yet">
            <p>Invite a person, and send them the set-up link.</p>
          </EmptyState>
        }
      />
      {dialog?.kind === 'invite' && (
        <InviteDialog
          onClose={close}
          onInvited={(owner) => {
            setDialog({ kind: 'invited', owner });
            void refresh();
          }}
        />
      )}
      {dialog?.kind === 'invited' && <InvitedDialog owner={dialog.owner} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${getName(dialog.owner)}?`}
          action="Delete person"
          pendingLabel="Deleting…"
          onClose={close}
          onConfirm={async () => {
            await api().owners.delete({ ownerId: dialog.owner.ownerId });
            await refresh();
            notify(`${getName(dialog.owner)} is deleted.`);
          }}
        >
          <p>
            Their password, sessions and API keys end. A person who still has integrations cannot be deleted. This
            cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
