import { StartRefused } from '../domain/start-refused.ts';
import { installation } from '../store/queries/accounts.ts';
import { dropDraftMarks, knownMarks, storeMarkOnce, VALID_MARK_ID } from '../store/queries/blob-folder.ts';
import type { FilesKind } from '../store/schema.ts';
import { first, type Store } from '../store/store.ts';

/**
 * Identifies the files of an installation and where they are: in a marked folder, or under keys that begin with the
 * mark.
 */
export interface InstallationMark {
  readonly mark: string;
  readonly kind: FilesKind;
}

export async function readMarks(
  store: Store,
): Promise<{ kept: InstallationMark | undefined; known: ReadonlySet<string> }> {
  const rows = await store.reads.all(knownMarks, {});
  return { kept: rows.find(({ id }) => id === VALID_MARK_ID), known: new Set(rows.map(({ mark }) => mark)) };
}

/** Resolves to the stored mark. If several nodes store one concurrently, the first one wins. */
export function storeMark(store: Store, mark: string, kind: FilesKind): Promise<InstallationMark> {
  return store.transact('account', async (tx) => {
    await tx.run(storeMarkOnce, { mark, kind });
    await tx.run(dropDraftMarks, {});
    return (await first(tx.all(knownMarks, {}))) ?? { mark, kind };
  });
}

/** An installation stores its files in one kind of place from its first start. */
export async function checkFilesKind(store: Store, kind: FilesKind): Promise<void> {
  const { kept } = await readMarks(store);
  if (kept !== undefined) return refuseOtherKind(kept, kind);
  // An installation without a mark is of an earlier version, which had only the disk.
  const isFirst = (await first(store.reads.all(installation, {}))) === undefined;
  if (!isFirst) refuseOtherKind({ mark: '', kind: 'disk' }, kind);
}

export function refuseOtherKind({ kind }: InstallationMark, wanted: FilesKind): void {
  if (kind === wanted) return;
  throw new StartRefused(
    kind === 'disk'
      ? 'S3_BUCKET is set, but this installation keeps its files on the disk; unset it, or back up and restore into an empty place with it set.'
      : 'S3_BUCKET is not set, but this installation keeps its files in S3; set it to their bucket, or back up and restore into an empty place without it.',
  );
}
