import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface SecretDialogProps {
  readonly secret: string;
  /** True if the endpoint had a secret before. */
  readonly isRotated: boolean;
  readonly onClose: () => void;
}

/** The only place that ever shows a secret. It is not stored in any cache. */
export function SecretDialog({ secret, isRotated, onClose }: SecretDialogProps) {
  return (
    <Dialog title={isRotated ? 'The new secret' : 'The secret of the endpoint'} onClose={onClose}>
      <div className="stack">
        <p>
          Copy the secret now. It is not shown again. Your backend checks with it that requests are from this server.
        </p>
        <CodeBlock code={secret} label="secret" />
        {isRotated && (
          <p>The old secret also signs for 24 hours. Until then your backend may know either of them, or both.</p>
        )}
        <div className="row row-end">
          <button type="button" className="button button-primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
