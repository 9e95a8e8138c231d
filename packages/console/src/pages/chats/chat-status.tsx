import type { Chat } from '@runwire/client';
import { Status } from '../../ui/feedback.tsx';

/** A chat's status for people: also if it waits for an answer to a question. */
export const ChatStatus = ({ status, pending }: Pick<Chat, 'status' | 'pending'>) => (
  <Status status={pending.length > 0 ? 'waiting' : status} />
);
