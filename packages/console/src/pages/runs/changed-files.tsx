import type { ChangedFile } from '@runwire/client';
import { formatBytes } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';
import { FileLink } from './file-link.tsx';

interface ChangedFilesProps {
  readonly integration: string;
  readonly files: readonly ChangedFile[];
}

/** The files that steps created, changed or deleted. */
export function ChangedFiles({ integration, files }: ChangedFilesProps) {
  return (
    <ul className="plain-list">
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a run can change the same file several times, and the list only grows.
        <li key={index}>
          {file.change === 'deleted' ? (
            <bdi>{shorten(file.path)}</bdi>
          ) : (
            <FileLink integration={integration} path={file.path} />
          )}{' '}
          <span className="small muted">
            {file.change}
            {file.change !== 'deleted' && `, ${formatBytes(file.size)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
