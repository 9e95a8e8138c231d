import { ShownOnceDialog } from '../../ui/shown-once-dialog.tsx';

interface SecretDialogProps {
  readonly secret: string;
  /** True if the endpoint had a secret before. */
  readonly isRotated: boolean;
  readonly onClose: () => void;
}

export function SecretDialog({ secret, isRotated, onClose }: SecretDialogProps) {
  return (
    <ShownOnceDialog
      title={isRotated ? 'The new secret' : 'The secret of the endpoint'}
      lead="Copy the secret now. It is not shown again. With it your backend checks that requests are from this server."
      value={secret}
      label="secret"
      onClose={onClose}
    >
      {isRotated && <p>For 24 hours the old secret signs too, so your backend can check with either secret.</p>}
    </ShownOnceDialog>
  );
}
