import type { ChangedFile } from '../domain/file/changed-file.ts';
import { wholePath } from '../domain/file/mount-path.ts';
import type { StagedChange } from '../domain/file/staged-change.ts';

/** A call's file changes. They become visible in its step's transaction, all of them or none. */
export interface Publication {
  readonly changes: readonly StagedChange[];
  /** When the first new bytes were written, in milliseconds since 1970. */
  readonly writtenAt: number;
  /** The new bytes, until a transaction makes them visible; null if there are none. */
  readonly batch: { readonly batchId: string; readonly keys: readonly string[] } | null;
  /** Deletes the new bytes, unless they became visible. */
  discard(): Promise<void>;
}

export function changedFile({ path, stagedEtag, contentType, put }: StagedChange): ChangedFile {
  const change = put === null ? 'deleted' : stagedEtag === null ? 'created' : 'changed';
  return { path: wholePath(path), contentType, size: put?.size ?? 0, change };
}
