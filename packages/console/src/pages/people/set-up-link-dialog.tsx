import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface SetUpLinkDialogProps {
  readonly email: string | null;
  readonly setupLink: string;
  /** The first key of a new owner. */
  readonly apiKey?: string;
  readonly onClose: () => void;
}

/** The only place that ever shows the link and the key. They are not stored in any cache. */
export function SetUpLinkDialog({ email, setupLink, apiKey, onClose }: SetUpLinkDialogProps) {
  return (
    <Dialog title="Give this link to the person" onClose={onClose}>
      <div className="stack">
        <p>
          <bdi>{email}</bdi> sets a password with this link. It works once, for 24 hours. Copy it now: it is not shown
          again.
        </p>
        <CodeBlock code={setupLink} label="set-up link" />
        {apiKey !== undefined && (
          <details className="first-key">
            <summary>First API key of the owner</summary>
            <div className="stack-tight">
              <p className="muted">
                Only for a backend that needs it before the person signs in. It is not shown again.
              </p>
              <CodeBlock code={apiKey} label="API key" />
            </div>
          </details>
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
