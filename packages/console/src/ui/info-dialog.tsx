import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

interface InfoDialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly closeLabel?: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog without a form: it shows something, and has one button that closes it. */
export function InfoDialog({ closeLabel = 'Close', onClose, children, ...rest }: InfoDialogProps) {
  return (
    <Dialog {...rest} onClose={onClose}>
      <div className="stack">
        {children}
        <div className="row row-end">
          <button type="button" className="button button-primary" onClick={onClose}>
            {closeLabel}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
