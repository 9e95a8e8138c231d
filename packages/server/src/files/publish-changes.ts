import { type MountPath, wholePath } from '../domain/mount-path.ts';
import { Refusal } from '../domain/refusal.ts';
import type { StagedChange } from '../domain/staged-change.ts';
import { MAX_UNREFERRED_MS } from '../storage/blob-store.ts';
import { fileAt, fileInTheWay, filesIn, rangeOf, type SeenFiles, storedPath } from '../store/queries/files.ts';
import { first, type Tx } from '../store/store.ts';
import { changeFiles, checkFreeOfForms, checkQuota, type FileChange, lockFiles, PathTaken } from './change-files.ts';

export interface RunChanges {
  readonly integrationId: string;
  readonly chatKey: string;
  /** The files that the run sees. */
  readonly seen: SeenFiles;
  readonly changes: readonly StagedChange[];
  readonly writtenAt: number;
  /** 0 if there is no quota. */
  readonly quotaBytes: number;
}

/** The changes of a run cannot become visible. The message is a text for the model. */
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
 * Makes the file changes of a run, in the transaction of its step. Throws `NotPublished` if another writer changed one of
 * the files since the run read it, if a path is taken, or if the quota is exceeded.
 */
export async function publishChanges(tx: Tx, given: RunChanges): Promise<void> {
  const { integrationId, chatKey, changes, writtenAt, quotaBytes } = given;
  await lockFiles(tx, integrationId);
  const now = Date.now();
  if (now - writtenAt > MAX_UNREFERRED_MS) {
    throw new NotPublished(TOO_LATE);
  }
  const { growth } = await checkEtags(tx, given);
  // Delete files first, because a new file may have the name of a folder that is empty now.
  const deleted = changes.filter(({ put }) => put === null);
  const put = changes.filter((change) => change.put !== null);
  await makeChanges(
    tx,
    integrationId,
    deleted.map(({ path }) => ({ kind: 'delete', path })),
    now,
  );
  await checkNames(tx, given, now);
  const puts = put.flatMap((change): FileChange[] => {
    if (change.put === null) return [];
    const { path, contentType, stagedEtag } = change;
    // A file that existed keeps the chat that made it.
    const madeBy = stagedEtag === null ? chatKey : null;
    const file = { ...change.put, contentType, modifiedAt: now, signedAt: null, chatKey: madeBy };
    return [{ kind: 'put', path, ...file }];
  });
  await makeChanges(tx, integrationId, puts, now);
  // Deleted files do not count: their open forms can still be sent.
  if (growth === 0) return;
  try {
    await checkQuota(tx, integrationId, quotaBytes, now);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'mount_quota_exceeded') throw error;
    throw new NotPublished(
      `No file was changed: with these changes the files would exceed their quota of ${quotaBytes} bytes. ` +
        'Delete files first, or write less.',
    );
  }
}

async function makeChanges(tx: Tx, integrationId: string, changes: readonly FileChange[], now: number): Promise<void> {
  try {
    await changeFiles(tx, integrationId, changes, now);
  } catch (error) {
    // Its own message may name a file that the run does not see.
    if (error instanceof PathTaken) throw onePathTaken(changes.map(({ path }) => path));
    throw error;
  }
}

/** Checks that each file is still the version that the run began with. Resolves to the bytes by which files grow. */
async function checkEtags(tx: Tx, { integrationId, seen, changes }: RunChanges): Promise<{ readonly growth: number }> {
  const conflicts: MountPath[] = [];
  const taken: MountPath[] = [];
  let growth = 0;
  for (const { path, stagedEtag, put } of changes) {
    const current = await first(tx.all(fileAt, { integrationId, path: storedPath(path) }));
    growth += Math.max(0, (put?.size ?? 0) - (current?.size_bytes ?? 0));
    if ((current?.etag ?? null) === stagedEtag) continue;
    const isSeen = stagedEtag !== null || (await tx.query(filesIn(integrationId, rangeOf(path), seen, 1))).length > 0;
    (isSeen ? conflicts : taken).push(path);
  }
  if (conflicts.length > 0) {
    throw new NotPublished(`No file was changed. ${CONFLICT}${listed(conflicts)}`);
  }
  if (taken.length > 0) throw pathsTaken(taken);
  return { growth };
}

/** Checks that no new file has the name of a folder, and no folder that of a file. The error does not name the other file. */
async function checkNames(tx: Tx, { integrationId, changes }: RunChanges, now: number): Promise<void> {
  const taken: MountPath[] = [];
  for (const { path, stagedEtag, put } of changes) {
    if (put === null || stagedEtag !== null) continue;
    const other = await first(tx.query(fileInTheWay(integrationId, path)));
    if (other !== undefined) taken.push(path);
    try {
      await checkFreeOfForms(tx, integrationId, path, now);
    } catch (error) {
      if (!(error instanceof PathTaken)) throw error;
      if (!taken.includes(path)) taken.push(path);
    }
  }
  if (taken.length > 0) throw pathsTaken(taken);
}

const onePathTaken = (paths: readonly MountPath[]) =>
  new NotPublished(`No file was changed: one of these paths is taken. Choose another one.${listed(paths)}`);

const pathsTaken = (paths: readonly MountPath[]) =>
  new NotPublished(`No file was changed: these paths are taken. Choose others.${listed(paths)}`);
