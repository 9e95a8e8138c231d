import type { File as StoredFile } from '@runwire/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { PagedList } from '../../app/paged-list.ts';
import { formatBytes } from '../../lib/format.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { isFolderGone } from './all-items.ts';
import { FileActions } from './file-actions.tsx';
import { FileIcon } from './file-icon.tsx';
import { ROOT } from './file-path.ts';

interface FilesTableProps {
  readonly integration: string;
  readonly folder: string;
  readonly list: PagedList<StoredFile>;
  /** True if the list has the results of a search, also from folders in this one. */
  readonly isSearch: boolean;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (item: StoredFile, isChosen: boolean) => void;
  /** The button that uploads, for an empty folder. */
  readonly upload: ReactNode;
  readonly onDelete: (file: StoredFile) => void;
  readonly onRename: (file: StoredFile) => void;
}

export function FilesTable(props: FilesTableProps) {
  const { integration, folder, list, isSearch, chosen, onChoose, upload, onDelete, onRename } = props;
  const columns: readonly Column<StoredFile>[] = [
    {
      title: 'Choose',
      share: 0.7,
      isTitleHidden: true,
      cell: (item) => (
        <input
          type="checkbox"
          className="file-choice"
          aria-label={`Choose ${item.name}`}
          checked={chosen.has(item.path)}
          onChange={({ target }) => onChoose(item, target.checked)}
        />
      ),
    },
    {
      title: 'Name',
      share: 4,
      cell: ({ name, path, kind }) => (
        <Link
          className="file-name"
          to="/integrations/$integration/files"
          params={{ integration }}
          search={kind === 'folder' ? { folder: path } : (search) => ({ ...search, file: path })}
          resetScroll={kind === 'folder'}
          preload={false}
          title={isSearch ? path : name}
        >
          <FileIcon kind={kind} />
          <bdi className="ellipsis">{isSearch ? path.slice(folder.length + 1) : name}</bdi>
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
      cell: (item) => <FileActions integration={integration} item={item} onDelete={onDelete} onRename={onRename} />,
    },
  ];
  const empty = isSearch ? (
    <EmptyState title="No file has this text in its name">
      <p>The search looks at this folder and all folders in it. Change the text, or begin in another folder.</p>
    </EmptyState>
  ) : folder === ROOT ? (
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
