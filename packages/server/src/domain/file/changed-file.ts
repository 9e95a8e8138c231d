import { lastSegment } from './mount-path.ts';

/** A file that a step of a run created, changed or deleted. */
export interface ChangedFile {
  /** The whole path: `/app/mnt/…`. */
  readonly path: string;
  readonly contentType: string;
  /** 0 if the file was deleted. */
  readonly size: number;
  readonly change: 'created' | 'changed' | 'deleted';
}

/** As the stream shows it, and its `messages`. */
export const streamFileJson = ({ path, contentType, size, change }: ChangedFile) => ({
  name: lastSegment(path),
  path,
  mime_type: contentType,
  size_bytes: size,
  change,
});

/** As steps show it. */
export const changedFileJson = (file: ChangedFile) => ({ name: lastSegment(file.path), ...file });

/** The files that steps changed, each path once, as the last step left it. */
export function changedFiles(steps: readonly { readonly files?: readonly ChangedFile[] }[]): readonly ChangedFile[] {
  const byPath = new Map<string, ChangedFile>();
  for (const { files = [] } of steps) {
    for (const file of files) byPath.set(file.path, combined(byPath.get(file.path), file));
  }
  return [...byPath.values()];
}

/** The change since before the first of two changes. */
function combined(earlier: ChangedFile | undefined, later: ChangedFile): ChangedFile {
  if (earlier?.change === 'created' && later.change === 'changed') return { ...later, change: 'created' };
  if (earlier?.change === 'deleted' && later.change === 'created') return { ...later, change: 'changed' };
  return later;
}
