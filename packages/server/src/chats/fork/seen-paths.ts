import { checkFilePath, type MountPath } from '../../domain/file/mount-path.ts';
import { parseSandboxFiles } from '../../domain/file/sandbox-file.ts';
import type { ChatKey } from '../../domain/ids.ts';
import type { StepOutcome } from '../../domain/run/step.ts';
import { mountPath } from '../../store/queries/files.ts';
import { changingSteps, namedFiles, pathsOfChat } from '../../store/queries/forks.ts';
import type { Reads } from '../../store/store.ts';

/** Positions per statement, so that outputs of many calls are not in memory together. */
const PAGE = 200;

/**
 * Finds the paths that are announced in a fork: messages before a position named them, or runs before it made the files. A
 * path that the chat itself does not see any more is left out.
 */
export async function findSeenPaths(reads: Reads, chatKey: ChatKey, before: number): Promise<readonly MountPath[]> {
  if (before === 1) return [];
  const seen = new Set((await reads.all(pathsOfChat, { chatKey })).map(({ path }) => mountPath(path)));
  // Most chats have no files.
  if (seen.size === 0) return [];
  const found = new Set<MountPath>();
  const add = (path: string) => {
    const checked = checkFilePath(path);
    if ('below' in checked && seen.has(checked.below)) found.add(checked.below);
  };
  for (let from = 1; from < before && found.size < seen.size; from += PAGE) {
    const range = { chatKey, from, before: Math.min(before, from + PAGE) };
    for (const { sandbox_files_json: json } of await reads.all(namedFiles, range)) {
      for (const { path } of parseSandboxFiles(json)) add(path);
    }
    for (const { record_json: json } of await reads.all(changingSteps, range)) {
      for (const { path } of (JSON.parse(json) as StepOutcome).files ?? []) add(path);
    }
  }
  return [...found];
}
