import { useMutation } from '@tanstack/react-query';
import { api } from '../../app/api.ts';
import { describeError } from '../../app/errors.ts';
import { notify } from '../../ui/toasts.tsx';
import { nameOf } from './file-path.ts';

interface DownloadButtonProps {
  readonly integration: string;
  readonly path: string;
  readonly isSmall?: boolean;
}

/** Reads the file with the token, so no link to it exists, and saves it. A file has at most 20 MiB. */
async function download(integration: string, path: string): Promise<void> {
  const answer = await api().files.content({ apiIntegrationId: integration, path });
  const bytes = await answer.arrayBuffer();
  // Whatever the file has, the browser saves it: it has no type that could be shown.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = nameOf(path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function DownloadButton({ integration, path, isSmall = false }: DownloadButtonProps) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => download(integration, path),
    onError: (error) => notify(`${nameOf(path)} was not downloaded. ${describeError(error).message}`),
  });
  const label = isPending ? 'Reading…' : 'Download';
  return (
    <button
      type="button"
      className={isSmall ? 'button button-small' : 'button'}
      aria-label={`${label} ${nameOf(path)}`}
      aria-disabled={isPending}
      onClick={() => {
        if (!isPending) mutate();
      }}
    >
      {label}
    </button>
  );
}
