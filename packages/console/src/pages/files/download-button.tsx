import { useState } from 'react';
import { describeError } from '../../app/errors.ts';
import { notify } from '../../ui/toasts.tsx';
import { downloadFile } from './download-file.ts';
import { getName, isolated } from './file-path.ts';

interface DownloadButtonProps {
  readonly integration: string;
  readonly path: string;
  readonly isSmall?: boolean;
  /** For a dialog, which hides notices of the page. */
  readonly onError?: (error: unknown) => void;
}

export function DownloadButton({ integration, path, isSmall = false, onError }: DownloadButtonProps) {
  const [isPending, setPending] = useState(false);
  const download = async () => {
    if (isPending) return;
    setPending(true);
    try {
      await downloadFile(integration, path);
    } catch (error) {
      if (onError !== undefined) onError(error);
      else notify(`${isolated(getName(path))} was not downloaded. ${describeError(error).message}`);
    }
    setPending(false);
  };
  const label = isPending ? 'Reading…' : 'Download';
  return (
    <button
      type="button"
      className={isSmall ? 'button button-small' : 'button'}
      aria-label={`${label} ${getName(path)}`}
      aria-disabled={isPending}
      onClick={() => void download()}
    >
      {label}
    </button>
  );
}
