import type { CreatedPerson, Person } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { meQuery } from '../../app/queries.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Badge, EmptyState } from '../../ui/feedback.tsx';
import { May } from '../../ui/may.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EditPersonDialog } from './edit-person-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { SetUpLinkDialog } from './set-up-link-dialog.tsx';

type OpenDialog =
  | { readonly kind: 'invited'; readonly person: CreatedPerson }
  | { readonly kind: 'edit' | 'remove'; readonly person: Person };

const getName = ({ name, email, personId }: Person) => name ?? email ?? personId;

/** The people who sign in for the owner, and their roles. */
export function PeoplePage() {
  const client = useQueryClient();
  const { data: me } = useQuery(meQuery);
  const list = usePagedList(['people'], (signal) => api().people.list({ limit: 100 }, { signal }));
  const [isInviting, setInviting] = useCreateDialog('createPerson');
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['people'] });
  const columns: readonly Column<Person>[] = [
    { title: 'E-mail', share: 2, cell: ({ email }) => <bdi>{email ?? <Nothing />}</bdi> },
    { title: 'Name', share: 1.5, cell: ({ name }) => <bdi>{name ?? <Nothing />}</bdi> },
    { title: 'Role', cell: ({ role }) => role },
    {
      title: 'State',
      cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'warn'}>{state}</Badge>,
    },
    {
      title: 'Last seen',
      cell: ({ lastSeenAt }) => (lastSeenAt === null ? 'never' : <Time time={lastSeenAt} age />),
    },
    {
      title: 'Actions',
      share: 1.5,
      cell: (person) => (
        <div className="row">
          <button
            type="button"
            className="button button-small"
            aria-label={`Change the role of ${getName(person)}`}
            onClick={() => setDialog({ kind: 'edit', person })}
          >
            Role
          </button>
          {person.personId === me?.person?.personId ? (
            <span className="muted">you</span>
          ) : (
            <button
              type="button"
              className="button button-small"
              aria-label={`Remove ${getName(person)}`}
              onClick={() => setDialog({ kind: 'remove', person })}
            >
              Remove
            </button>
          )}
        </div>
      ),
    },
  ];
  return (
    <Page
      title="People"
      lead={
        <>
          The people who sign in for your organisation. Their role decides what they may do. If a set-up link has
          expired, <code>runwire owners link EMAIL</code> on the server makes a new one.
        </>
      }
      actions={
        <May call="createPerson">
          <button type="button" className="button button-primary" onClick={() => setInviting(true)}>
            Invite a person
          </button>
        </May>
      }
    >
      <DataTable
        isWide
        what="people"
        list={list}
        columns={columns}
        rowKey={({ personId }) => personId}
        empty={
          <EmptyState title="No people yet">
            <p>Invite a person, and send them the set-up link.</p>
          </EmptyState>
        }
      />
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={(person) => {
            setInviting(false);
            setDialog({ kind: 'invited', person });
            void refresh();
          }}
        />
      )}
      {dialog?.kind === 'invited' && <SetUpLinkDialog {...dialog.person} onClose={close} />}
      {dialog?.kind === 'edit' && (
        <EditPersonDialog
          person={dialog.person}
          name={getName(dialog.person)}
          onClose={close}
          onSaved={async () => {
            await Promise.all([refresh(), client.invalidateQueries({ queryKey: meQuery.queryKey })]);
            close();
            notify(`The role of ${getName(dialog.person)} is changed.`);
          }}
        />
      )}
      {dialog?.kind === 'remove' && (
        <ConfirmDialog
          title={`Remove ${getName(dialog.person)}?`}
          action="Remove person"
          pendingLabel="Removing…"
          onClose={close}
          onConfirm={async () => {
            await api().people.delete({ personId: dialog.person.personId });
            await refresh();
            notify(`${getName(dialog.person)} is removed.`);
          }}
        >
          <p>The password and all sessions end. API keys that the person made stay: revoke them under API keys.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
