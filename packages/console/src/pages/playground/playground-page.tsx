import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { searchFields } from '../../app/search.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Conversation } from '../transcript/conversation.ts';
import { AddresseeFields } from './addressee-fields.tsx';
import { Chat, type ChatAddress } from './chat.tsx';
import './playground.css';

const addressFields = searchFields('chat', 'member', 'agent', 'run');
const LEAD = 'Talk to the agents. Chats are stored, and runs count as usage.';
const ROUTE = '/signed-in/integrations/$integration/playground';

/** Talks to an integration's agents. */
export function PlaygroundPage() {
  const { integration } = useParams({ from: ROUTE });
  const search = useSearch({ from: ROUTE });
  const { chat, member, agent } = search;
  const navigate = useNavigate();
  const { data: settings, error, refetch } = useQuery(integrationQuery(integration));
  const { data: agencies } = useQuery(agenciesQuery);
  const agency = agencies?.find((one) => one.agency === settings?.agency);

  const [conversation, setConversation] = useState(() => new Conversation(integration, chat));
  if (!conversation.fits(integration, chat)) setConversation(new Conversation(integration, chat));

  const setAddress = useCallback(
    (address: ChatAddress) =>
      void navigate({
        to: '/integrations/$integration/playground',
        params: { integration },
        search: addressFields({ ...address }),
        replace: true,
        resetScroll: false,
      }),
    [navigate, integration],
  );
  if (error !== null && settings === undefined) {
    return (
      <Page title="Playground" lead={LEAD}>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  const agentName = agent ?? settings?.defaultAgent ?? agency?.defaultAgent;
  return (
    <Page
      title="Playground"
      lead={LEAD}
      actions={
        <button type="button" className="button" onClick={() => setAddress({ member, agent })}>
          New chat
        </button>
      }
    >
      <AddresseeFields
        apiIntegrationId={integration}
        agency={agency}
        needsMember={settings && settings.allowances !== null}
        defaultAgent={settings?.defaultAgent ?? null}
        member={member}
        agent={agent}
        onChange={(changed) =>
          // A chat belongs to its member.
          setAddress('member' in changed ? { agent, ...changed } : { chat, member, ...changed })
        }
      />
      <Chat
        key={conversation.chatId}
        isReady={settings !== undefined}
        conversation={conversation}
        agent={agency?.agents.find(({ name }) => name === agentName)}
        address={search}
        onAddress={setAddress}
      />
    </Page>
  );
}
