import type { ToolAttachment } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../app/api.ts';
import { formatBytes } from '../../lib/format.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Loading } from '../../ui/feedback.tsx';

/** What is no longer in view takes memory, so it is forgotten soon. */
const KEEP_MS = 10_000;

interface ToolImagesProps {
  readonly integration: string;
  readonly runId: string;
  readonly attachments: readonly ToolAttachment[];
}

/** The images that a call returned. */
export function ToolImages({ integration, runId, attachments }: ToolImagesProps) {
  if (attachments.length === 0) return null;
  return (
    <ul className="plain-list tool-images" aria-label="Images">
      {attachments.map((attachment, index) => (
        <li key={attachment.attachmentId}>
          <ToolImage integration={integration} runId={runId} attachment={attachment} number={index + 1} />
        </li>
      ))}
    </ul>
  );
}

interface ToolImageProps extends Omit<ToolImagesProps, 'attachments'> {
  readonly attachment: ToolAttachment;
  readonly number: number;
}

function ToolImage({ integration: apiIntegrationId, runId, attachment, number }: ToolImageProps) {
  const { attachmentId, mediaType, size } = attachment;
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', apiIntegrationId, runId, 'attachment', attachmentId],
    queryFn: async ({ signal }) =>
      (await api().runs.attachment({ apiIntegrationId, runId, attachmentId }, { signal })).blob(),
    staleTime: 'static',
    gcTime: KEEP_MS,
    structuralSharing: false,
  });
  const url = useObjectUrl(data, mediaType);
  const about = `Image ${number}, ${mediaType}, ${formatBytes(size)}`;
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (url === null) return <Loading what={about} />;
  return <img src={url} alt={about} title={about} />;
}

/** The URL is valid while the component is shown. The browser shows the bytes only as an image of this type. */
function useObjectUrl(data: Blob | undefined, mediaType: string): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (data === undefined) return;
    const made = URL.createObjectURL(new Blob([data], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mediaType]);
  return url;
}
