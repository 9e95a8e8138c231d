import { memberFolderAt } from '../domain/file/file-access.ts';
import { type MountPath, wholePath } from '../domain/file/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import type { IntegrationRow } from '../store/queries/accounts.ts';
import { jsonPaths } from '../store/queries/file-batches.ts';
import { mountPath } from '../store/queries/files.ts';
import { countFolders, forgetFolders, fullFolders, trustFolders } from '../store/queries/folder-bytes.ts';
import { usedBytes } from '../store/queries/upload-forms.ts';
import { first, type Tx } from '../store/store.ts';
import { OPEN_FORM_MS } from './change-files.ts';

/** The quotas of integrations that have no quota of their own; 0 is no quota. */
export interface FileQuotas {
  readonly mountBytes: number;
  /** For the files below one member's folder. */
  readonly memberBytes: number;
}

/** `folder` is null for the integration's quota, and otherwise the member's folder. */
interface FullQuota {
  readonly folder: MountPath | null;
  readonly quotaBytes: number;
  readonly usedBytes: number;
  readonly foreseenBytes: number;
}

/** Files or forms grew beyond a quota. */
export class QuotaExceeded extends Refusal {
  readonly full: FullQuota;

  constructor(full: FullQuota) {
    const { folder, quotaBytes, usedBytes: used, foreseenBytes } = full;
    const could = `With this file and the open upload forms they could use ${foreseenBytes}, and`;
    const free = 'or wait until unused forms have expired';
    super(
      'mount_quota_exceeded',
      folder === null
        ? `The files of this integration use ${used} bytes. ${could} its quota is ${quotaBytes}; delete files, ${free}.`
        : `The files of this member, below ${wholePath(folder)}, use ${used} bytes. ${could} the quota of a member is ` +
            `${quotaBytes}; delete files there, ${free}.`,
      { usedBytes: used, foreseenBytes, quotaBytes },
    );
    this.full = full;
  }
}

/**
 * Throws `QuotaExceeded` if the files and the open forms exceed a quota, with what this transaction added. `grown`: the paths
 * that have more bytes than before.
 */
export async function checkQuotas(
  tx: Tx,
  quotas: FileQuotas,
  integration: IntegrationRow,
  grown: readonly MountPath[],
  now: number,
): Promise<void> {
  const since = now - OPEN_FORM_MS;
  await checkMount(tx, integration, integration.quota_bytes ?? quotas.mountBytes, since);
  const memberQuota = integration.member_quota_bytes ?? quotas.memberBytes;
  if (memberQuota === 0) return;
  const folders = new Set<MountPath>();
  for (const path of grown) {
    const folder = memberFolderAt(integration.member_folder, path);
    if (folder !== null) folders.add(folder);
  }
  if (folders.size > 0) await checkMembers(tx, integration, { folders: jsonPaths(folders), since }, memberQuota);
}

async function checkMount(
  tx: Tx,
  { integration_id: integrationId }: IntegrationRow,
  quotaBytes: number,
  since: number,
): Promise<void> {
  if (quotaBytes === 0) return;
  const used = await first(tx.all(usedBytes, { integrationId, since, quotaBytes }));
  if (used === undefined) throw new Refusal('integration_not_found');
  const foreseenBytes = used.files + used.promised;
  if (foreseenBytes <= quotaBytes) return;
  throw new QuotaExceeded({ folder: null, quotaBytes, usedBytes: used.files, foreseenBytes });
}

async function checkMembers(
  tx: Tx,
  { integration_id: integrationId, file_bytes: fileBytes, counted_bytes: countedBytes }: IntegrationRow,
  given: { readonly folders: string; readonly since: number },
  quotaBytes: number,
): Promise<void> {
  // The row is that of the lock. What this transaction added, it added to both.
  if (fileBytes !== countedBytes) {
    await tx.run(forgetFolders, { integrationId });
    await tx.run(trustFolders, { integrationId });
  }
  await tx.run(countFolders, { integrationId, folders: given.folders });
  const full = await first(tx.all(fullFolders, { integrationId, ...given, quotaBytes }));
  if (full === undefined) return;
  const { folder, files, promised } = full;
  throw new QuotaExceeded({
    folder: mountPath(folder),
    quotaBytes,
    usedBytes: files,
    foreseenBytes: files + promised,
  });
}
