import type { Chat } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { May } from '../../ui/may.tsx';

interface PlaygroundLinkProps {
  readonly chat: Pick<Chat, 'apiIntegrationId' | 'chatId' | 'consumerId'>;
  readonly isMain?: boolean;
  readonly label?: string;
  /** The name for screen readers, if the page has several such links. */
  readonly title?: string;
}

/** Opens the chat in the playground, as its member. */
export function PlaygroundLink(props: PlaygroundLinkProps) {
  const { chat, isMain = false, label = 'Continue in the playground', title } = props;
  return (
    <May call="getCompletionV2">
      <Link
        className={isMain ? 'button button-primary' : 'button button-small'}
        to="/integrations/$integration/playground"
        params={{ integration: chat.apiIntegrationId }}
        aria-label={title}
        search={{ chat: chat.chatId, ...(chat.consumerId !== null && { member: chat.consumerId }) }}
      >
        {label}
      </Link>
    </May>
  );
}
