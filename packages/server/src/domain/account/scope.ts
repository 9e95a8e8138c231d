import type { IntegrationId } from '../ids.ts';
/** The member that a client token speaks for. */
export interface MemberScope {
  readonly consumerId: string;
  /** Null if all chats of the member are visible. */
  readonly chatId: string | null;
}

/** What a caller sees of an integration: everything, or with a client token the runs and chats of one member. */
export interface Scope {
  readonly integrationId: IntegrationId;
  /** Null for the owner. */
  readonly member: MemberScope | null;
}

export const wholeIntegration = (integrationId: IntegrationId): Scope => ({ integrationId, member: null });

/** True if the caller sees this chat, or a run of it. The caller learns nothing about other ones. */
export function isVisible(member: MemberScope | null, consumerId: string | null, chatId: string | null): boolean {
  if (member === null) return true;
  return member.consumerId === consumerId && (member.chatId === null || member.chatId === chatId);
}
