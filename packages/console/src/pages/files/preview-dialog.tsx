import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../app/api.ts';
import { formatBytes } from '../../lib/format.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';
import { Nothing } from '../../ui/nothing.tsx';
import { Time } from '../../ui/time.tsx';
import { DownloadButton } from './download-button.tsx';
import { getName } from './file-path.ts';
import { filesKey } from './files-query.ts';
import { PreviewContent } from './preview-content.tsx';
import { readPreview } from './read-preview.ts';

interface PreviewDialogProps {
  readonly integration: string;
  readonly path: string;
  readonly onClose: () => void;
}

export function PreviewDialog({ integration, path, onClose }: PreviewDialogProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ['file-preview', integration, path],
    queryFn: async ({ signal }) => {
      const answer = await api().files.content({ apiIntegrationId: integration, path }, { signal });
      const { headers } = answer;
      // A proxy that compresses sends another length.
      const length = headers.get('content-encoding') === null ? headers.get('content-length') : null;
      return { modifiedAt: headers.get('last-modified'), length, preview: await readPreview(answer) };
    },
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // A preview may be large.
    gcTime: 0,
  });
  const client = useQueryClient();
  useEffect(() => {
    // The list may name a file that was deleted.
    if (error !== null) void client.invalidateQueries({ queryKey: filesKey(integration) });
  }, [client, error, integration]);
  const [downloadError, setDownloadError] = useState<unknown>(null);
  const name = getName(path);
  return (
    <Dialog title={name} isWide onClose={onClose}>
      <div className="stack preview">
        <dl className="definition">
          <dt>Path</dt>
          <dd className="row">
            <code className="preview-path">{path}</code>
            <CopyButton text={path} label="Copy the path" />
          </dd>
          <dt>Size</dt>
          <dd>{data?.length == null ? <Nothing /> : formatBytes(Number(data.length))}</dd>
          <dt>Changed</dt>
          <dd>{data?.modifiedAt == null ? <Nothing /> : <Time time={data.modifiedAt} />}</dd>
        </dl>
        {error !== null ? (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Loading what="the file" />
        ) : (
          <PreviewContent name={name} preview={data.preview} />
        )}
        {downloadError !== null && <ErrorNotice error={downloadError} />}
        <div className="row row-end">
          {error === null && (
            <DownloadButton integration={integration} item={{ name, path, kind: 'file' }} onError={setDownloadError} />
          )}
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </Dialog>
  );
}
