import { useEffect } from 'react';
import { connection, useIsConnectionLost } from '../../app/connection.ts';
import type { Conversation } from '../transcript/conversation.ts';

/** Each look is one small answer. A tab that the person opens again looks immediately. */
const CATCH_UP_MS = 4000;

/** Reads the chat, and shows what other tabs and programs send to it while the page is in view. */
export function useOpenConversation(conversation: Conversation): void {
  useEffect(() => {
    conversation.open();
    return () => conversation.close();
  }, [conversation]);
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
  const isLost = useIsConnectionLost();
  useEffect(() => {
    if (!isLost) conversation.recover();
  }, [isLost, conversation]);
}
