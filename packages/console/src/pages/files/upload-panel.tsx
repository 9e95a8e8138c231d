import { describeError } from '../../app/errors.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { Badge } from '../../ui/feedback.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Prose } from '../../ui/prose.tsx';
import { type Upload, uploadQueue, useUploads } from './upload-queue.ts';

/** Further uploads are only counted. */
const MAX_SHOWN = 20;

/** The uploads of the integration that are not finished. */
export function UploadPanel({ integration }: { readonly integration: string }) {
  const uploads = useUploads().filter((upload) => upload.integration === integration);
  const hidden = uploads.length - MAX_SHOWN;
  const failed = uploads.filter(({ state }) => state === 'failed').length;
  const left = uploads.length - failed;
  return (
    <>
      <p className="visually-hidden" role="status">
        {left > 0 && `Uploading ${formatCount(left, 'file')}.`}
        {failed > 0 && ` ${formatCount(failed, 'upload')} failed.`}
      </p>
      {uploads.length > 0 && (
        <section className="card stack upload-panel" aria-labelledby="uploads">
          <h2 id="uploads">Uploads</h2>
          <ul className="uploads">
            {uploads.slice(0, MAX_SHOWN).map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
          </ul>
          {hidden > 0 && <p className="muted">{formatCount(hidden, 'further file')} in the queue.</p>}
        </section>
      )}
    </>
  );
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, file, folder, state, loadedBytes, error } = upload;
  const progress = `${formatBytes(loadedBytes)} of ${formatBytes(file.size)}`;
  return (
    <li className="stack-tight">
      <div className="spread">
        <bdi className="upload-name" title={`${folder}/${file.name}`}>
          {file.name}
        </bdi>
        <div className="row">
          <span className="muted small number">{state === 'active' ? progress : formatBytes(file.size)}</span>
          {state === 'failed' && <Badge tone="bad">failed</Badge>}
          {state === 'waiting' && <Badge>waiting</Badge>}
          {state === 'failed' && (
            <button
              type="button"
              className="button button-small"
              aria-label={`Try again to upload ${file.name}`}
              onClick={() => uploadQueue.tryAgain(id)}
            >
              Try again
            </button>
          )}
          <button
            type="button"
            className="button button-small"
            aria-label={state === 'failed' ? `Dismiss ${file.name}` : `Cancel the upload of ${file.name}`}
            onClick={() => uploadQueue.remove(id)}
          >
            {state === 'failed' ? 'Dismiss' : 'Cancel'}
          </button>
        </div>
      </div>
      {state === 'failed' ? (
        <UploadFailure error={error} />
      ) : (
        <Meter label={`${file.name}: ${progress}`} value={loadedBytes} max={file.size} />
      )}
    </li>
  );
}

function UploadFailure({ error }: { readonly error: unknown }) {
  const { message, advice, code } = describeError(error);
  return (
    <p className="upload-error small">
      <bdi>
        <Prose text={message} />
      </bdi>{' '}
      {advice} {code !== null && <code>{code}</code>}
    </p>
  );
}
