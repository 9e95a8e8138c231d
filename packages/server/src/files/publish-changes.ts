import { isBelow } from '../domain/file/file-access.ts';
import { type MountPath, wholePath } from '../domain/file/mount-path.ts';
import type { StagedChange } from '../domain/file/staged-change.ts';
import type { ChatKey, IntegrationId } from '../domain/ids.ts';
import { MAX_UNREFERRED_MS } from '../storage/blob-store.ts';
import type { IntegrationRow } from '../store/queries/accounts.ts';
import { announcedAt, jsonPaths } from '../store/queries/file-batches.ts';
import { type FileRow, mountPath, type SeenFiles } from '../store/queries/files.ts';
import type { Tx } from '../store/store.ts';
import { type FileChange, pathsTakenByFiles, pathsTakenByForms, readFiles, writeChanges } from './change-files.ts';
import { checkQuotas, type FileQuotas, QuotaExceeded } from './quotas.ts';

export interface RunChanges {
  readonly chatKey: ChatKey;
  /** The files that the run sees. */
  readonly seen: SeenFiles;
  readonly changes: readonly StagedChange[];
  readonly writtenAt: number;
  readonly quotas: FileQuotas;
}

/** A run's changes cannot become visible. The message is a text for the model. */
export class NotPublished extends Error {
  override readonly name = 'NotPublished';
}

export const TOO_LATE = 'No file was changed: the server was stopped for too long. Try it again.';

const SHOWN_PATHS = 50;
const CONFLICT =
  'Another writer changed these files after the command had its copy. Read them again, then repeat the change.';

function listed(paths: readonly MountPath[]): string {
  const lines = paths.slice(0, SHOWN_PATHS).map((path) => `\n- ${wholePath(path)}`);
  return paths.length > SHOWN_PATHS ? `${lines.join('')}\n- and ${paths.length - SHOWN_PATHS} more` : lines.join('');
}

/**
 * Makes a run's file changes, in its step's transaction, which has locked the integration's files. Throws
 * `NotPublished` if another writer changed one of the files since the run read it, if a path is taken, or if a quota is
 * exceeded. The number of statements does not depend on the number of files.
 */
export async function publishChanges(tx: Tx, integration: IntegrationRow, given: RunChanges): Promise<void> {
  const { chatKey, changes: staged, writtenAt, quotas } = given;
  const now = Date.now();
  if (now - writtenAt > MAX_UNREFERRED_MS) {
    throw new NotPublished(TOO_LATE);
  }
  const { integration_id: integrationId } = integration;
  const old = await readFiles(
    tx,
    integrationId,
    staged.map(({ path }) => path),
  );
  await checkEtags(tx, given, old);
  const changes = staged.map(({ path, put, contentType, stagedEtag }): FileChange => {
    if (put === null) return { kind: 'delete', path };
    // A file that existed keeps the chat that made it.
    const madeBy = stagedEtag === null ? chatKey : null;
    return { kind: 'put', path, ...put, contentType, modifiedAt: now, signedAt: null, chatKey: madeBy };
  });
  await writeChanges(tx, integration, { changes, old, now }, (paths) => checkNames(tx, integrationId, paths, now));
  // Deleted files do not count: their open forms can still be sent.
  const grown = staged.flatMap(({ path, put }) => ((put?.size ?? 0) > (old.get(path)?.size_bytes ?? 0) ? [path] : []));
  if (grown.length === 0) return;
  try {
    await checkQuotas(tx, quotas, integration, grown, now);
  } catch (error) {
    if (error instanceof QuotaExceeded) throw beyondQuota(error);
    throw error;
  }
}

function beyondQuota({ full: { folder, quotaBytes } }: QuotaExceeded): NotPublished {
  const which = folder === null ? 'the files' : `the files below ${wholePath(folder)}`;
  const whose = folder === null ? 'their quota' : "their member's quota";
  return new NotPublished(
    `No file was changed: with these changes ${which} would exceed ${whose} of ${quotaBytes} bytes. ` +
      'Delete files first, or write less.',
  );
}

/** Checks that each file is still the version that the run began with. */
async function checkEtags(
  tx: Tx,
  { seen, changes }: RunChanges,
  current: ReadonlyMap<MountPath, FileRow>,
): Promise<void> {
  const changed = changes.filter(({ path, stagedEtag }) => (current.get(path)?.etag ?? null) !== stagedEtag);
  if (changed.length === 0) return;
  // Another writer made these files: a file that the run does not see is only named as a path that is taken.
  const made = changed.flatMap(({ path, stagedEtag }) => (stagedEtag === null ? [path] : []));
  const hidden = await hiddenPaths(tx, seen, made, current);
  const conflicts = changed.flatMap(({ path }) => (hidden.has(path) ? [] : [path]));
  if (conflicts.length > 0) {
    throw new NotPublished(`No file was changed. ${CONFLICT}${listed(conflicts)}`);
  }
  throw pathsTaken([...hidden]);
}

/** Returns the paths of those files that the run does not see: see `SeenFiles`. */
async function hiddenPaths(
  tx: Tx,
  seen: SeenFiles,
  paths: readonly MountPath[],
  files: ReadonlyMap<MountPath, FileRow>,
): Promise<ReadonlySet<MountPath>> {
  if (seen.all) return new Set();
  const { chatKey, folder } = seen;
  const hidden = new Set(
    paths.filter((path) => files.get(path)?.chat_key !== chatKey && (folder === null || !isBelow(path, folder))),
  );
  if (hidden.size === 0) return hidden;
  for (const { path } of await tx.all(announcedAt, { chatKey, paths: jsonPaths(hidden) }))
    hidden.delete(mountPath(path));
  return hidden;
}

/** Checks that no new file has a folder's name, and no folder that of a file. The error does not name the other file. */
async function checkNames(
  tx: Tx,
  integrationId: IntegrationId,
  paths: readonly MountPath[],
  now: number,
): Promise<void> {
  const byFiles = await pathsTakenByFiles(tx, integrationId, paths);
  const byForms = await pathsTakenByForms(tx, integrationId, paths, now);
  const taken = paths.filter((path) => byFiles.has(path) || byForms.has(path));
  if (taken.length > 0) throw pathsTaken(taken);
}

const pathsTaken = (paths: readonly MountPath[]) =>
  new NotPublished(`No file was changed: these paths are taken. Choose others.${listed(paths)}`);
