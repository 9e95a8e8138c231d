import type { SandboxFile } from '@runwire/models';
import { checkFilePath, lastSegment, type MountPath } from './mount-path.ts';

export type CheckedSandboxFile =
  | { readonly file: SandboxFile; readonly below: MountPath }
  /** The rest of a sentence that begins with the field's name. */
  | { readonly field: 'name' | 'path'; readonly problem: string };

export function checkSandboxFile({ name, path }: SandboxFile): CheckedSandboxFile {
  const checked = checkFilePath(path);
  if ('problem' in checked) return { field: 'path', problem: checked.problem };
  // The name equals the end of the path byte by byte, so it contains no control characters either.
  if (name !== lastSegment(path)) {
    return { field: 'name', problem: 'must equal the last segment of `path`' };
  }
  return { file: { name, path }, below: checked.below };
}

export function parseSandboxFiles(json: string | null): readonly SandboxFile[] {
  return json === null ? [] : (JSON.parse(json) as SandboxFile[]);
}
