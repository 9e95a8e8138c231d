import type { Agency, Answer } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../app/api.ts';
import { connection, useIsConnectionLost } from '../../app/connection.ts';
import { InputError } from '../../app/errors.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { useFileDrop } from '../../ui/use-file-drop.ts';
import { useChanges } from '../transcript/changes.ts';
import type { Conversation } from '../transcript/conversation.ts';
import { EMPTY_MESSAGE, getRunId, type SentMessage, type Turn } from '../transcript/turn.ts';
import type { TurnActions } from '../transcript/turn-view.tsx';
import { Announcer } from './announcer.tsx';
import { Attachments } from './attachments.ts';
import { Composer } from './composer.tsx';
import { ConversationView } from './conversation-view.tsx';
import { type RepeatedMessage, repeatedMessageQuery } from './repeated-message.ts';
import { StepsPane } from './steps-pane.tsx';
import { useFollowEnd } from './use-follow-end.ts';

/** The fields of the page's address. */
export interface ChatAddress {
  readonly chat?: string | undefined;
  readonly member?: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
}

interface ChatProps {
  /** False until it is known that the integration exists. */
  readonly isReady: boolean;
  readonly conversation: Conversation;
  readonly agent: Agency['agents'][number] | undefined;
  readonly address: ChatAddress;
  readonly onAddress: (address: ChatAddress) => void;
}

const NOT_EMPTY = 'The field below has a message already. Send it, or clear it.';

