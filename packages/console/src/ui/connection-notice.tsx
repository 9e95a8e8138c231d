import { connection, useIsConnectionLost } from '../app/connection.ts';

/** Reports a lost connection once for the whole page. It disappears by itself when the server answers. */
export function ConnectionNotice() {
  const isLost = useIsConnectionLost();
  return (
    <div role="status" className={isLost ? 'connection' : undefined}>
      {isLost && (
        <div className="notice notice-warn">
          <strong>The server does not answer.</strong>
          <p>The console tries again every few seconds, and continues when the server answers.</p>
          <div>
            <button type="button" className="button button-small" onClick={() => void connection.tryNow()}>
              Try now
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
