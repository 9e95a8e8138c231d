import type { ApiKey, CreatedApiKey } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Badge, EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

type OpenDialog =
  | { readonly kind: 'create' }
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
  const list = usePagedList(['keys'], (signal) => api().keys.list({ limit: 100 }, { signal }));
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['keys'] });
  const create = (
    <button type="button" className="button button-primary" onClick={() => setDialog({ kind: 'create' })}>
      Create key
    </button>
  );
  const columns: readonly Column<ApiKey>[] = [
    { title: 'Name', share: 1.5, cell: (key) => <bdi>{getName(key)}</bdi> },
    { title: 'State', cell: KeyState },
    {
      title: 'Last use',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time time={lastUsedAt} age />),
    },
    {
      title: 'Expires',
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time time={expiresAt} age />),
    },
    { title: 'Created', cell: ({ createdAt }) => (createdAt === null ? <Nothing /> : <Time time={createdAt} age />) },
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
      lead="Your backend sends a key with each request. A key can do everything that you can do, so keep it on your server."
      {...(list.rows.length === 0 ? {} : { actions: create })}
    >
      <DataTable
        isWide
        what="API keys"
        list={list}
        columns={columns}
        rowKey={({ keyId }) => keyId ?? ''}
        empty={
          <EmptyState title="No keys yet">
            <p>Create a key, and put it into the environment of your backend.</p>
            {create}
          </EmptyState>
        }
      />
      {dialog?.kind === 'create' && (
        <CreateKeyDialog
          onClose={close}
          onCreated={(key) => {
            setDialog({ kind: 'created', key });
            void refresh();
          }}
        />
      )}
      {dialog?.kind === 'created' && <NewKeyDialog created={dialog.key} onClose={close} />}
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
