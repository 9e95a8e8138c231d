import { api } from '../../app/api.ts';
import { runMutation } from '../../app/query-client.ts';
import { nameOf } from './file-path.ts';

/** The browser reads the bytes of the link after the click. */
const KEEP_MS = 60_000;

/** Reads the file with the token, so no link to it exists, and saves it. A file has at most 20 MiB. */
export async function downloadFile(integration: string, path: string): Promise<void> {
  const bytes = await runMutation(async () => {
    const answer = await api().files.content({ apiIntegrationId: integration, path });
    return answer.arrayBuffer();
  });
  // Whatever the file has, the browser saves it: it has no type that could be shown.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = nameOf(path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}
