import type { MountPath } from '../domain/mount-path.ts';
import type { MeasuredMount } from './mount-usage.ts';

export interface PromisedFile {
  readonly path: MountPath;
  /** The most that a form may bring. */
  readonly sizeBytes: number;
}

export interface ForeseenBytes {
  readonly bytes: number;
  /** Promised paths whose files the walk did not note: they are counted as if they replaced nothing. */
  readonly unmeasured: readonly MountPath[];
}

/**
 * The most that a mount can come to by what is there and what is promised. A path counts once, with the larger of its file
 * and its forms: so a file that has arrived is not counted beside its form, one that is replaced counts by the difference,
 * and a form that is sent a second time, or after its file was deleted, brings nothing that was not counted.
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
