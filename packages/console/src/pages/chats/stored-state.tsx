import type { Chat, ChatState } from '@runwire/client';
import { formatJson } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { JsonView } from '../../ui/json-view.tsx';

interface StoredStateProps {
  readonly chat: Pick<Chat, 'lastingAgent'>;
  readonly state: ChatState;
}

/** What tools keep in the chat, and the agent that a lasting hand-off chose. Most chats have neither. */
export function StoredState({ chat: { lastingAgent }, state }: StoredStateProps) {
  const isEmpty = Object.keys(state).length === 0;
  if (isEmpty && lastingAgent === null) return null;
  return (
    <section className="card stack-tight" aria-labelledby="stored-state">
      <h2 id="stored-state">State of the chat</h2>
      {lastingAgent !== null && (
        <p>
          Runs whose requests name no agent begin with <bdi>{shorten(lastingAgent)}</bdi>: a hand-off that lasts led
          there.
        </p>
      )}
      {!isEmpty && <JsonView text={formatJson(state)} label="state" />}
    </section>
  );
}
