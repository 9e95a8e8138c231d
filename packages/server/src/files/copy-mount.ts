import { createHash } from 'node:crypto';
import { StoreUnavailable } from '../domain/unavailable.ts';
import { MountConflict, type MountFile, type MountStore, type WalkedFile } from './mount-store.ts';

/** Copied at once: enough to keep a disk busy with its syncs, and at most so many files open. */
const AT_ONCE = 8;
/** How often a file is read that changes while it is read. */
const TRIES = 3;

/** A file of a copy; its bytes are kept under their hash. */
export interface MountLine {
  readonly integration: string;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly contentType: string;
  readonly modifiedAt: string;
}

export interface OddFile {
  readonly integration: string;
  readonly path: string;
  /** Why it is not in the copy, or not surely as it was at any moment. */
  readonly reason: string;
}

/** Where the bytes of a copy lie. */
export interface BytesPlace {
  draft(
    bytes: AsyncIterable<Uint8Array>,
  ): Promise<AsyncDisposable & { readonly size: number; readonly sha256: string; keep(): Promise<void> }>;
  read(sha256: string): AsyncIterable<Uint8Array>;
}

export interface CopiedMount {
  /** Those that are in the copy now, as they are copied. */
  readonly lines: AsyncIterable<readonly MountLine[]>;
  /** Counted as `lines` is read. */
  readonly count: () => number;
  readonly bytes: () => number;
  /** There, and not to be read. */
  readonly missing: () => readonly OddFile[];
  /** In the copy as they were last read, though they never stood still meanwhile. */
  readonly unsteady: () => readonly OddFile[];
}

/** A file of a copy has not the bytes that it was listed with. */
export class CopyDamaged extends Error {
  override readonly name = 'CopyDamaged';
}

/**
 * Copies the mounts of these integrations out of their store. Each file is whole, as one moment had it; those moments
 * differ, as uploads go on. One that is deleted before it is read is not in the copy, one that comes meanwhile perhaps.
 */
export function copyMountOut(
  integrations: AsyncIterable<readonly string[]>,
  from: MountStore,
  to: BytesPlace,
): CopiedMount {
  const missing: OddFile[] = [];
  const unsteady: OddFile[] = [];
  let count = 0;
  let bytes = 0;

  const copyOne = async ([integration, { path }]: readonly [string, WalkedFile]): Promise<MountLine | null> => {
    for (let tries = 1; ; tries += 1) {
      await using opened = await from.open(integration, path).catch(unreadable);
      if (opened === null) return null;
      await using draft = await to.draft(readable(opened.bytes));
      const { size, sha256 } = draft;
      const { file } = opened;
      const isSteady = size === file.size && isSame(file, await from.find(integration, path));
      if (!isSteady && tries < TRIES) continue;
      if (!isSteady) unsteady.push({ integration, path, reason: `it changed while it was read, ${TRIES} times` });
      await draft.keep();
      const { contentType, modifiedAt } = file;
      return { integration, path, size, sha256, contentType, modifiedAt: new Date(modifiedAt).toISOString() };
    }
  };
  const copyReadable = async (one: readonly [string, WalkedFile]): Promise<MountLine | null> => {
    try {
      return await copyOne(one);
    } catch (error) {
      // What may be tried again later is no lost file; nor is a copy that cannot be written.
      if (!(error instanceof Unreadable)) throw error;
      missing.push({ integration: one[0], path: one[1].path, reason: error.message });
      return null;
    }
  };
  async function* copied() {
    for await (const lines of inParallel(filesOf(integrations, from), copyReadable)) {
      const done = lines.filter((line) => line !== null);
      count += done.length;
      bytes += done.reduce((sum, { size }) => sum + size, 0);
      if (done.length > 0) yield done;
    }
  }
  return { lines: copied(), count: () => count, bytes: () => bytes, missing: () => missing, unsteady: () => unsteady };
}

/**
 * Copies files back into a store, which has none of them. Throws `CopyDamaged`, and then the file is not there. Of a file
 * and a folder of one name, as forms that are sent to S3 can make them, the store takes one: the others are `unplaced`.
 */
export async function copyMountIn(
  lines: AsyncIterable<readonly MountLine[]>,
  from: BytesPlace,
  to: MountStore,
): Promise<{ readonly count: number; readonly bytes: number; readonly unplaced: readonly OddFile[] }> {
  const unplaced: OddFile[] = [];
  let count = 0;
  let bytes = 0;
  const copyOne = async (line: MountLine): Promise<void> => {
    const { integration, path, contentType, size } = line;
    try {
      await to.write(integration, path, contentType, checked(line, from.read(line.sha256)));
    } catch (error) {
      if (!(error instanceof MountConflict)) throw error;
      unplaced.push({ integration, path, reason: 'a file and a folder have one name' });
      return;
    }
    count += 1;
    bytes += size;
  };
  for await (const _ of inParallel(flat(lines), copyOne));
  return { count, bytes, unplaced };
}

async function* filesOf(
  integrations: AsyncIterable<readonly string[]>,
  from: MountStore,
): AsyncGenerator<readonly [string, WalkedFile]> {
  for await (const integration of flat(integrations)) {
    for await (const file of from.walk(integration, '')) yield [integration, file];
  }
}

/** What the store itself fails to give. */
class Unreadable extends Error {}

async function* readable(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } catch (error) {
    unreadable(error);
  }
}

function unreadable(error: unknown): never {
  if (error instanceof StoreUnavailable) throw error;
  throw new Unreadable(error instanceof Error ? error.message : String(error));
}

const isSame = (file: MountFile, now: MountFile | null) =>
  now !== null && now.etag === file.etag && now.size === file.size && now.modifiedAt === file.modifiedAt;

/** Fails at its end where the bytes are not those of the line: whoever writes them keeps nothing then. */
async function* checked(
  { integration, path, sha256, size }: MountLine,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let sum = 0;
  const damaged = () => new CopyDamaged(`the file ${path} of the integration ${integration}`);
  try {
    for await (const piece of bytes) {
      hash.update(piece);
      sum += piece.length;
      yield piece;
    }
  } catch {
    throw damaged();
  }
  if (sum !== size || hash.digest('hex') !== sha256) throw damaged();
}

async function* flat<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

/** The results of some at a time. Where one fails the others of its time are waited for: nothing works on behind a failure. */
async function* inParallel<T, R>(all: AsyncIterable<T>, job: (one: T) => Promise<R>): AsyncGenerator<R[]> {
  let some: T[] = [];
  const done = async (): Promise<R[]> => {
    const ends = await Promise.allSettled(some.map(job));
    some = [];
    return ends.map((end) => {
      if (end.status === 'rejected') throw end.reason;
      return end.value;
    });
  };
  for await (const one of all) {
    some.push(one);
    if (some.length === AT_ONCE) yield await done();
  }
  if (some.length > 0) yield await done();
}
