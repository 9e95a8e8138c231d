import type { MountPath } from './mount-path.ts';

/** A change of one file that is not visible yet. */
export interface StagedChange {
  readonly path: MountPath;
  /** The etag of the version that the call began with; null if there was no such file. */
  readonly stagedEtag: string | null;
  readonly contentType: string;
  /** The new bytes, which are durable; null if the file is deleted. */
  readonly put: { readonly blobKey: string; readonly size: number; readonly etag: string } | null;
}
