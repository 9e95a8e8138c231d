import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { changedSearch } from '../../app/search.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { ChatFilters } from './chat-filters.tsx';
import { ChatsTable } from './chats-table.tsx';

export function ChatsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/chats' });
  const search = useSearch({ from: '/signed-in/integrations/$integration/chats' });
  const navigate = useNavigate({ from: '/integrations/$integration/chats' });
  return (
    <Page title="Chats" lead="A chat has the messages of one conversation. The chat that changed last is first.">
      <ChatFilters
        search={search}
        onChange={(changed) => void navigate({ search: changedSearch(changed), replace: true, resetScroll: false })}
        onClear={() => void navigate({ search: {}, replace: true })}
      />
      <ChatsTable
        integration={integration}
        search={search}
        empty={
          Object.keys(search).length === 0 ? (
            <EmptyState title="No chats yet">
              <p>Send a message in the playground, or from your backend. Each conversation becomes a chat.</p>
              <Link className="button" to="/integrations/$integration/playground" params={{ integration }}>
                Open the playground
              </Link>
            </EmptyState>
          ) : (
            <EmptyState title="No chat matches the filters">
              <p>Change a filter, or clear all filters. The id of a member must be complete.</p>
            </EmptyState>
          )
        }
      />
    </Page>
  );
}
