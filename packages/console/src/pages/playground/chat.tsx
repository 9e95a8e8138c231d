import type { Agency, Answer, SandboxFile } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../../app/api.ts';
import { useIsConnectionLost } from '../../app/connection.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Announcer } from './announcer.tsx';
import { Attachments } from './attachments.ts';
import { Changes, useChanges } from './changes.ts';
import { Composer } from './composer.tsx';
import type { Conversation, SentMessage, Turn } from './conversation.ts';
import type { RefusedActions } from './refused-notice.tsx';
import { repeatedMessageQuery } from './repeated-message.ts';
import { StepsPane } from './steps-pane.tsx';
import { Transcript } from './transcript.tsx';
import { useFileDrop } from './use-file-drop.ts';
import { useFollowEnd } from './use-follow-end.ts';

/** The fields of the page's address. */
export interface ChatAddress {
  readonly chat?: string | undefined;
  readonly member?: string | undefined;
  readonly agent?: string | undefined;
  readonly run?: string | undefined;
}

interface ChatProps {
  readonly conversation: Conversation;
  readonly agent: Agency['agents'][number] | undefined;
  readonly address: ChatAddress;
  readonly onAddress: (address: ChatAddress) => void;
}

const NEVER = new Changes();

export function Chat({ conversation, agent, address, onAddress }: ChatProps) {
  const { apiIntegrationId, chatId } = conversation;
  const { member, agent: agentName } = address;
  const field = useRef<HTMLTextAreaElement>(null);
  const content = useRef<HTMLElement>(null);
  const [attachments] = useState(() => new Attachments());
  const target = useMemo(() => ({ apiIntegrationId, member }), [apiIntegrationId, member]);
  const isDragging = useFileDrop((files) => attachments.add(files, target));
  useChanges(conversation.changes);
  const { live, turns } = conversation;
  const isEmpty = turns.length === 0;
  const { isAtEnd, jump } = useFollowEnd(content, isEmpty);
  useChanges(live?.changes ?? NEVER);

  useEffect(() => {
    void conversation.load();
    return () => conversation.close();
  }, [conversation]);
  useEffect(() => () => attachments.clear(), [attachments]);
  const isLost = useIsConnectionLost();
  useEffect(() => {
    if (!isLost && conversation.isDisconnected) void conversation.load();
  }, [isLost, conversation]);

  const write = useCallback(
    (text: string, files: readonly SandboxFile[]) => {
      if (field.current === null || field.current.value !== '') return;
      field.current.value = text;
      field.current.focus({ preventScroll: true });
      attachments.restore(files);
    },
    [attachments],
  );
  const repeated = useRepeatedMessage(conversation, address, onAddress, write);

  const send = useCallback(
    (message: SentMessage) => {
      onAddress({ chat: chatId, member, agent: agentName });
      conversation.send(message, { member, agent: agentName });
      jump();
    },
    [conversation, chatId, member, agentName, onAddress, jump],
  );
  const sendText = useCallback((text: string) => send({ text, files: [], images: [], answers: [] }), [send]);
  const sendAnswers = useCallback(
    (answers: readonly Answer[]) => send({ text: '', files: [], images: [], answers }),
    [send],
  );
  const sendField = async () => {
    const text = field.current?.value ?? '';
    const { files, items, areUploaded } = attachments;
    if ((text.trim() === '' && items.length === 0) || !areUploaded || live?.isActive) return;
    const images = await attachments.images();
    if (field.current !== null) field.current.value = '';
    attachments.clear();
    send({ text, files, images, answers: [] });
  };
  const actions = useMemo<RefusedActions>(() => {
    const takeBack = (turn: Turn) => conversation.remove(turn);
    const onRetry = (turn: Turn) => {
      takeBack(turn);
      send(turn.message);
    };
    const onEdit = (turn: Turn) => {
      takeBack(turn);
      write(turn.message.text, turn.message.files);
    };
    return {
      onAgain: (turn) => send(turn.message),
      onRetry,
      onEdit,
      onFollow: (turn) => {
        onEdit(turn);
        void conversation.load();
      },
      onRegister: async (turn) => {
        if (member !== undefined) await api().members.put({ apiIntegrationId, consumerId: member });
        onRetry(turn);
      },
    };
  }, [conversation, apiIntegrationId, member, send, write]);

  const activeRun = live?.isActive ? live : null;
  return (
    <div className={isDragging ? 'chat chat-drop' : 'chat'}>
      <div className="chat-column">
        <section ref={content} className="transcript" aria-label="Conversation">
          {repeated.error !== null && <ErrorNotice error={repeated.error} onRetry={repeated.retry} />}
          <Transcript
            conversation={conversation}
            agent={agent}
            actions={actions}
            onAnswer={sendAnswers}
            onStarter={sendText}
          />
        </section>
        <StepsPane live={live} />
        <div className="chat-foot">
          {!isAtEnd && !isEmpty && (
            <button type="button" className="button button-small jump" onClick={jump}>
              Jump to the latest
            </button>
          )}
          <Composer
            field={field}
            attachments={attachments}
            target={target}
            live={activeRun}
            onSend={() => void sendField()}
          />
        </div>
      </div>
      {live !== null && <Announcer live={live} />}
    </div>
  );
}

/** Fills the field with the message of another run. A chat that was opened without its member gets it. */
function useRepeatedMessage(
  conversation: Conversation,
  { chat, member, agent, run }: ChatAddress,
  onAddress: ChatProps['onAddress'],
  write: (text: string, files: readonly SandboxFile[]) => void,
) {
  const filled = useRef<string>(null);
  const { data, error, refetch } = useQuery(repeatedMessageQuery(conversation.apiIntegrationId, run));
  useEffect(() => {
    if (data === undefined || run === undefined || filled.current === run) return;
    filled.current = run;
    write(data.text, data.files);
    onAddress({ run, member: data.member, agent: data.agent });
  }, [data, run, write, onAddress]);
  const stored = conversation.member;
  useEffect(() => {
    if (stored == null || member !== undefined || chat === undefined) return;
    onAddress({ chat, member: stored, agent });
  }, [stored, chat, member, agent, onAddress]);
  return { error, retry: () => void refetch() };
}
