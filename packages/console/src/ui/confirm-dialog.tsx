import { type ReactNode, useState } from 'react';
import { InputError } from '../app/errors.ts';
import { Dialog } from './dialog.tsx';
import { Form, TextField } from './form.tsx';

interface ConfirmDialogProps {
  readonly title: string;
  readonly action: string;
  readonly pendingLabel: string;
  /** If set, the person must type it: for what cannot be undone. */
  readonly typeName?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  /** What happens, and what is lost. */
  readonly children: ReactNode;
}

/** Asks before something is deleted. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, action, pendingLabel, typeName, onConfirm, onClose, children } = props;
  const [typed, setTyped] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submitLabel={action}
        pendingLabel={pendingLabel}
        isDanger
        isGuarded={false}
        onCancel={onClose}
        onSubmit={async () => {
          if (typeName !== undefined && typed !== typeName)
            throw new InputError(`Type exactly ${typeName}.`, 'confirmation');
          await onConfirm();
          onClose();
        }}
      >
        {children}
        {typeName !== undefined && (
          <TextField
            label={`Type ${typeName} to confirm`}
            name="confirmation"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            required
          />
        )}
      </Form>
    </Dialog>
  );
}
