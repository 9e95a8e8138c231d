import type { Chat } from '@runwire/client';
import { Link } from '@tanstack/react-router';

interface PlaygroundLinkProps {
  readonly chat: Pick<Chat, 'apiIntegrationId' | 'chatId' | 'consumerId'>;
  readonly isMain?: boolean;
  readonly label?: string;
}

/** Opens the chat in the playground, as its member. */
export function PlaygroundLink({ chat, isMain = false, label = 'Continue in the playground' }: PlaygroundLinkProps) {
  return (
    <Link
      className={isMain ? 'button button-primary' : 'button button-small'}
      to="/integrations/$integration/playground"
      params={{ integration: chat.apiIntegrationId }}
      search={{ chat: chat.chatId, ...(chat.consumerId !== null && { member: chat.consumerId }) }}
    >
      {label}
    </Link>
  );
}
