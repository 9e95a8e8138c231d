import type { Audit } from '../audit/audit.ts';
import { checkFolderPath } from '../domain/file/mount-path.ts';
import type { IntegrationId } from '../domain/ids.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Files } from './files.ts';
import { requestedFile } from './requested-path.ts';

/** Deletes a file, or a folder with everything in it if the caller asks for that. */
export async function deletePath(
  files: Pick<Files, 'delete' | 'deleteFolder' | 'list'>,
  integrationId: IntegrationId,
  { path, recursive = false }: { readonly path: string; readonly recursive?: boolean },
  audit: Audit,
): Promise<void> {
  const below = requestedFile('path', path);
  const mayBeFolder = 'below' in checkFolderPath(path);
  if (await files.delete(integrationId, below, audit)) return;
  if (mayBeFolder && recursive && (await files.deleteFolder(integrationId, below, audit)) > 0) return;
  if (mayBeFolder && !recursive && (await files.list(integrationId, below, { after: null, limit: 1 })) !== null) {
    throw new Refusal(
      'invalid_request',
      '`path` is a folder; send `recursive=true` to delete it with everything in it.',
    );
  }
  throw new Refusal('file_not_found');
}
