import type { Chat } from '@runwire/client';

/** What people call a chat: its title, otherwise an id. */
export const chatName = ({ title, aliasChatId, chatId }: Chat): string => title?.trim() || aliasChatId || chatId;
