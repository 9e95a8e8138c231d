import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import { StageFolders } from '@runwire/sandbox';
import { filesBelow, withAgencyFiles } from '../agent/files-in-scope.ts';
import { commandTools } from '../agent/tools/command-tools.ts';
import type { AdmittedRun } from '../domain/admitted-run.ts';
import type { EngineDeps, FilesScope, RunCommands } from '../engine/deps.ts';
import { lockFile } from '../store/sqlite/data-folder-lock.ts';
import { AgencyFiles } from '../workspace/agency-files.ts';
import type { DocumentTexts } from '../workspace/document-texts.ts';
import { runFiles } from '../workspace/run-files.ts';
import { RunWorkspace } from '../workspace/workspace.ts';
import type { Foundation } from './foundation.ts';

/** Opens what agents see and change. Deletes what commands of earlier processes left. */
export async function openWorkspaces(
  { sandbox: { sandbox }, config: { limits }, files, overrides, logger, stack }: Foundation,
  documents: DocumentTexts,
  slots: FairBudget,
): Promise<Pick<EngineDeps, 'files' | 'commands'>> {
  const agencyFiles = ({ ownerId }: AdmittedRun, { agency }: FilesScope) =>
    agency === null ? null : new AgencyFiles({ ...agency, ownerId }, documents);
  const seen: EngineDeps['files'] = (run, scope) =>
    withAgencyFiles(filesBelow(runFiles({ files, documents }, run), scope.below), agencyFiles(run, scope));
  if (sandbox === null || sandbox.info.kind === 'off') return { files: seen, commands: null };
  const swept = await StageFolders.sweep(lockFile, logger);
  if (swept > 0) logger.info({ folders: swept }, 'folders of commands of earlier processes were deleted');
  const stages = stack.use(new StageFolders(sandbox.owner, lockFile, logger));
  const { commandMemoryMib: memoryMib, commandProcesses: processes, commandFileBytes: fileBytes } = limits;
  const settings = { memoryMib, processes, fileBytes };
  const deps = { sandbox, settings, slots, files, stages, waitAt: overrides.waitAt };
  const tools = commandTools({ sandbox: sandbox.info.kind, defaultSeconds: limits.commandSeconds });
  const workspace: RunCommands['workspace'] = (run, scope) =>
    new RunWorkspace(deps, { run, below: scope.below, agencyFiles: agencyFiles(run, scope) });
  return { files: seen, commands: { tools, workspace } };
}
