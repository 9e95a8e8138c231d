import type { RunRecord } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { LongText } from '../../ui/long-text.tsx';
import { MessageFiles } from '../transcript/message-files.tsx';
import { inputQuery } from './run-queries.ts';

/** The output below must not be far away. */
const MAX_SHOWN = 4000;

/** The message that started the run. */
export function RunInput({ run }: { readonly run: RunRecord }) {
  const { data: message, isPending, error, refetch } = useQuery(inputQuery(run));
  if (isPending) return <p className="muted">Loading the message…</p>;
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (message === null) return <p className="muted">The message is in the chat.</p>;
  return (
    <div className="stack-tight">
      {message.content === '' ? (
        <p className="muted">Answers to questions, without text.</p>
      ) : (
        <LongText text={message.content} maxShown={MAX_SHOWN} />
      )}
      <MessageFiles
        integration={run.apiIntegrationId}
        message={{ attachments: message.attachments, files: message.sandboxFiles }}
      />
    </div>
  );
}
