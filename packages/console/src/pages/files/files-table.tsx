import { RunwireError, type File as StoredFile } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PagedList } from '../../app/paged-list.ts';
import { formatBytes } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { May } from '../../ui/may.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { DownloadButton } from './download-button.tsx';
import { FileIcon } from './file-icon.tsx';
import { ROOT } from './file-path.ts';

interface FilesTableProps {
  readonly integration: string;
  readonly folder: string;
  readonly list: PagedList<StoredFile>;
  /** The button that uploads, for an empty folder. */
  readonly upload: ReactNode;
  readonly onDelete: (file: StoredFile) => void;
}

/** True if the folder has no file any more. */
export const isFolderGone = (error: Error | null): boolean =>
  error instanceof RunwireError && error.code === 'file_not_found';

export function FilesTable({ integration, folder, list, upload, onDelete }: FilesTableProps) {
  const columns: readonly Column<StoredFile>[] = [
    {
      title: 'Name',
      share: 4,
      cell: ({ name, path, kind }) => (
        <Link
          className="file-name"
          to="/integrations/$integration/files"
          params={{ integration }}
          search={kind === 'folder' ? { folder: path } : { folder, file: path }}
          resetScroll={kind === 'folder'}
          preload={false}
          title={name}
        >
          <FileIcon kind={kind} />
          <bdi className="ellipsis">{name}</bdi>
        </Link>
      ),
    },
    {
      title: 'Size',
      share: 1.4,
      isNumber: true,
      // A narrow screen has room for the actions, and the preview shows the size.
      isMinor: true,
      cell: ({ size }) => (size === null ? <Nothing /> : formatBytes(size)),
    },
    { title: 'Type', share: 2.4, isMinor: true, cell: ({ kind, contentType }) => contentType ?? kind },
    {
      title: 'Changed',
      share: 1.6,
      isMinor: true,
      cell: ({ modifiedAt }) => (modifiedAt === null ? <Nothing /> : <Time time={modifiedAt} age />),
    },
    {
      title: 'Actions',
      // Wide enough for two buttons on a phone.
      share: 4,
      isNumber: true,
      cell: (file) => (
        <div className="file-actions">
          {file.kind === 'file' && <DownloadButton integration={integration} path={file.path} isSmall />}
          <May call="deleteFile">
            <button
              type="button"
              className="button button-small"
              aria-label={`Delete ${file.name}`}
              onClick={() => onDelete(file)}
            >
              Delete
            </button>
          </May>
        </div>
      ),
    },
  ];
  const empty =
    folder === ROOT ? (
      <EmptyState title="No files yet">
        <p>Upload files that your agents can read, for example a handbook. Agents store their own files here too.</p>
        {upload}
      </EmptyState>
    ) : (
      <EmptyState title="This folder has no files">
        <p>A folder exists as long as it has a file. Upload one, or open another folder.</p>
        {upload}
      </EmptyState>
    );
  if (isFolderGone(list.error)) return empty;
  return <DataTable what="items" list={list} columns={columns} rowKey={({ path }) => path} empty={empty} />;
}
