import type { Agency } from '@runwire/client';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { describeError, InputError } from '../../app/errors.ts';
import { noteError } from '../../app/query-client.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { useFileDrop } from '../../ui/use-file-drop.ts';
import type { SampleRequest } from '../integrations/snippets.ts';
import { useChanges } from '../transcript/changes.ts';
import type { Conversation, RequestSettings } from '../transcript/conversation.ts';
import { EMPTY_MESSAGE, type SentMessage, type Turn } from '../transcript/turn.ts';
import { Announcer } from './announcer.tsx';
import { Attachments } from './attachments.ts';
import type { ChatAddress } from './chat-address.ts';
import { CodeDialog } from './code-dialog.tsx';
import { Column, type ComposerHandle, NOT_EMPTY } from './column.tsx';
import { Composer } from './composer.tsx';
import { readDraft, writeDraft } from './drafts.ts';
import { getLastRun } from './last-run.ts';
import type { RepeatedMessage } from './repeated-message.ts';
import { StepsPane } from './steps-pane.tsx';
import { useFollowEnd } from './use-follow-end.ts';
import { useRepeatedMessage } from './use-repeated-message.ts';
import { readContext } from './user-context.ts';

interface ChatProps {
  /** False until it is known that the integration exists. */
  readonly isReady: boolean;
  readonly conversation: Conversation;
  /** The second column. */
  readonly other: Conversation | null;
  readonly agents: Agency['agents'];
  /** The agent of the first column, also if it is the default. */
  readonly agentName: string | undefined;
  /** The text of `user_context`. */
  readonly context: string;
  readonly address: ChatAddress;
  readonly onAddress: (address: ChatAddress) => void;
  /** Continues with a copy of the chat. */
  readonly onFork: (fork: Conversation) => void;
}

