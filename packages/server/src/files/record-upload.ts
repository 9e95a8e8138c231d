import { type MountPath, wholePath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { storedPath } from '../store/queries/files.ts';
import type { Tx } from '../store/store.ts';
import type { EventOutbox } from '../webhooks/event-outbox.ts';

interface UploadedFile {
  readonly path: MountPath;
  readonly size: number;
  readonly contentType: string;
}

/** Records `upload.completed` in the transaction that publishes the file. */
export async function recordUpload(
  tx: Tx,
  outbox: EventOutbox,
  integrationId: IntegrationId,
  { path, size, contentType }: UploadedFile,
): Promise<void> {
  if (!outbox.mayWant(integrationId)) return;
  const data = { path: wholePath(path), size, contentType };
  await outbox.record(tx, integrationId, ['upload.completed'], () => [
    { type: 'upload.completed', path: storedPath(path), data },
  ]);
}
