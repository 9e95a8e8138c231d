import { RunwireError } from '@runwire/client';
import { useMutation } from '@tanstack/react-query';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { Turn } from './turn.ts';

export interface RefusedActions {
  /** Sends the same message again after a failed answer. If attachments are lost, the person adds them first. */
  readonly onAgain: (turn: Turn) => void;
  /** Replaces the refused message by the same one. */
  readonly onRetry: (turn: Turn) => void;
  /** Puts the message back into the field. */
  readonly onEdit: (turn: Turn) => void;
  /** Shows the run that keeps the chat busy, or that was lost. */
  readonly onFollow: (turn: Turn) => void;
  readonly onRegister: (turn: Turn) => Promise<void>;
}

interface RefusedNoticeProps {
  readonly error: unknown;
  readonly turn: Turn;
  readonly actions: RefusedActions | null;
}

/** Why a message was not answered, and what the person can do about it here. */
export function RefusedNotice({ error, turn, actions }: RefusedNoticeProps) {
  const code = error instanceof RunwireError ? error.code : null;
  const mayRun = turn.live?.mayRun ?? false;
  return (
    <>
      <ErrorNotice error={error} />
      {actions !== null && (
        <div className="row">
          {code === 'run_active' || mayRun ? (
            <button type="button" className="button button-small" onClick={() => actions.onFollow(turn)}>
              {mayRun ? 'Connect again' : 'Follow the active run'}
            </button>
          ) : code === 'member_not_found' ? (
            <RegisterButton onRegister={() => actions.onRegister(turn)} />
          ) : (
            <button type="button" className="button button-small" onClick={() => actions.onRetry(turn)}>
              Send again
            </button>
          )}
          {!mayRun && (
            <button type="button" className="button button-small" onClick={() => actions.onEdit(turn)}>
              Edit the message
            </button>
          )}
        </div>
      )}
    </>
  );
}

function RegisterButton({ onRegister }: { readonly onRegister: () => Promise<void> }) {
  const { mutate, isPending, error } = useMutation({ mutationFn: onRegister });
  return (
    <>
      {error !== null && <ErrorNotice error={error} />}
      <button
        type="button"
        className="button button-small"
        aria-disabled={isPending}
        onClick={() => {
          if (!isPending) mutate();
        }}
      >
        {isPending ? 'Registering…' : 'Register the member and send again'}
      </button>
    </>
  );
}
