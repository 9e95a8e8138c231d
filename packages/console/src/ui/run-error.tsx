import { getAdvice } from '../app/errors.ts';

interface RunErrorProps {
  readonly error: { readonly code: string; readonly message: string };
  /** Shown as a button that starts the same run again. */
  readonly onAgain?: () => void;
}

/** Why a run or a step failed, as the API reports it, and what to do. */
export function RunError({ error: { code, message }, onAgain }: RunErrorProps) {
  const advice = getAdvice(code);
  return (
    <div className="notice notice-bad">
      <strong className="plain-text">{message}</strong>
      {advice !== null && <p>{advice}</p>}
      <p className="small muted">
        <code>{code}</code>
      </p>
      {onAgain !== undefined && (
        <div>
          <button type="button" className="button button-small" onClick={onAgain}>
            Send again
          </button>
        </div>
      )}
    </div>
  );
}
