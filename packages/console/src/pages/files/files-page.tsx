import type { File as StoredFile } from '@runwire/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList, wholeList } from '../../app/paged-list.ts';
import { changedSearch } from '../../app/search.ts';
import { FilterField } from '../../ui/filter-field.tsx';
import { SelectField } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { chooseItems, type FileSort, folderItemsQuery, isFolderGone, SORTS } from './all-items.ts';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { DeleteChosenDialog } from './delete-chosen-dialog.tsx';
import { DeleteFileDialog } from './delete-file-dialog.tsx';
import { DropArea } from './drop-area.tsx';
import { ROOT } from './file-path.ts';
import './files.css';
import { May } from '../../ui/may.tsx';
import { filesKey } from './files-query.ts';
import { FilesTable } from './files-table.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { UploadDialog } from './upload-dialog.tsx';
import { UploadPanel } from './upload-panel.tsx';
import { uploadQueue } from './upload-queue.ts';

const ROUTE = '/signed-in/integrations/$integration/files';

type OpenDialog =
  | { readonly kind: 'upload'; readonly files: readonly File[] }
  | { readonly kind: 'delete' | 'rename'; readonly file: StoredFile }
  | { readonly kind: 'delete-chosen' };

const CHOICES = Object.entries(SORTS).map(([value, label]) => ({ value, label }));
const NONE: ReadonlyMap<string, StoredFile> = new Map();

export function FilesPage() {
  const { integration } = useParams({ from: ROUTE });
  const { folder = ROOT, file, q = '', sort = 'name' } = useSearch({ from: ROUTE });
  // The choice belongs to one folder.
  return <Folder key={`${integration} ${folder}`} {...{ integration, folder, file, q, sort: toSort(sort) }} />;
}

const toSort = (sort: string): FileSort => (sort in SORTS ? (sort as FileSort) : 'name');

interface FolderProps {
  readonly integration: string;
  readonly folder: string;
  /** The file that is shown. */
  readonly file: string | undefined;
  /** A part of the names that are looked for. */
  readonly q: string;
  readonly sort: FileSort;
}

function Folder({ integration, folder, file, q, sort }: FolderProps) {
  const navigate = useNavigate({ from: '/integrations/$integration/files' });
  const client = useQueryClient();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const [chosen, setChosen] = useState(NONE);
  const close = () => setDialog(null);
  const isSearch = q !== '';
  const isWhole = isSearch || sort !== 'name';
  const paged = usePagedList(filesKey(integration, folder), (signal) =>
    api().files.list({ apiIntegrationId: integration, folder, limit: 200 }, { signal }),
  );
  const whole = useQuery({ ...folderItemsQuery(integration, folder, isSearch), enabled: isWhole });
  const items = wholeList({ ...whole, data: whole.data && chooseItems(whole.data.items, q, sort) });
  const list = isWhole ? items : paged;
  const drop = useCallback(
    (files: readonly File[]) => {
      // Files are never directly in the root.
      if (folder === ROOT) setDialog({ kind: 'upload', files });
      else uploadQueue.add(integration, folder, files);
    },
    [integration, folder],
  );
  const refresh = async (deleted = 0) => {
    setChosen(NONE);
    // A folder ends with its last file, and its list would be refused.
    if (folder !== ROOT && !isSearch && list.rows.length === deleted && !list.hasMore) {
      client.removeQueries({ queryKey: filesKey(integration) });
      await navigate({ search: {} });
    } else await client.invalidateQueries({ queryKey: filesKey(integration) });
  };
  const choose = (item: StoredFile, isChosen: boolean) =>
    setChosen((before) => {
      const after = new Map(before);
      if (isChosen) after.set(item.path, item);
      else after.delete(item.path);
      return after;
    });
  const change = (changed: { readonly q?: string; readonly sort?: string }) =>
    void navigate({ search: changedSearch(changed), replace: true, resetScroll: false });
  const upload = (
    <May call="createAgencyUpload">
      <button type="button" className="button button-primary" onClick={() => setDialog({ kind: 'upload', files: [] })}>
        Upload files
      </button>
    </May>
  );
  const isEmpty = isFolderGone(paged.error) || (!paged.isLoading && paged.error === null && paged.rows.length === 0);
  return (
    <Page
      title="Files"
      place={folder}
      lead={
        <>
          Agents see these files below <code>{ROOT}/</code>. Drop files onto this page to upload them.
        </>
      }
      {...(isEmpty ? {} : { actions: upload })}
    >
      <div className="stack">
        <Breadcrumbs integration={integration} folder={folder} />
        <UploadPanel integration={integration} />
        {!isEmpty && (
          <search className="filters">
            <FilterField
              label="Search"
              name="q"
              placeholder="A part of the name"
              value={q}
              onChange={(text) => change({ q: text })}
            />
            <SelectField
              label="Sort by"
              name="sort"
              choices={CHOICES}
              value={sort}
              onChange={(by) => change({ sort: by === 'name' ? '' : by })}
            />
          </search>
        )}
        {chosen.size > 0 && (
          <SelectionBar
            integration={integration}
            folder={folder}
            items={[...chosen.values()]}
            onDelete={() => setDialog({ kind: 'delete-chosen' })}
            onClear={() => setChosen(NONE)}
          />
        )}
        <FilesTable
          integration={integration}
          folder={folder}
          list={list}
          isSearch={isSearch}
          chosen={new Set(chosen.keys())}
          onChoose={choose}
          upload={upload}
          onDelete={(item) => setDialog({ kind: 'delete', file: item })}
          onRename={(item) => setDialog({ kind: 'rename', file: item })}
        />
        {isWhole && whole.data?.isCut && (
          <p className="small muted">Only the first {whole.data.items.length} items were read.</p>
        )}
      </div>
      <DropArea folder={folder === ROOT ? null : folder} onDrop={drop} />
      {dialog?.kind === 'upload' && (
        <UploadDialog
          folder={folder}
          files={dialog.files}
          onClose={close}
          onChosen={(target, files) => {
            uploadQueue.add(integration, target, files);
            close();
          }}
        />
      )}
      {dialog?.kind === 'delete' && (
        <DeleteFileDialog integration={integration} file={dialog.file} onClose={close} onDeleted={() => refresh(1)} />
      )}
      {dialog?.kind === 'delete-chosen' && (
        <DeleteChosenDialog
          integration={integration}
          items={[...chosen.values()]}
          onClose={close}
          onDeleted={() => refresh(chosen.size)}
        />
      )}
      {dialog?.kind === 'rename' && (
        <RenameDialog integration={integration} file={dialog.file} onClose={close} onRenamed={() => refresh()} />
      )}
      {file !== undefined && (
        <PreviewDialog
          key={file}
          integration={integration}
          path={file}
          onClose={() => void navigate({ search: ({ file: _, ...rest }) => rest, resetScroll: false })}
        />
      )}
    </Page>
  );
}
