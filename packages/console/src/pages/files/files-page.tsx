import type { File as StoredFile } from '@runwire/client';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { api } from '../../app/api.ts';
import { usePagedList } from '../../app/paged-list.ts';
import { Page } from '../../ui/page.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { DeleteFileDialog } from './delete-file-dialog.tsx';
import { DropArea } from './drop-area.tsx';
import { ROOT } from './file-path.ts';
import './files.css';
import { May } from '../../ui/may.tsx';
import { filesKey } from './files-query.ts';
import { FilesTable, isFolderGone } from './files-table.tsx';
import { PreviewDialog } from './preview-dialog.tsx';
import { UploadDialog } from './upload-dialog.tsx';
import { UploadPanel } from './upload-panel.tsx';
import { uploadQueue } from './upload-queue.ts';

const ROUTE = '/signed-in/integrations/$integration/files';

type OpenDialog =
  | { readonly kind: 'upload'; readonly files: readonly File[] }
  | { readonly kind: 'delete'; readonly file: StoredFile };

export function FilesPage() {
  const { integration } = useParams({ from: ROUTE });
  const { folder = ROOT, file } = useSearch({ from: ROUTE });
  const navigate = useNavigate({ from: '/integrations/$integration/files' });
  const client = useQueryClient();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  const list = usePagedList(filesKey(integration, folder), (signal) =>
    api().files.list({ apiIntegrationId: integration, folder, limit: 200 }, { signal }),
  );
  const drop = useCallback(
    (files: readonly File[]) => {
      // Files are never directly in the root.
      if (folder === ROOT) setDialog({ kind: 'upload', files });
      else uploadQueue.add(integration, folder, files);
    },
    [integration, folder],
  );
  const refresh = async () => {
    // A folder ends with its last file, and its list would be refused.
    if (folder !== ROOT && list.rows.length === 1 && !list.hasMore) {
      client.removeQueries({ queryKey: filesKey(integration) });
      await navigate({ search: {} });
    } else await client.invalidateQueries({ queryKey: filesKey(integration) });
  };
  const upload = (
    <May call="createAgencyUpload">
      <button type="button" className="button button-primary" onClick={() => setDialog({ kind: 'upload', files: [] })}>
        Upload files
      </button>
    </May>
  );
  const isEmpty = isFolderGone(list.error) || (!list.isLoading && list.error === null && list.rows.length === 0);
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
        <FilesTable
          integration={integration}
          folder={folder}
          list={list}
          upload={upload}
          onDelete={(chosen) => setDialog({ kind: 'delete', file: chosen })}
        />
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
        <DeleteFileDialog integration={integration} file={dialog.file} onClose={close} onDeleted={refresh} />
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
