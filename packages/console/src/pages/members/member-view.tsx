import type { Member } from '@runwire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../app/api.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { notify } from '../../ui/toasts.tsx';
import { chatList } from '../chats/chat-list.tsx';
import { MemberList } from '../lists/list-table.tsx';
import { runList } from '../runs/run-list.tsx';
import { AdjustDialog } from './adjust-dialog.tsx';
import { Adjustments } from './adjustments.tsx';
import { AllowanceCard } from './allowance-card.tsx';
import { EditMemberDialog } from './edit-member-dialog.tsx';
import { EraseDialog } from './erase-dialog.tsx';
import { MemberDetails } from './member-details.tsx';
import { MemberLinks } from './member-links.tsx';
import { MemberState } from './member-state.tsx';
import { MemberUsage } from './member-usage.tsx';
import './members.css';
import { May } from '../../ui/may.tsx';

interface MemberViewProps {
  readonly integration: string;
  readonly member: Member;
  readonly onErased: () => void;
}

const NO_RUNS = (
  <EmptyState title="No runs yet">
    <p>Runs of this member are listed here.</p>
  </EmptyState>
);

const NO_CHATS = (
  <EmptyState title="No chats yet">
    <p>Chats of this member are listed here.</p>
  </EmptyState>
);

type OpenDialog = 'edit' | 'deactivate' | 'adjust' | 'erase';

export function MemberView({ integration, member, onErased }: MemberViewProps) {
  const { consumerId, name, active, allowance } = member;
  const client = useQueryClient();
  const { tab = 'overview' } = useSearch({ from: '/signed-in/integrations/$integration/members/$member' });
  const navigate = useNavigate({ from: '/integrations/$integration/members/$member' });
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ['members', integration] });
    await client.invalidateQueries({ queryKey: ['adjustments', integration, consumerId] });
  };
  const finish = (text: string) => {
    close();
    void refresh();
    notify(text);
  };
  const setActive = async (isActive: boolean) => {
    await api().members.put({ apiIntegrationId: integration, consumerId, active: isActive });
    finish(isActive ? 'The member is active.' : 'The member is inactive.');
  };
  const activate = useMutation({ mutationFn: () => setActive(true) });
  return (
    <Page
      title={name ?? consumerId}
      lead={
        <span className="row">
          <MemberState {...member} />
          <code>
            <bdi>{consumerId}</bdi>
          </code>
        </span>
      }
      actions={
        <>
          <May call="putMember">
            <button type="button" className="button" onClick={() => setDialog('edit')}>
              Change
            </button>
          </May>
          {active ? (
            <May call="putMember">
              <button type="button" className="button" onClick={() => setDialog('deactivate')}>
                Deactivate
              </button>
            </May>
          ) : (
            <May call="putMember">
              <button
                type="button"
                className="button"
                aria-disabled={activate.isPending}
                onClick={() => !activate.isPending && activate.mutate()}
              >
                {activate.isPending ? 'Activating…' : 'Activate'}
              </button>
            </May>
          )}
          <May call="deleteMember">
            <button type="button" className="button button-danger" onClick={() => setDialog('erase')}>
              Erase
            </button>
          </May>
        </>
      }
    >
      <div className="stack-wide">
        {activate.error !== null && <ErrorNotice error={activate.error} />}
        <MemberLinks integration={integration} member={member} />
        <Tabs
          label="About the member"
          value={tab}
          onChange={(id) =>
            void navigate({ search: id === 'overview' ? {} : { tab: id }, replace: true, resetScroll: false })
          }
          tabs={[
            {
              id: 'overview',
              title: 'Overview',
              content: (
                <div className="stack-wide">
                  <div className="member-parts">
                    <AllowanceCard integration={integration} member={member} onAdjust={() => setDialog('adjust')} />
                    <MemberDetails member={member} />
                  </div>
                  <Adjustments integration={integration} consumerId={consumerId} />
                </div>
              ),
            },
            {
              id: 'runs',
              title: 'Runs',
              content: <MemberList kind={runList} integration={integration} consumerId={consumerId} empty={NO_RUNS} />,
            },
            {
              id: 'chats',
              title: 'Chats',
              content: (
                <MemberList kind={chatList} integration={integration} consumerId={consumerId} empty={NO_CHATS} />
              ),
            },
            { id: 'usage', title: 'Usage', content: <MemberUsage integration={integration} consumerId={consumerId} /> },
          ]}
        />
      </div>
      {dialog === 'edit' && (
        <EditMemberDialog
          integration={integration}
          member={member}
          onClose={close}
          onChanged={() => finish('The member is changed.')}
        />
      )}
      {dialog === 'deactivate' && (
        <ConfirmDialog
          title="Deactivate the member?"
          action="Deactivate"
          pendingLabel="Deactivating…"
          onClose={close}
          onConfirm={() => setActive(false)}
        >
          <p>New requests of this member are refused until you activate it again. Its chats and files are kept.</p>
        </ConfirmDialog>
      )}
      {dialog === 'adjust' && allowance !== null && (
        <AdjustDialog
          integration={integration}
          consumerId={consumerId}
          allowance={allowance}
          onClose={close}
          onAdjusted={() => finish('The usage is adjusted.')}
        />
      )}
      {dialog === 'erase' && (
        <EraseDialog integration={integration} consumerId={consumerId} onClose={close} onErased={onErased} />
      )}
    </Page>
  );
}
