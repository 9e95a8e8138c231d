import type { Agency } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { api } from '../../app/api.ts';
import { shorten } from '../../lib/shorten.ts';
import type { Conversation } from '../transcript/conversation.ts';
import { type EarlierFiles, EMPTY_MESSAGE, type SentMessage, type Turn } from '../transcript/turn.ts';
import type { TurnActions } from '../transcript/turn-view.tsx';
import { ConversationView } from './conversation-view.tsx';
import { useOpenConversation } from './use-open-conversation.ts';

/** The field for a message. */
export interface ComposerHandle {
  /** Returns false if the person has written something else. */
  readonly write: (message: SentMessage | (EarlierFiles & { readonly text: string }), owner?: string) => boolean;
  /** Shows why something was refused. */
  readonly refuse: (problem: string) => void;
}

interface ColumnProps extends Pick<TurnActions, 'resending'> {
  readonly conversation: Conversation;
  readonly agent: Agency['agents'][number] | undefined;
  readonly member: string | undefined;
  /** Null if there is one column only. */
  readonly title: string | null;
  readonly composer: ComposerHandle;
  /** Returns false if nothing can be sent now. */
  readonly sendTo: (columns: readonly Conversation[], message: SentMessage) => boolean;
  readonly onStarter: (text: string) => void;
  readonly children: ReactNode;
}

export const NOT_EMPTY = 'The field below has a message already. Send it, or clear it.';

/** A chat of the playground. */
export function Column(props: ColumnProps) {
  const { conversation, agent, member, title, composer, resending, sendTo, onStarter, children } = props;
  const { apiIntegrationId, chatId } = conversation;
  useOpenConversation(conversation);
  const actions = useMemo<TurnActions>(() => {
    const send = (message: SentMessage) => sendTo([conversation], message);
    const onRetry = (turn: Turn) => {
      if (conversation.turns.includes(turn) && send(turn.message)) conversation.remove(turn);
    };
    const writeAgain = ({ message }: Turn): boolean => {
      const isWritten = composer.write(message);
      if (!isWritten) composer.refuse(NOT_EMPTY);
      return isWritten;
    };
    const onEdit = (turn: Turn) => {
      if (writeAgain(turn)) conversation.remove(turn);
    };
    return {
      resending,
      onAnswer: (answers) => void send({ ...EMPTY_MESSAGE, answers }),
      onAgain: (turn) => {
        if (turn.message.attachments.length > 0) writeAgain(turn);
        else send(turn.message);
      },
      onRetry,
      onEdit,
      onFollow: (turn) => {
        // A message whose run may exist would be sent twice.
        if (!turn.live?.mayRun) onEdit(turn);
        void conversation.load();
      },
      onRegister: async (turn) => {
        if (member !== undefined) await api().members.put({ apiIntegrationId, consumerId: member });
        onRetry(turn);
      },
    };
  }, [conversation, composer, resending, apiIntegrationId, member, sendTo]);
  return (
    <section
      className="transcript"
      aria-label={title === null ? 'Conversation' : `Conversation with ${title}`}
      aria-busy={conversation.isLoading}
    >
      {title !== null && (
        <header className="spread">
          <h2>
            <bdi>{shorten(title, 80)}</bdi>
          </h2>
          {conversation.turns.length > 0 && (
            <Link
              className="small"
              to="/integrations/$integration/chats/$chat"
              params={{ integration: apiIntegrationId, chat: chatId }}
            >
              Open this chat
            </Link>
          )}
        </header>
      )}
      {children}
      <ConversationView conversation={conversation} agent={agent} actions={actions} onStarter={onStarter} />
    </section>
  );
}
