import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { InfoDialog } from './info-dialog.tsx';

interface ShownOnceDialogProps {
  readonly title: string;
  /** What the value is for. */
  readonly lead: ReactNode;
  /** The key, secret or link. */
  readonly value: string;
  /** What the value is, for screen readers. */
  readonly label: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** The only place that ever shows a key, a secret or a set-up link. None is stored in any cache. */
export function ShownOnceDialog({ title, lead, value, label, onClose, children }: ShownOnceDialogProps) {
  return (
    <InfoDialog title={title} closeLabel="Done" onClose={onClose}>
      <p>{lead}</p>
      <CodeBlock code={value} label={label} />
      {children}
    </InfoDialog>
  );
}
