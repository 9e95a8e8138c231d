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
          Copy the secret now. It is not shown again. With it your backend checks that requests are from this server.
        </p>
        <CodeBlock code={secret} label="secret" />
        {isRotated && <p>For 24 hours the old secret signs too, so your backend can check with either secret.</p>}
        <div className="row row-end">
          <button type="button" className="button button-primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
