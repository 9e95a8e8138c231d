import type { File as StoredFile } from '@runwire/client';
import { useState } from 'react';
import { describeError } from '../../app/errors.ts';
import { notify } from '../../ui/toasts.tsx';
import { downloadFile } from './download-file.ts';
import { downloadItems } from './download-items.ts';
import { isolated } from './file-path.ts';

interface DownloadButtonProps {
  readonly integration: string;
  /** A folder is saved as an archive. */
  readonly item: Pick<StoredFile, 'name' | 'path' | 'kind'>;
  readonly isSmall?: boolean;
  /** For a dialog, which hides notices of the page. */
  readonly onError?: (error: unknown) => void;
}

export function DownloadButton({ integration, item, isSmall = false, onError }: DownloadButtonProps) {
  const [isPending, setPending] = useState(false);
  const download = async () => {
    if (isPending) return;
    setPending(true);
    try {
      if (item.kind === 'file') await downloadFile(integration, item.path);
      else await downloadItems(integration, getFolder(item.path), [item]);
    } catch (error) {
      if (onError !== undefined) onError(error);
      else notify(`${isolated(item.name)} was not downloaded. ${describeError(error).message}`);
    }
    setPending(false);
  };
  const label = isPending ? 'Reading…' : 'Download';
  return (
    <button
      type="button"
      className={isSmall ? 'button button-small' : 'button'}
      aria-label={`${label} ${item.name}`}
      aria-disabled={isPending}
      onClick={() => void download()}
    >
      {label}
    </button>
  );
}

const getFolder = (path: string) => path.slice(0, path.lastIndexOf('/'));
