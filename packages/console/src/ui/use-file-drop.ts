import { useEffect, useRef, useState } from 'react';
import { notify } from './toasts.tsx';

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/** Folders have no bytes, and browsers do not tell so in the list of files. */
function listFiles({ dataTransfer }: DragEvent): readonly File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  const plain = items.filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  if (plain.length < items.length) notify('A folder cannot be dropped. Drop the files in it.');
  return plain.flatMap((item) => item.getAsFile() ?? []);
}

/** Takes files that are dropped anywhere on the page. Returns true while files are dragged over it. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  useEffect(() => {
    take.current = onFiles;
  });
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Without this the browser opens the file.
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      const files = listFiles(event);
      if (files.length > 0) take.current(files);
    };
    const leave = new AbortController();
    const { signal } = leave;
    window.addEventListener('dragenter', onDragOver, { signal });
    window.addEventListener('dragover', onDragOver, { signal });
    window.addEventListener('dragleave', onDragLeave, { signal });
    window.addEventListener('drop', onDrop, { signal });
    return () => leave.abort();
  }, []);
  return isOver;
}
