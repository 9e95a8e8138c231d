import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { api } from '../../app/api.ts';
import { describeError } from '../../app/errors.ts';
import { agenciesQuery, integrationQuery } from '../../app/queries.ts';
import { noteError } from '../../app/query-client.ts';
import { searchFields } from '../../app/search.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Page } from '../../ui/page.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useChanges } from '../transcript/changes.ts';
import { Conversation } from '../transcript/conversation.ts';
import { Chat } from './chat.tsx';
import type { ChatAddress } from './chat-address.ts';
import { readDraft, writeDraft } from './drafts.ts';
import { getLastRun } from './last-run.ts';
import { SettingsPane } from './settings-pane.tsx';
import './playground.css';

const addressFields = searchFields('chat', 'member', 'agent', 'run', 'with', 'other');
const LEAD = 'Talk to the agents. Chats are stored, and runs count as usage.';
const ROUTE = '/signed-in/integrations/$integration/playground';

/** Talks to an integration's agents. */
export function PlaygroundPage() {
  const { integration } = useParams({ from: ROUTE });
  const search = useSearch({ from: ROUTE });
  const { chat, member, agent, with: comparedAgent } = search;
  const navigate = useNavigate();
  const { data: settings, error, refetch } = useQuery(integrationQuery(integration));
  const { data: agencies } = useQuery(agenciesQuery);
  const agency = agencies?.find((one) => one.agency === settings?.agency);
  const { conversation, other, keepFork } = useConversations(integration, search);
  useChanges(conversation.changes);
  useChanges(conversation.live?.changes);
  const lastRun = getLastRun(conversation.turns);
  const [context, setContext] = useContextDraft(integration);

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
  const continueWith = useCallback(
    (fork: Conversation) => {
      keepFork(fork);
      setAddress({ chat: fork.chatId, member, agent });
    },
    [keepFork, setAddress, member, agent],
  );
  const compare = async (agentName: string | undefined) => {
    if (agentName === undefined) return setAddress({ chat, member, agent });
    if (other !== null || lastRun === null) return setAddress({ ...search, with: agentName });
    // The second column continues a copy of the chat.
    try {
      const fork = await api().chats.fork({ apiIntegrationId: integration, fromChatId: conversation.chatId });
      setAddress({ ...search, with: agentName, other: fork.chatId });
    } catch (error) {
      noteError(error);
      notify(describeError(error).message);
    }
  };
  if (error !== null && settings === undefined) {
    return (
      <Page title="Playground" lead={LEAD}>
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </Page>
    );
  }
  const agentName = agent ?? settings?.defaultAgent ?? agency?.defaultAgent ?? undefined;
  return (
    <Page
      title="Playground"
      lead={LEAD}
      actions={
        <button type="button" className="button" onClick={() => setAddress({ member, agent, with: comparedAgent })}>
          New chat
        </button>
      }
    >
      <div className="workbench">
        <SettingsPane
          integration={integration}
          settings={settings}
          agency={agency}
          agentName={agentName}
          member={member}
          agent={agent}
          comparedAgent={comparedAgent}
          context={context}
          onAddressee={(changed) =>
            // A chat belongs to its member.
            setAddress('member' in changed ? { agent, ...changed } : { ...search, ...changed })
          }
          onCompare={(name) => void compare(name)}
          onContext={setContext}
        />
        <Chat
          key={conversation.chatId}
          isReady={settings !== undefined}
          conversation={conversation}
          other={other}
          agents={agency?.agents ?? []}
          agentName={agentName}
          context={context}
          address={search}
          onAddress={setAddress}
          onFork={continueWith}
        />
      </div>
    </Page>
  );
}

/** The chats of the address. */
function useConversations(integration: string, { chat, with: comparedAgent, other: otherChat }: ChatAddress) {
  const [forks] = useState(() => new Map<string, Conversation>());
  const [conversation, setConversation] = useState(() => new Conversation(integration, chat));
  const [other, setOther] = useState<Conversation | null>(null);
  if (!conversation.fits(integration, chat)) {
    setConversation(forks.get(chat ?? '') ?? new Conversation(integration, chat));
  }
  if (comparedAgent === undefined) {
    if (other !== null) setOther(null);
  } else if (!other?.fits(integration, otherChat)) setOther(new Conversation(integration, otherChat));
  const keepFork = useCallback((fork: Conversation) => void forks.set(fork.chatId, fork), [forks]);
  return { conversation, other, keepFork };
}

/** The text of `user_context`, which is kept for the integration. */
function useContextDraft(integration: string) {
  const key = `${integration} user_context`;
  const [draft, setDraft] = useState({ key, text: readDraft(key) });
  if (draft.key !== key) setDraft({ key, text: readDraft(key) });
  const change = (text: string) => {
    setDraft({ key, text });
    writeDraft(key, text);
  };
  return [draft.text, change] as const;
}
