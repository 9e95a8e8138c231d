import type { Attachment, SandboxFile } from '@runwire/client';
import { shorten } from '../../lib/shorten.ts';
import { FileLink } from '../runs/file-link.tsx';

interface MessageFilesProps {
  readonly integration: string;
  readonly message: { readonly attachments: readonly Attachment[]; readonly files: readonly SandboxFile[] };
}

/** The attachments and files of a message, as links. Nothing is fetched by itself. */
export function MessageFiles({ integration, message: { attachments, files } }: MessageFilesProps) {
  if (attachments.length + files.length === 0) return null;
  return (
    <ul className="plain-list small" aria-label="Files">
      {attachments.map((attachment, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the attachments of a message never change.
        <li key={index}>
          <AttachmentText attachment={attachment} />
        </li>
      ))}
      {files.map(({ path }) => (
        <li key={path} title={path}>
          File <FileLink integration={integration} path={path} />
        </li>
      ))}
    </ul>
  );
}

function AttachmentText({ attachment }: { readonly attachment: Attachment }) {
  const url = attachment.type === 'input_file' ? attachment.file_url : attachment.image_url;
  const kind = attachment.type === 'input_file' ? 'Attached file' : 'Attached image';
  const name = (attachment.type === 'input_file' ? attachment.filename : undefined) ?? url;
  if (!url.startsWith('https://')) {
    return (
      <>
        {kind}: <bdi>{shorten(name)}</bdi>
      </>
    );
  }
  return (
    <>
      {kind}:{' '}
      <a href={url} target="_blank" rel="noopener noreferrer">
        <bdi>{shorten(name)}</bdi>
      </a>
    </>
  );
}
