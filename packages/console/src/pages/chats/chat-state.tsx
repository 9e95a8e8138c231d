import type { Chat } from '@runwire/client';
import { Badge, Status } from '../../ui/feedback.tsx';

/** The state of a chat for people: also if it waits for an answer to a question. */
export function ChatState({ status, pending }: Pick<Chat, 'status' | 'pending'>) {
  if (pending.length > 0) return <Badge tone="warn">asks</Badge>;
  return <Status status={status} />;
}
