import type { FilesBelow } from '../agent/files-port.ts';
import { encodedSegment } from '../domain/file/file-access.ts';
import { checkFolderPath, MOUNT } from '../domain/file/mount-path.ts';
import type { AgentDraft } from './agency-draft.ts';
import type { Faults } from './fault.ts';
import { fillIn, PLACEHOLDER, unknownPlaceholder, usesMember } from './instructions.ts';
import type { AboutRun } from './loaded-agency.ts';

export interface LoadedBelow {
  readonly usesMember: boolean;
  readonly folder: (about: AboutRun) => FilesBelow;
}

/** Loads `files.below`. Returns null if the agent has none. */
export function loadBelow({ value, location, path }: AgentDraft, faults: Faults): LoadedBelow | null {
  if (typeof value.files !== 'object') return null;
  const { below } = value.files;
  const at = [...path, 'files', 'below'];
  const unknown = unknownPlaceholder(below);
  if (unknown !== null) faults.addPiece(location, at, unknown.written, unknown.message);
  const template = below.startsWith(`${MOUNT}/`) ? below : `${MOUNT}/${below}`;
  const checked = checkFolderPath(template.replaceAll(PLACEHOLDER, 'x'));
  if ('problem' in checked)
    faults.add(location, at, `\`below\` is no folder below \`${MOUNT}\`: it ${checked.problem}.`);
  return { usesMember: usesMember(below), folder: (about) => filled(template, about) };
}

/** Each value becomes one segment, or a part of one. */
function filled(template: string, about: AboutRun): FilesBelow {
  let isEmpty = false;
  const folder = template.replaceAll(PLACEHOLDER, (written) => {
    const value = fillIn(written, about);
    if (value === '') isEmpty = true;
    return encodedSegment(value);
  });
  const checked = checkFolderPath(folder);
  return isEmpty || 'problem' in checked ? 'nothing' : checked.below;
}
