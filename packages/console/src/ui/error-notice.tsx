import { describeError, isConnectionLost } from '../app/errors.ts';
import { Prose } from './prose.tsx';

interface ErrorNoticeProps {
  readonly error: unknown;
  /** Shown as a button that repeats what failed. */
  readonly onRetry?: () => void;
}

/** Shows an error at its cause's place: what was wrong, what to do, and how to find it in the log. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  // `ConnectionNotice` reports it once for the whole page, and what was being read is read again by itself.
  if (isConnectionLost(error) && onRetry !== undefined) {
    return <p className="loading">Waiting for the server…</p>;
  }
  const { message, advice, code, requestId } = describeError(error);
  return (
    <div className="notice notice-bad" role="alert">
      <strong>
        <Prose text={message} />
      </strong>
      {advice !== null && (
        <p>
          <Prose text={advice} />
        </p>
      )}
      {(code !== null || requestId !== null) && (
        <p className="small muted">
          {code !== null && <code>{code}</code>}
          {requestId !== null && (
            <>
              {' '}
              Request id <code>{requestId}</code>
            </>
          )}
        </p>
      )}
      {onRetry !== undefined && (
        <div>
          <button type="button" className="button button-small" onClick={onRetry}>
            Try again
          </button>
        </div>
      )}
    </div>
  );
}
