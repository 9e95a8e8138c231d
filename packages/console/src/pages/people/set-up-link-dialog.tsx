import { CodeBlock } from '../../ui/code-block.tsx';
import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';

interface SetUpLinkDialogProps {
  readonly email: string | null;
  readonly setupLink: string;
  /** The first key of a new owner. */
  readonly apiKey?: string;
  readonly onClose: () => void;
}

export function SetUpLinkDialog({ email, setupLink, apiKey, onClose }: SetUpLinkDialogProps) {
  return (
    <ShownOnceDialog
      title="Give this link to the person"
      lead={
        <>
          <bdi>{email}</bdi> sets a password with this link. It works once, for 24 hours. Copy it now: it is not shown
          again.
        </>
      }
      value={setupLink}
      label="set-up link"
      onClose={onClose}
    >
      {apiKey !== undefined && (
        <details className="first-key">
          <summary>First API key of the owner</summary>
          <div className="stack-tight">
            <p className="muted">Only for a backend that needs it before the person signs in. It is not shown again.</p>
            <CodeBlock code={apiKey} label="API key" />
          </div>
        </details>
      )}
    </ShownOnceDialog>
  );
}
