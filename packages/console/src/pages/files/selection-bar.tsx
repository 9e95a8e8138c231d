import type { File as StoredFile } from '@runwire/client';
import { useState } from 'react';
import { describeError } from '../../app/errors.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { notify } from '../../ui/toasts.tsx';
import { downloadFile } from './download-file.ts';
import { downloadItems } from './download-items.ts';

interface SelectionBarProps {
  readonly integration: string;
  readonly folder: string;
  readonly items: readonly StoredFile[];
  readonly onDelete: () => void;
  readonly onClear: () => void;
}

/** What can be done with the chosen items. */
export function SelectionBar({ integration, folder, items, onDelete, onClear }: SelectionBarProps) {
  const [progress, setProgress] = useState<string | null>(null);
  const bytes = items.reduce((sum, { size }) => sum + (size ?? 0), 0);
  const download = async () => {
    if (progress !== null) return;
    setProgress('Reading…');
    try {
      const [first] = items;
      if (items.length === 1 && first?.kind === 'file') await downloadFile(integration, first.path);
      else
        await downloadItems(integration, folder, items, (read, all) =>
          setProgress(`Reading ${read + 1} of ${formatCount(all, 'file')}…`),
        );
    } catch (error) {
      notify(`The files were not downloaded. ${describeError(error).message}`);
    }
    setProgress(null);
  };
  return (
    <section className="selection-bar row" aria-label="Chosen items">
      <span role="status">
        {formatCount(items.length, 'item')} chosen{bytes > 0 && `, ${formatBytes(bytes)}`}
      </span>
      <button
        type="button"
        className="button button-small"
        aria-disabled={progress !== null}
        onClick={() => void download()}
      >
        {progress ?? 'Download chosen'}
      </button>
      <button type="button" className="button button-small" onClick={onDelete}>
        Delete chosen
      </button>
      <button type="button" className="button button-small button-quiet" onClick={onClear}>
        Choose none
      </button>
    </section>
  );
}
