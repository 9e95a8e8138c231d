import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Conversation } from '../transcript/conversation.ts';
import type { ChatAddress } from './chat-address.ts';
import { type RepeatedMessage, repeatedMessageQuery } from './repeated-message.ts';

/** Fills the field with another run's message. A chat that was opened without its member gets it. */
export function useRepeatedMessage(
  conversation: Conversation,
  { chat, member, agent, run }: ChatAddress,
  onAddress: (address: ChatAddress) => void,
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
