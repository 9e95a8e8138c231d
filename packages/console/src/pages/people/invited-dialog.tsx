import type { CreatedPerson } from '@runwire/client';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface InvitedDialogProps {
  readonly person: CreatedPerson;
  readonly onClose: () => void;
}

/** The only place that ever shows the link. It is not stored in any cache. */
export function InvitedDialog({ person: { email, setupLink }, onClose }: InvitedDialogProps) {
  return (
    <Dialog title="Give this link to the person" onClose={onClose}>
      <div className="stack">
        <p>
          <bdi>{email}</bdi> sets a password with this link. It works once, for 24 hours. Copy it now: it is not shown
          again.
        </p>
        <CodeBlock code={setupLink} label="set-up link" />
        <div className="row row-end">
          <button type="button" className="button button-primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
