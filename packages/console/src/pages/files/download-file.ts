import { api } from '../../app/api.ts';
import { runMutation } from '../../app/query-client.ts';
import { saveFile } from '../../lib/save-file.ts';
import { getName } from './file-path.ts';

/** Reads the file with the token, so no link to it exists, and saves it. A file has at most 20 MiB. */
export async function downloadFile(integration: string, path: string): Promise<void> {
  const bytes = await runMutation(async () => {
    const answer = await api().files.content({ apiIntegrationId: integration, path });
    return answer.arrayBuffer();
  });
  // Whatever the file has, the browser saves it: it has no type that could be shown.
  saveFile(new Blob([bytes], { type: 'application/octet-stream' }), getName(path));
}