export function Chat({ isReady, conversation, agent, address, onAddress }: ChatProps) {
  const { apiIntegrationId, chatId } = conversation;
  const { member, agent: agentName } = address;
  const field = useRef<HTMLTextAreaElement>(null);
  const content = useRef<HTMLElement>(null);
  const [attachments] = useState(() => new Attachments({ apiIntegrationId, chatId, member }));
  const isDragging = useFileDrop((files) => attachments.add(files));
  useChanges(conversation.changes);
  const { live, turns } = conversation;
  const isEmpty = turns.length === 0;
  const { isAtEnd, jump } = useFollowEnd(content, isEmpty);
  useChanges(live?.changes);

  useEffect(() => {
    void conversation.load();
    return () => conversation.close();
  }, [conversation]);
  useEffect(() => () => attachments.clear(), [attachments]);
  useEffect(() => {
    attachments.setTarget({ apiIntegrationId, chatId, member });
  }, [attachments, apiIntegrationId, chatId, member]);
  useCatchUp(conversation);
  const isLost = useIsConnectionLost();
  useEffect(() => {
    if (!isLost) conversation.recover();
  }, [isLost, conversation]);

  /** Returns false if the person has written something else. */
  const write = useCallback(
    (text: string, restore: () => void): boolean => {
      if (field.current === null || field.current.value !== '' || attachments.items.length > 0) return false;
      field.current.value = text;
      field.current.focus({ preventScroll: true });
      restore();
      return true;
    },
    [attachments],
  );
  const writeRepeated = useCallback(
    (message: RepeatedMessage) => {
      write(message.text, () => attachments.restoreEarlier(message, message.member));
    },
    [write, attachments],
  );
  const repeated = useRepeatedMessage(conversation, address, onAddress, writeRepeated);

  const send = useCallback(
    (message: SentMessage): boolean => {
      if (!isReady || !conversation.canSend) return false;
      onAddress({ chat: chatId, member, agent: agentName });
      conversation.send(message, { member, agent: agentName });
      jump();
      return true;
    },
    [isReady, conversation, chatId, member, agentName, onAddress, jump],
  );
  const sendText = useCallback((text: string) => void send({ ...EMPTY_MESSAGE, text }), [send]);
  const sendAnswers = useCallback((answers: readonly Answer[]) => void send({ ...EMPTY_MESSAGE, answers }), [send]);
  const isReading = useRef(false);
  const sendField = async () => {
    const text = field.current?.value ?? '';
    const { files, items, areUploaded } = attachments;
    if ((text.trim() === '' && items.length === 0) || !areUploaded || isReading.current) return;
    isReading.current = true;
    try {
      const images = await attachments.images();
      // While the images were read the message may have changed.
      if (items !== attachments.items || text !== (field.current?.value ?? '')) return;
      if (!send({ ...EMPTY_MESSAGE, text, files, images, attached: items })) return;
      if (field.current !== null) field.current.value = '';
      attachments.clear();
    } catch (error) {
      attachments.refuse(error instanceof InputError ? error.message : String(error));
    } finally {
      isReading.current = false;
    }
  };
  const actions = useMemo<TurnActions>(() => {
    const onRetry = (turn: Turn) => {
      if (conversation.turns.includes(turn) && send(turn.message)) conversation.remove(turn);
    };
    const writeAgain = ({ message }: Turn): boolean => {
      const isWritten = write(message.text, () => {
        if (message.attached === null) attachments.restoreEarlier(message, member);
        else attachments.restore(message.attached);
      });
      if (!isWritten) attachments.refuse(NOT_EMPTY);
      return isWritten;
    };
    const onEdit = (turn: Turn) => {
      if (writeAgain(turn)) conversation.remove(turn);
    };
    return {
      onAnswer: sendAnswers,
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
  }, [conversation, attachments, apiIntegrationId, member, send, sendAnswers, write]);

  const activeRun = live?.isActive ? live : null;
  const isFailed = conversation.error !== null;
  const obstacle = !isReady || conversation.isLoading ? 'loading' : isFailed ? 'failed' : null;
  return (
    <div className={isDragging ? 'chat chat-drop' : 'chat'}>
      <div className="chat-column">
        <section ref={content} className="transcript" aria-label="Conversation">
          {repeated.error !== null && <ErrorNotice error={repeated.error} onRetry={repeated.retry} />}
          <ConversationView conversation={conversation} agent={agent} actions={actions} onStarter={sendText} />
        </section>
        <StepsPane integration={apiIntegrationId} run={getLastRun(turns)} />
        <div className="chat-foot">
          {!isAtEnd && !isEmpty && (
            <button type="button" className="button button-small jump" onClick={jump}>
              Jump to the latest
            </button>
          )}
          <Composer
            field={field}
            attachments={attachments}
            live={activeRun}
            obstacle={obstacle}
            onSend={() => void sendField()}
          />
        </div>
      </div>
      <Announcer live={live} />
    </div>
  );
}

interface LastRun {
  readonly runId: string;
  readonly isActive: boolean;
}

function getLastRun(turns: readonly Turn[]): LastRun | null {
  const last = turns.findLast((turn) => getRunId(turn) !== null);
  const runId = last === undefined ? null : getRunId(last);
  return runId === null ? null : { runId, isActive: last?.live?.isActive ?? false };
}

/** Each look is one small answer. A tab that the person opens again looks immediately. */
const CATCH_UP_MS = 4000;

/** Shows what other tabs and programs send to the chat, while the page is in view. */
function useCatchUp(conversation: Conversation): void {
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible' && !connection.isLost()) void conversation.catchUp();
    };
    const timer = setInterval(look, CATCH_UP_MS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [conversation]);
}

/** Fills the field with another run's message. A chat that was opened without its member gets it. */
function useRepeatedMessage(
  conversation: Conversation,
  { chat, member, agent, run }: ChatAddress,
  onAddress: ChatProps['onAddress'],
  write: (message: RepeatedMessage) => void,
) {
  const filled = useRef<string>(null);
  const { data, error, refetch } = useQuery(repeatedMessageQuery(conversation.apiIntegrationId, run));
  useEffect(() => {
    if (data === undefined || run === undefined || filled.current === run) return;
    filled.current = run;
    write(data);
    onAddress({ run, member: data.member, agent: data.agent });
  }, [data, run, write, onAddress]);
  const stored = conversation.member;
  useEffect(() => {
    if (stored == null || member !== undefined || chat === undefined) return;
    onAddress({ chat, member: stored, agent });
  }, [stored, chat, member, agent, onAddress]);
  return { error, retry: () => void refetch() };
}
