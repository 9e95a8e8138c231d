import type { MountPath } from '../domain/mount-path.ts';
import type { MeasuredMount } from './mount-usage.ts';

export interface PromisedFile {
  readonly path: MountPath;
  /** The largest upload that a form allows. */
  readonly sizeBytes: number;
}

export interface ForeseenBytes {
  readonly bytes: number;
  /** Paths of forms whose files were not measured. They count as if they replaced nothing. */
  readonly unmeasured: readonly MountPath[];
}

/**
 * Returns the largest size that a mount can reach with its files and its open forms. A path counts once, with the
 * larger of its file and its forms: so a stored file is not counted together with its form, a replaced file counts by
 * the difference, and a form that is used twice, or after its file was deleted, adds nothing.
 */
export function foreseenBytes(measured: MeasuredMount, promised: readonly PromisedFile[]): ForeseenBytes {
  const most = new Map<MountPath, number>();
  for (const { path, sizeBytes } of promised) most.set(path, Math.max(most.get(path) ?? 0, sizeBytes));
  const unmeasured: MountPath[] = [];
  let { bytes } = measured;
  for (const [path, sizeBytes] of most) {
    const stored = measured.sizes.get(path);
    if (stored === undefined) unmeasured.push(path);
    bytes += Math.max(0, sizeBytes - (stored ?? 0));
  }
  return { bytes, unmeasured };
}
