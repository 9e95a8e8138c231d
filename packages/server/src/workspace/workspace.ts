import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KIND_BYTES } from '@runwire/documents';
import type { FairBudget } from '@runwire/lib/fair-budget.ts';
import { filePieces, fileStart } from '@runwire/lib/file-pieces.ts';
import { mapAtMost, mapConcurrently } from '@runwire/lib/map-concurrently.ts';
import type { Sandbox, SandboxEnd, SandboxLimits, StageFolders } from '@runwire/sandbox';
import type { FilesBelow } from '../agent/files-port.ts';
import type { Publication } from '../agent/publication.ts';
import {
  type CommandReport,
  type OmittedEntry,
  type OnLastLines,
  WORKSPACE_LIMITS,
  type Workspace,
  type WorkspaceCommand,
  WorkspaceRefused,
} from '../agent/workspace-port.ts';
import { isBelow } from '../domain/file/file-access.ts';
import { lastSegment, type MountPath, WHOLE_MOUNT, wholePath } from '../domain/file/mount-path.ts';
import type { StagedChange } from '../domain/file/staged-change.ts';
import type { AdmittedRun } from '../domain/run/admitted-run.ts';
import { StoreUnavailable } from '../domain/unavailable.ts';
import type { WaitAt } from '../domain/wait-points.ts';
import { type ChangingRun, type Files, md5Etag, type StoredFile } from '../files/files.ts';
import type { PendingBatch } from '../files/pending-blobs.ts';
import { seenFiles } from '../files/seen-files.ts';
import type { AgencyFiles } from './agency-files.ts';
import { LastLines, OutputParts } from './command-output.ts';
import { getContentType } from './content-type.ts';
import { fillStage, findFiles, type StageFile } from './stage.ts';

const MIB = 1024 * 1024;
const CONCURRENT_BLOBS = 8;
/** How often, and after which pause, a command tries to store its files while the store is unavailable: for 30 s. */
const MAX_BEGINS = 60;
const BEGIN_PAUSE_MS = 500;
const WHOLE_BYTES = 256 * 1024;

/** The limits of a command that are settings. */
export type CommandSettings = Pick<SandboxLimits, 'memoryMib' | 'processes' | 'fileBytes'>;

const commandLimits = (settings: CommandSettings): Omit<SandboxLimits, 'seconds'> => ({
  ...settings,
  // Programs reserve more addresses than they use.
  processMemoryMib: 2 * settings.memoryMib,
  folderBytes: Math.max(2 * settings.fileBytes, 2 * WORKSPACE_LIMITS.fileBytes),
  folderEntries: 20_000,
  outputBytes: 16 * MIB,
});

export interface WorkspaceDeps {
  readonly sandbox: Sandbox;
  readonly settings: CommandSettings;
  /** A slot for each command, by owner. A command holds it as long as its files are on the disk. */
  readonly slots: FairBudget;
  readonly files: Files;
  readonly stages: StageFolders;
  readonly waitAt: WaitAt | undefined;
}

/** The part of the mount in which the agent works. */
export interface WorkspaceScope {
  readonly run: ChangingRun & Pick<AdmittedRun, 'ownerId' | 'chatKey' | 'files'>;
  readonly below: FilesBelow;
  /** Null if the agency has none. */
  readonly agencyFiles: AgencyFiles | null;
}

/** The files of a run that its agent may change. */
export class RunWorkspace implements Workspace {
  readonly #deps: WorkspaceDeps;
  readonly #scope: WorkspaceScope;
  readonly #limits: Omit<SandboxLimits, 'seconds'>;

  constructor(deps: WorkspaceDeps, scope: WorkspaceScope) {
    this.#limits = commandLimits(deps.settings);
    this.#deps = deps;
    this.#scope = scope;
  }

