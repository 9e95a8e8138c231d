import { describeError } from '../../app/errors.ts';
import { formatBytes } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Prose } from '../../ui/prose.tsx';
import { useChanges } from '../transcript/changes.ts';
import type { AttachedFile } from '../transcript/turn.ts';
import type { Attachments } from './attachments.ts';

/** The message's files, and why one was refused. */
export function AttachmentList({ attachments }: { readonly attachments: Attachments }) {
  useChanges(attachments.changes);
  const { items, problem } = attachments;
  return (
    <>
      {problem !== null && <ErrorNotice error={problem} />}
      {items.length > 0 && <Items attachments={attachments} />}
    </>
  );
}

function Items({ attachments }: { readonly attachments: Attachments }) {
  return (
    <ul className="attachments" aria-label="Attached files">
      {attachments.items.map((item) => (
        <li key={item.key}>
          <span className="attachment-name" title={item.uploaded?.path}>
            <bdi>{item.name}</bdi>
          </span>
          <UploadState item={item} />
          {item.error !== null && (
            <button
              type="button"
              className="button button-small"
              aria-label={`Try again to upload ${item.name}`}
              onClick={() => attachments.retry(item.key)}
            >
              Try again
            </button>
          )}
          <button
            type="button"
            className="button button-small button-quiet"
            aria-label={`${isUploading(item) ? 'Cancel the upload of' : 'Remove'} ${item.name}`}
            onClick={() => attachments.remove(item.key)}
          >
            {isUploading(item) ? 'Cancel' : 'Remove'}
          </button>
        </li>
      ))}
    </ul>
  );
}

const isUploading = ({ uploaded, error }: AttachedFile) => uploaded === null && error === null;

function UploadState({ item }: { readonly item: AttachedFile }) {
  if (item.error !== null) {
    return (
      <span className="attachment-error" role="alert">
        <Prose text={describeError(item.error).message} />
      </span>
    );
  }
  if (isUploading(item)) {
    return (
      <span className="attachment-progress">
        <Meter label={`${Math.round(item.progress * 100)} % of ${item.name} uploaded`} value={item.progress} max={1} />
      </span>
    );
  }
  return <span className="small muted">{item.size === null ? 'in the mount' : formatBytes(item.size)}</span>;
}
