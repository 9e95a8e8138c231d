import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { changedSearch } from '../../app/search.ts';
import { ListPage } from '../lists/list-page.tsx';
import { memberFilter } from '../lists/member-filter.tsx';
import { chatList } from './chat-list.tsx';

const STATUSES = ['idle', 'running', 'waiting'];

const SORTS = [
  { value: 'updated', label: 'Last change' },
  { value: 'created', label: 'Creation' },
];

export function ChatsPage() {
  const { integration } = useParams({ from: '/signed-in/integrations/$integration/chats' });
  const search = useSearch({ from: '/signed-in/integrations/$integration/chats' });
  const navigate = useNavigate({ from: '/integrations/$integration/chats' });
  return (
    <ListPage
      kind={chatList}
      title="Chats"
      lead="A chat has the messages of one conversation. The chat that changed last is first."
      integration={integration}
      search={search}
      onChange={(changed) => void navigate({ search: changedSearch(changed), replace: true, resetScroll: false })}
      filters={[{ name: 'status', detail: 'state of the chat', values: STATUSES }, memberFilter(integration)]}
      hasEnd={false}
      sorts={SORTS}
    />
  );
}
