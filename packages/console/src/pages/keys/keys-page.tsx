import type { ApiKey, CreatedApiKey } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { useCreateDialog } from '../../app/use-create-dialog.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Badge, EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { RowTitle } from '../../ui/row-title.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';

type OpenDialog =
  | { readonly kind: 'created'; readonly key: CreatedApiKey }
  | { readonly kind: 'revoke'; readonly key: ApiKey };

const getName = ({ name, keyId }: ApiKey) => name ?? keyId ?? '';

function KeyState({ revokedAt, expiresAt }: ApiKey) {
  if (revokedAt !== null) return <Badge tone="bad">revoked</Badge>;
  if (expiresAt !== null && new Date(expiresAt) <= new Date()) return <Badge tone="warn">expired</Badge>;
  return <Badge tone="good">active</Badge>;
}

export function KeysPage() {
  const client = useQueryClient();
  const { key: sought } = useSearch({ from: '/signed-in/keys' });
  const all = usePagedList(['keys'], (signal) => api().keys.list({ limit: 100 }, { signal }));
  const [isCreating, setCreating] = useCreateDialog('createApiKey');
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['keys'] });
  const create = (
    <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
      Create key
    </button>
  );
  const list = sought === undefined ? all : { ...all, rows: all.rows.filter(({ keyId }) => keyId === sought) };
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Name',
      share: 1.75,
      cell: (key) => (
        <RowTitle detail={key.createdBy === null ? null : `made by ${key.createdBy.name ?? key.createdBy.id}`}>
          <bdi>{getName(key)}</bdi>
        </RowTitle>
      ),
    },
    { title: 'Ending', cell: ({ suffix }) => (suffix === null ? <Nothing /> : <code>{suffix}</code>) },
    {
      title: 'Role',
      share: 1.25,
      cell: ({ role, integrations }) => (
        <RowTitle detail={integrations === null ? null : `only ${integrations.join(', ')}`}>{role}</RowTitle>
      ),
    },
    { title: 'State', cell: KeyState },
    {
      title: 'Last use',
      cell: ({ keyId, lastUsedAt }) => {
        // The uses of `RUNWIRE_API_KEY` are not stored.
        if (keyId === null) return <Nothing />;
        return lastUsedAt === null ? 'never' : <Time time={lastUsedAt} age />;
      },
    },
    {
      title: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time time={expiresAt} age />),
    },
    {
      title: 'Created',
      isMinor: true,
      cell: ({ createdAt }) => (createdAt === null ? <Nothing /> : <Time time={createdAt} age />),
    },
    {
      title: 'Actions',
      cell: (key) =>
        key.revokedAt === null &&
        key.keyId !== null && (
          <button
            type="button"
            className="button button-small"
            aria-label={`Revoke ${getName(key)}`}
            onClick={() => setDialog({ kind: 'revoke', key })}
          >
            Revoke
          </button>
        ),
    },
  ];
  return (
    <Page
      title="API keys"
      lead="Your backend sends a key with each request. Its role decides what it may do. Keep it on your server."
      {...(list.rows.length === 0 ? {} : { actions: create })}
    >
      {sought !== undefined && (
        <p className="filters">
          <span>
            Only the key <code>{sought}</code> is shown.
          </span>
          <Link to="/keys">Show all keys</Link>
        </p>
      )}
      <DataTable
        isWide
        what="API keys"
        list={list}
        columns={columns}
        rowKey={({ keyId }) => keyId ?? ''}
        empty={
          sought === undefined ? (
            <EmptyState title="No keys yet">
              <p>Create a key, and put it into the environment of your backend.</p>
              {create}
            </EmptyState>
          ) : (
            <EmptyState title="There is no such key">
              <p>It may belong to another owner, or your role may not see it.</p>
            </EmptyState>
          )
        }
      />
      {isCreating && (
        <CreateKeyDialog
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setDialog({ kind: 'created', key });
            void refresh();
          }}
        />
      )}
      {dialog?.kind === 'created' && (
        <ShownOnceDialog
          title="Your new API key"
          lead="Copy the key now. It is not shown again."
          value={dialog.key.apiKey}
          label="API key"
          onClose={close}
        />
      )}
      {dialog?.kind === 'revoke' && (
        <ConfirmDialog
          title={`Revoke ${getName(dialog.key)}?`}
          action="Revoke key"
          pendingLabel="Revoking…"
          onClose={close}
          onConfirm={async () => {
            await api().keys.revoke({ keyId: dialog.key.keyId ?? '' });
            await refresh();
            notify(`The key ${getName(dialog.key)} is revoked.`);
          }}
        >
          <p>Requests with this key are refused from now on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </Page>
  );
}
