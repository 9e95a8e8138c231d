import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KIND_BYTES } from '@runwire/documents';
import { filePieces, fileStart } from '@runwire/lib/file-pieces.ts';
import type { StageFolders } from '@runwire/sandbox';
import type { AgentFile, AgentFiles, AgentFolder, OpenedAgentFile } from '../agent/files-port.ts';
import { WORKSPACE_LIMITS, WorkspaceRefused } from '../agent/workspace-port.ts';
import { AGENCY, type AgencyPath, agencyEntry } from '../domain/file/agency-path.ts';
import { filenameProblem, lastSegment } from '../domain/file/mount-path.ts';
import { getContentType } from './content-type.ts';
import type { DocumentTexts } from './document-texts.ts';
import { getKind } from './file-kind.ts';

const FILES = 'files';
const SKILLS = 'skills';
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What an agent sees of the folder of its agency. */
export interface AgencyFolderScope {
  /** The folder's real path. */
  readonly folder: string;
  /** Its skills' names. */
  readonly skills: readonly string[];
  /** The owner whose share of the slots conversions use. */
  readonly ownerId: string;
}

/** An entry of the folder: a regular file or a folder. Links are left out, as they can lead anywhere. */
interface Entry {
  readonly path: AgencyPath;
  readonly real: string;
  readonly isFolder: boolean;
}

/** An agency's files: `files`, and the agent's skills. Read-only, and read when they are used. */
export class AgencyFiles implements AgentFiles<AgencyPath> {
  readonly #scope: AgencyFolderScope;
  readonly #documents: DocumentTexts;

  constructor(scope: AgencyFolderScope, documents: DocumentTexts) {
    this.#scope = scope;
    this.#documents = documents;
  }

  async list(folder: AgencyPath, after: string | null, limit: number) {
    const all = await this.#entries(folder);
    if (all === null) return null;
    const rest = all.filter(({ path }) => after === null || compare(lastSegment(path), after) > 0);
    const entries = await Promise.all(rest.slice(0, limit).map((entry) => shownEntry(entry)));
    return { entries: entries.filter((entry) => entry !== null), hasMore: rest.length > limit };
  }

  async *walk(folder: AgencyPath): AsyncGenerator<AgentFile<AgencyPath>> {
    for (const entry of (await this.#entries(folder)) ?? []) {
      if (entry.isFolder) yield* this.walk(entry.path);
      else {
        const file = await shownEntry(entry);
        if (file?.kind === 'file') yield file;
      }
    }
  }

  async open(path: AgencyPath): Promise<OpenedAgentFile | null> {
    const real = await this.#locate(path);
    if (real === null || !(await isKind(real, 'file'))) return null;
    await using opening = new AsyncDisposableStack();
    const handle = opening.use(await open(real, READ_FLAGS));
    const file = await describeFile(path, handle);
    const { kind, bytes } = await getKind({ file, bytes: filePieces(handle) });
    const close = opening.move();
    const { ownerId } = this.#scope;
    const source = { ...file, key: `${real}\0${file.modifiedAt}\0${file.size}`, bytes: () => toBytes(real) };
    return {
      file,
      kind,
      bytes,
      convert: (signal) => this.#documents.convertOnce(ownerId, source, signal),
      [Symbol.asyncDispose]: () => close.disposeAsync(),
    };
  }

  /** Copies everything to a folder on this machine. Throws `WorkspaceRefused` if it is too much. */
  async copyTo(root: string, stages: StageFolders): Promise<void> {
    const makeFolder = async (path: string) => {
      if ((await mkdir(path, { recursive: true, mode: 0o700 })) === undefined) return;
      for (let made = path; made.length >= root.length; made = dirname(made)) stages.own(made);
    };
    await makeFolder(root);
    let count = 0;
    let size = 0;
    for await (const file of this.walk(AGENCY)) {
      count += 1;
      size += file.size;
      if (count > WORKSPACE_LIMITS.files || size > WORKSPACE_LIMITS.fileBytes) {
        const most = `${WORKSPACE_LIMITS.files} files or ${WORKSPACE_LIMITS.fileBytes / 1024 / 1024} MiB`;
        throw new WorkspaceRefused(
          `The agency has more than ${most} in /app/agency, too much for a command; its author must remove some.`,
        );
      }
      const real = await this.#locate(file.path);
      if (real === null) continue;
      const copy = join(root, file.path.slice(AGENCY.length));
      await makeFolder(dirname(copy));
      await copyFile(real, copy, constants.COPYFILE_FICLONE);
      // Programs of skills stay programs.
      await chmod(copy, ((await lstat(real)).mode & 0o100) === 0 ? 0o600 : 0o700);
      stages.own(copy);
    }
  }

  /** Resolves to null if there is no such folder. In byte order of their names. */
  async #entries(folder: AgencyPath): Promise<readonly Entry[] | null> {
    const real = await this.#locate(folder);
    if (real === null || !(await isKind(real, 'folder'))) return null;
    const found = await readdir(real, { withFileTypes: true });
    const entries = found.flatMap((entry): Entry[] => {
      const path = agencyEntry(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (filenameProblem(entry.name) !== null || !(isFolder || entry.isFile())) return [];
      return this.#isSeen(path) ? [{ path, real: join(real, entry.name), isFolder }] : [];
    });
    return entries.sort((one, other) => compare(one.path, other.path));
  }

  #isSeen(path: AgencyPath): boolean {
    const [first, second] = path.slice(AGENCY.length + 1).split('/');
    if (first === FILES) return true;
    if (first !== SKILLS || this.#scope.skills.length === 0) return false;
    return second === undefined || this.#scope.skills.includes(second);
  }

  /** The path on this machine. Null if it does not exist, is not seen, or leads through a link. */
  async #locate(path: AgencyPath): Promise<string | null> {
    if (path !== AGENCY && !this.#isSeen(path)) return null;
    const expected = join(this.#scope.folder, path.slice(AGENCY.length));
    const real = await realpath(expected).catch(() => null);
    return real === expected ? real : null;
  }
}

/** Another reader may wait for the conversion after this one has closed the file. */
async function* toBytes(path: string): AsyncGenerator<Uint8Array, void> {
  await using handle = await open(path, READ_FLAGS);
  yield* filePieces(handle);
}

const compare = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

async function isKind(path: string, kind: 'file' | 'folder'): Promise<boolean> {
  const stats = await lstat(path).catch(() => null);
  return kind === 'file' ? stats?.isFile() === true : stats?.isDirectory() === true;
}

/** Resolves to null if the file was deleted since the listing. */
async function shownEntry({
  path,
  real,
  isFolder,
}: Entry): Promise<AgentFile<AgencyPath> | AgentFolder<AgencyPath> | null> {
  if (isFolder) return { kind: 'folder', path };
  try {
    await using handle = await open(real, READ_FLAGS);
    return await describeFile(path, handle);
  } catch {
    return null;
  }
}

async function describeFile(path: AgencyPath, handle: FileHandle): Promise<AgentFile<AgencyPath>> {
  const { size, mtimeMs } = await handle.stat();
  const contentType = getContentType(await fileStart(handle, KIND_BYTES), lastSegment(path));
  return { kind: 'file', path, size, contentType, modifiedAt: Math.floor(mtimeMs) };
}