  async run(
    { command, folder, seconds }: WorkspaceCommand,
    onLastLines: OnLastLines,
    signal: AbortSignal,
  ): Promise<CommandReport> {
    const { sandbox, slots, stages, files, waitAt } = this.#deps;
    const workingFolder = this.#workingFolder(folder);
    // The time that a command waits for its slot does not count towards its limit.
    using _slot = await slots.reserve(this.#scope.run.ownerId, 1, signal);
    waitAt?.('command-stage.before');
    const staged = await this.#visibleFiles(workingFolder);
    const root = stages.make();
    try {
      const mount = `${root}/mnt`;
      await makeOwned(stages, mount);
      await fillStage(stages, files, { root: mount, workingFolder, staged }, signal);
      const agencyFolder = await this.#copyAgencyFiles(`${root}/agency`);
      waitAt?.('command-stage.after');
      const output = new OutputParts();
      const lastLines = new LastLines();
      const onOutput = (bytes: Uint8Array) => {
        output.add(bytes);
        lastLines.add(bytes);
        onLastLines(lastLines.text);
      };
      const limits = { ...this.#limits, seconds };
      waitAt?.('command-run.before');
      const end = await sandbox.run({ command, folder: mount, agencyFolder, workingFolder, limits }, onOutput, signal);
      waitAt?.('command-run.after');
      if (end.end !== 'exited') return { end, output: output.parts, leftOut: [], publication: null };
      return { output: output.parts, ...(await this.#changes(mount, workingFolder, staged, end, signal)) };
    } finally {
      await stages.remove(root);
    }
  }

  /** Makes a copy, because the command can see the folder's path on this machine. Resolves to null without files. */
  async #copyAgencyFiles(folder: string): Promise<string | null> {
    const { agencyFiles } = this.#scope;
    if (agencyFiles === null) return null;
    await agencyFiles.copyTo(folder, this.#deps.stages);
    return folder;
  }

  /** Throws if the agent may not work there. */
  #workingFolder(asked: MountPath | null): MountPath {
    const { below, run } = this.#scope;
    if (below === 'nothing') throw new WorkspaceRefused('There is no folder that you may work in.');
    const folder = asked ?? below ?? run.files.memberFolder ?? WHOLE_MOUNT;
    if (below !== null && folder !== below && !isBelow(folder, below)) {
      throw new WorkspaceRefused(`You may work only in ${wholePath(below)} and below.`);
    }
    return folder;
  }

  async #visibleFiles(folder: MountPath): Promise<readonly StoredFile[]> {
    const { files } = this.#deps;
    const { run } = this.#scope;
    const seen = seenFiles(run);
    if (folder !== '' && (await files.find(run.integrationId, folder, seen)) !== null) {
      throw new WorkspaceRefused(`${wholePath(folder)} is a file; name a folder.`);
    }
    const staged: StoredFile[] = [];
    let size = 0;
    for await (const file of files.walk(run.integrationId, folder, seen)) {
      staged.push(file);
      size += file.size;
      if (staged.length > WORKSPACE_LIMITS.files || size > WORKSPACE_LIMITS.fileBytes) {
        const most = `${WORKSPACE_LIMITS.files} files or ${WORKSPACE_LIMITS.fileBytes / MIB} MiB`;
        throw new WorkspaceRefused(`${wholePath(folder)} has more than ${most}; name a smaller folder.`);
      }
    }
    return staged;
  }

  async #changes(
    root: string,
    workingFolder: MountPath,
    staged: readonly StoredFile[],
    end: SandboxEnd,
    signal: AbortSignal,
  ): Promise<Omit<CommandReport, 'output'>> {
    const { waitAt } = this.#deps;
    const found = await findFiles(root, workingFolder, this.#limits);
    if (!found.isWithinLimits) {
      return { end: { end: 'limit', limit: 'folder' }, leftOut: [], publication: null };
    }
    const before = new Map(staged.map((file) => [file.path, file]));
    const leftOut: OmittedEntry[] = [...found.leftOut];
    const allowed: StageFile[] = [];
    for (const file of found.files) {
      if (before.has(file.path) || this.#mayCreate(file.path)) allowed.push(file);
      else leftOut.push({ path: wholePath(file.path), reason: 'is outside of the folder in which you may make files' });
    }
    const deleted = deletedFiles(staged, found.files, leftOut);
    // Counted before any file is read: each new file is a change.
    const isTooMany = (changes: number) => changes + deleted.length > WORKSPACE_LIMITS.files;
    const tooMany = { end: { end: 'limit', limit: 'changes' }, leftOut: [], publication: null } as const;
    if (isTooMany(allowed.filter(({ path }) => !before.has(path)).length)) return tooMany;
    const isChanged = await mapAtMost(CONCURRENT_BLOBS, allowed, (file) => differs(file, before.get(file.path)));
    const changed = allowed.filter((_, index) => isChanged[index]);
    if (isTooMany(changed.length)) return tooMany;
    signal.throwIfAborted();
    waitAt?.('command-bytes.before');
    const publication = await this.#publication(changed, before, deleted);
    waitAt?.('command-bytes.after');
    return { end, leftOut, publication };
  }

  /** With `member`, a run makes files only below its member's folder. */
  #mayCreate(path: MountPath): boolean {
    const { memberFolder } = this.#scope.run.files;
    return this.#isInScope(path) && (memberFolder === null || isBelow(path, memberFolder));
  }

  /** True if the file is in the part of the mount in which the agent works. */
  #isInScope(path: MountPath): boolean {
    const { below } = this.#scope;
    return below === null || (below !== 'nothing' && isBelow(path, below));
  }

  async #publication(
    changed: readonly StageFile[],
    before: ReadonlyMap<MountPath, StoredFile>,
    deleted: readonly StoredFile[],
  ): Promise<Publication | null> {
    if (changed.length === 0 && deleted.length === 0) return null;
    const { files } = this.#deps;
    const batch = changed.length === 0 ? null : await this.#begin(changed.length);
    const writtenAt = Date.now();
    const discard = async () => {
      if (batch !== null) await files.discard(batch);
    };
    const keys = [...(batch?.keys ?? [])];
    try {
      const writes = new AbortController().signal;
      // If one fails, the others end before the batch's bytes are deleted.
      const puts = await mapConcurrently(CONCURRENT_BLOBS, changed, writes, async (file): Promise<StagedChange> => {
        await using handle = await file.open();
        // A small file is read once, into a buffer of its size.
        const isSmall = file.size <= WHOLE_BYTES;
        const start = await fileStart(handle, isSmall ? file.size : KIND_BYTES);
        const contentType = getContentType(start.subarray(0, KIND_BYTES), lastSegment(file.path));
        const put = await files.store(keys.pop() ?? '', isSmall ? start : filePieces(handle));
        return { path: file.path, stagedEtag: before.get(file.path)?.etag ?? null, contentType, put };
      });
      const deletions = deleted.map(
        ({ path, etag, contentType }): StagedChange => ({ path, stagedEtag: etag, contentType, put: null }),
      );
      return { changes: [...puts, ...deletions].sort(byPath), writtenAt, batch, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  async write(path: MountPath, content: Uint8Array): Promise<Publication | null> {
    const { files } = this.#deps;
    const { run } = this.#scope;
    const old = this.#isInScope(path) ? await files.find(run.integrationId, path, seenFiles(run)) : null;
    if (old === null && !this.#mayCreate(path)) {
      throw new WorkspaceRefused(`${wholePath(path)} is outside of the folder in which you may make files.`);
    }
    if (old?.etag === md5Etag(content)) return null;
    const batch = await this.#begin(1);
    const writtenAt = Date.now();
    const discard = () => files.discard(batch);
    try {
      const put = await files.store(batch.keys[0] ?? '', content);
      const contentType = getContentType(content.subarray(0, KIND_BYTES), lastSegment(path));
      const change = { path, stagedEtag: old?.etag ?? null, contentType, put };
      return { changes: [change], writtenAt, batch, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** Waits while the store is unavailable: the command's work is not lost. */
  async #begin(count: number): Promise<PendingBatch> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#deps.files.beginChanges(this.#scope.run, count);
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || tries >= MAX_BEGINS) throw error;
        await sleep(BEGIN_PAUSE_MS, undefined, { ref: false });
      }
    }
  }
}

async function makeOwned(stages: StageFolders, path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  stages.own(path);
}

const byPath = (one: StagedChange, other: StagedChange) => (one.path < other.path ? -1 : 1);

/**
 * The staged files that do not exist any more. If something else has a file's name, or of a folder above it, the
 * file stays as it is.
 */
function deletedFiles(
  staged: readonly StoredFile[],
  found: readonly StageFile[],
  leftOut: readonly OmittedEntry[],
): readonly StoredFile[] {
  const paths = new Set(found.map(({ path }) => path));
  const others = new Set(leftOut.map(({ path }) => path));
  return staged.filter(({ path }) => {
    if (paths.has(path)) return false;
    for (let above = wholePath(path); above !== ''; above = above.slice(0, above.lastIndexOf('/'))) {
      if (others.has(above)) return false;
    }
    return true;
  });
}

/** True if the file has other bytes than the stored one, or if there is none. */
async function differs(file: StageFile, old: StoredFile | undefined): Promise<boolean> {
  if (old === undefined || file.size !== old.size) return true;
  const { size, etag } = old;
  await using handle = await file.open();
  if (size <= WHOLE_BYTES) return md5Etag(await fileStart(handle, size)) !== etag;
  const hash = createHash('md5');
  for await (const piece of filePieces(handle)) hash.update(piece);
  return `"${hash.digest('hex')}"` !== etag;
}
