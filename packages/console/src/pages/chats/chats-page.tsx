import { Page } from '../../ui/page.tsx';

export function ChatsPage() {
  return <Page title="Chats">{null}</Page>;
}
