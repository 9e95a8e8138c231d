import type { CreatedApiKey } from '@runwire/client';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';

interface NewKeyDialogProps {
  readonly created: CreatedApiKey;
  readonly onClose: () => void;
}

/** The only place that ever shows a key. It is not stored in any cache. */
export function NewKeyDialog({ created, onClose }: NewKeyDialogProps) {
  return (
    <Dialog title="Your new API key" onClose={onClose}>
      <div className="stack">
        <p>Copy the key now. It is not shown again.</p>
        <CodeBlock code={created.apiKey} label="API key" />
        <div className="row row-end">
          <button type="button" className="button button-primary" onClick={onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}