export function Chat(props: ChatProps) {
  const { isReady, conversation, other, agents, agentName, context, address, onAddress, onFork } = props;
  const { apiIntegrationId, chatId } = conversation;
  const { member, agent, with: otherAgent } = address;
  const draftKey = `${apiIntegrationId} ${address.run ?? address.chat ?? 'new'}`;
  const [draft] = useState(() => readDraft(draftKey));
  const field = useRef<HTMLTextAreaElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [attachments] = useState(() => new Attachments({ apiIntegrationId, chatId, member }));
  const [edited, setEdited] = useState<Turn | null>(null);
  const [code, setCode] = useState<SampleRequest | null>(null);
  const isDragging = useFileDrop((files) => attachments.add(files));
  useChanges(conversation.changes);
  useChanges(other?.changes);
  const { live, turns } = conversation;
  const otherLive = other?.live ?? null;
  useChanges(live?.changes);
  useChanges(otherLive?.changes);
  const isEmpty = turns.length === 0;
  const { isAtEnd, jump } = useFollowEnd(content, isEmpty);
  useEffect(() => () => attachments.clear(), [attachments]);
  useEffect(() => {
    attachments.setTarget({ apiIntegrationId, chatId, member });
  }, [attachments, apiIntegrationId, chatId, member]);

  const setText = useCallback(
    (text: string) => {
      if (field.current !== null) field.current.value = text;
      writeDraft(draftKey, text);
    },
    [draftKey],
  );
  const composer = useMemo<ComposerHandle>(
    () => ({
      refuse: (problem) => attachments.refuse(problem),
      write(message, owner = member) {
        if (field.current === null || field.current.value !== '' || attachments.items.length > 0) return false;
        setText(message.text);
        field.current.focus({ preventScroll: true });
        if ('attached' in message && message.attached !== null) attachments.restore(message.attached);
        else attachments.restoreEarlier(message, owner);
        return true;
      },
    }),
    [attachments, member, setText],
  );
  const writeRepeated = useCallback(
    (message: RepeatedMessage) => void composer.write(message, message.member),
    [composer],
  );
  const repeated = useRepeatedMessage(conversation, address, onAddress, writeRepeated);

  /** Null if the person has to correct it first. */
  const readSettings = useCallback((): Omit<RequestSettings, 'agent'> | null => {
    try {
      return { member, context: readContext(context) };
    } catch (error) {
      attachments.refuse(describeError(error).message);
      return null;
    }
  }, [attachments, member, context]);
  const sendTo = useCallback(
    (columns: readonly Conversation[], message: SentMessage): boolean => {
      if (!isReady || columns.some(({ canSend }) => !canSend)) return false;
      const settings = readSettings();
      if (settings === null) return false;
      onAddress({ ...address, chat: chatId, run: undefined, ...(other !== null && { other: other.chatId }) });
      for (const column of columns) column.send(message, { ...settings, agent: column === other ? otherAgent : agent });
      jump();
      return true;
    },
    [isReady, readSettings, onAddress, address, chatId, other, otherAgent, agent, jump],
  );
  const columns = useMemo(() => (other === null ? [conversation] : [conversation, other]), [conversation, other]);
  const sendText = useCallback((text: string) => void sendTo(columns, { ...EMPTY_MESSAGE, text }), [sendTo, columns]);

  const [isResending, setIsResending] = useState(false);
  /** Sends a message in a copy of the chat that ends before the turn. */
  const resend = useCallback(
    async (turn: Turn, message: SentMessage): Promise<boolean> => {
      const settings = readSettings();
      if (settings === null || !conversation.canSend || isResending) return false;
      setIsResending(true);
      try {
        const fork = await conversation.forkBefore(turn);
        fork.send(message, { ...settings, agent });
        onFork(fork);
        return true;
      } catch (error) {
        noteError(error);
        attachments.refuse(describeError(error).message);
        return false;
      } finally {
        setIsResending(false);
      }
    },
    [readSettings, conversation, agent, onFork, attachments, isResending],
  );
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
      const message = { ...EMPTY_MESSAGE, text, files, images, attached: items };
      if (!(edited === null ? sendTo(columns, message) : await resend(edited, message))) return;
      setText('');
      attachments.clear();
      setEdited(null);
    } catch (error) {
      attachments.refuse(error instanceof InputError ? error.message : String(error));
    } finally {
      isReading.current = false;
    }
  };
  const onEdit = useCallback(
    (turn: Turn) => {
      if (composer.write(turn.message)) setEdited(turn);
      else composer.refuse(NOT_EMPTY);
    },
    [composer],
  );
  const resending = useMemo(() => {
    if (other !== null) return null;
    const onRegenerate = (turn: Turn) => {
      // The bytes of attachments that were stored before are not returned: the person adds them first.
      if (turn.message.attachments.length > 0) onEdit(turn);
      else void resend(turn, turn.message);
    };
    return { onEdit, onRegenerate, isResending };
  }, [other, onEdit, resend, isResending]);
  const showCode = () => {
    const settings = readSettings();
    if (settings === null) return;
    const { files } = attachments;
    setCode({
      message: field.current?.value || 'Hello',
      consumerId: member,
      agent,
      chatId,
      user_context: settings.context,
      sandboxFiles: files.length === 0 ? undefined : files,
    });
  };

  const active = [live, otherLive].filter((one) => one !== null).filter(({ isActive }) => isActive);
  const isLoading = columns.some((column) => column.isLoading);
  const isFailed = columns.some(({ error }) => error !== null);
  const obstacle = !isReady || isLoading ? 'loading' : isFailed ? 'failed' : null;
  return (
    <div className={isDragging ? 'chat chat-drop' : 'chat'}>
      <div className={other === null ? 'chat-column' : 'chat-column chat-compared'}>
        <div ref={content} className="columns">
          {columns.map((column) => {
            const name = column === other ? otherAgent : agentName;
            return (
              <Column
                key={column.chatId}
                conversation={column}
                agent={agents.find((one) => one.name === name)}
                member={member}
                title={other === null ? null : (name ?? 'Default')}
                composer={composer}
                resending={resending}
                sendTo={sendTo}
                onStarter={sendText}
              >
                {column === conversation && repeated.error !== null && (
                  <ErrorNotice error={repeated.error} onRetry={repeated.retry} />
                )}
              </Column>
            );
          })}
        </div>
        {other === null && <StepsPane integration={apiIntegrationId} run={getLastRun(turns)} />}
        <div className="chat-foot">
          {!isAtEnd && !isEmpty && (
            <button type="button" className="button button-small jump" onClick={jump}>
              Jump to the latest
            </button>
          )}
          {edited !== null && (
            <p className="spread small chat-edited" role="status">
              <span>You edit an earlier message. What you send continues in a copy of the chat.</span>
              <button type="button" className="button button-small" onClick={() => setEdited(null)}>
                Do not edit
              </button>
            </p>
          )}
          <Composer
            field={field}
            draft={draft}
            attachments={attachments}
            active={active}
            obstacle={obstacle}
            onText={(text) => writeDraft(draftKey, text)}
            onCode={showCode}
            onSend={() => void sendField()}
          />
        </div>
      </div>
      <Announcer live={live} />
      {code !== null && (
        <CodeDialog
          integration={apiIntegrationId}
          request={code}
          hasImages={attachments.hasImages}
          onClose={() => setCode(null)}
        />
      )}
    </div>
  );
}
