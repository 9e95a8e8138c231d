export { type BubblewrapOptions, BubblewrapSandbox } from './bubblewrap/bubblewrap-sandbox.ts';
export { ExecSandbox } from './exec/exec-sandbox.ts';
export { type JustBashOptions, JustBashSandbox } from './just-bash/just-bash-sandbox.ts';
export {
  type OnSandboxOutput,
  type Sandbox,
  type SandboxCommand,
  type SandboxEnd,
  SandboxFailed,
  type SandboxInfo,
  type SandboxLimit,
  type SandboxLimits,
  type SandboxUser,
} from './sandbox.ts';
export { type LockFile, StageFolders, type StageLog } from './stage-folders.ts';
export { childPath, isDenied } from './stage-path.ts';
export { trySandbox } from './try-sandbox.ts';
export type { FolderLimits } from './watch-folder.ts';
