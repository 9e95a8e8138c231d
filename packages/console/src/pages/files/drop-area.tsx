import { useEffect, useState } from 'react';
import { notify } from '../../ui/toasts.tsx';

interface DropAreaProps {
  /** The folder into which the files would be uploaded. Null if the person is asked for it. */
  readonly folder: string | null;
  readonly onDrop: (files: readonly File[]) => void;
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/** Folders have no bytes, and browsers do not tell so in the list of files. */
function filesOf({ dataTransfer }: DragEvent): readonly File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  const plain = items.filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  if (plain.length < items.length) notify('A folder cannot be dropped. Drop the files in it.');
  return plain.flatMap((item) => item.getAsFile() ?? []);
}

/** Takes files that are dropped anywhere onto the page. */
export function DropArea({ folder, onDrop }: DropAreaProps) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const listeners = new AbortController();
    const { signal } = listeners;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    document.addEventListener('dragenter', over, { signal });
    document.addEventListener('dragover', over, { signal });
    document.addEventListener(
      'dragleave',
      (event) => {
        if (event.relatedTarget === null) setOver(false);
      },
      { signal },
    );
    document.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        const files = filesOf(event);
        if (files.length > 0) onDrop(files);
      },
      { signal },
    );
    return () => listeners.abort();
  }, [onDrop]);
  if (!isOver) return null;
  return (
    <div className="drop-area">
      <p>
        Drop the files to upload them{folder !== null && ' to '}
        {folder !== null && <bdi>{folder}</bdi>}
      </p>
    </div>
  );
}
