import { readdir, readFile, readlink, stat, statfs } from 'node:fs/promises';

/** What the kernel needs at most for a socket, for one whose buffers grow, and for a file in memory. */
const SOCKET_KIB = 256;
const TCP_SOCKET_KIB = 5 * 1024;
const MEMORY_FILE_KIB = 2;
const MEMORY_FOLDERS = ['tmp', 'dev/shm'];

const isProcess = (name: string) => /^\d+$/.test(name);

/** Reads a file of `/proc`. Resolves to '' if its process has ended. */
const read = (path: string) => readFile(path, 'latin1').catch(() => '');

/**
 * Returns the folders in `/proc` of all processes in the namespace of `first`, its process 1. They are read from the
 * namespace's own `/proc`, because that of the machine can list thousands of processes.
 */
export async function namespaceProcesses(first: number): Promise<string[]> {
  const inside = `/proc/${first}/root/proc`;
  try {
    const spaces = [readlink(`${inside}/1/ns/pid`), readlink(`/proc/${first}/ns/pid`)];
    const [own, expected] = await Promise.all(spaces);
    // Until bubblewrap has changed its root, this is the machine's own `/proc`.
    if (own === expected) return (await readdir(inside)).filter(isProcess).map((pid) => `${inside}/${pid}`);
  } catch {
    // The namespace has no `/proc`, or this user may not look into it.
  }
  return descendants(first);
}

/** Returns the parent in a `stat` of a process. The name before it is the command's choice, and may contain `) S 1 `. */
export const parentIn = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2] ?? 0);

async function descendants(first: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(isProcess);
  const children = new Map<number, number[]>();
  await Promise.all(
    pids.map(async (pid) => {
      const parent = parentIn(await read(`/proc/${pid}/stat`));
      children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
    }),
  );
  const found = [first];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found.map((pid) => `/proc/${pid}`);
}

function computeSum(texts: readonly string[], fields: RegExp): number {
  let kib = 0;
  for (const text of texts) for (const [, value] of text.matchAll(fields)) kib += Number(value);
  return kib;
}

/**
 * Resolves to the memory that the kernel may need for the sockets, and for the files in memory, of the namespaces of
 * `first`. No process shows it as its own.
 */
export async function kernelKib(first: number): Promise<number> {
  const root = `/proc/${first}/root`;
  const [sockets, sockets6, ...files] = await Promise.all([
    read(`/proc/${first}/net/sockstat`),
    read(`/proc/${first}/net/sockstat6`),
    ...MEMORY_FOLDERS.map((folder) => filesIn(root, folder)),
  ]);
  const count = (text: string, line: RegExp) => Number(line.exec(text)?.[1] ?? 0);
  const tcp = count(sockets, /^TCP: inuse (\d+)/m) + count(sockets6, /^TCP6: inuse (\d+)/m);
  const all = count(sockets, /^sockets: used (\d+)/m);
  return all * SOCKET_KIB + tcp * TCP_SOCKET_KIB + files.reduce((sum, one) => sum + one, 0) * MEMORY_FILE_KIB;
}

/** Resolves to 0 until bubblewrap has changed the process's root: before that, the folder is one of the machine. */
async function filesIn(root: string, folder: string): Promise<number> {
  try {
    const [inside, outside] = await Promise.all([stat(root), stat('/')]);
    if (inside.dev === outside.dev) return 0;
    const { files, ffree } = await statfs(`${root}/${folder}`);
    return files - ffree;
  } catch {
    return 0;
  }
}

/** Memory that several processes can map, as the lines of `maps` name it. */
const SHARED = /^([0-9a-f]+)-([0-9a-f]+) ..[-x]s \S+ (\S+ \d+) +\/dev\/zero \(deleted\)$/gm;
/** A process can fill shared memory and give most of its addresses back between two looks. */
const LEAST_SHARED_KIB = 32 * 1024;

/** Watches one command's memory. */
export class MemoryWatch {
  readonly #limitKib: number;
  /** Shared memory → the most of it that was seen. It stays as large until no process maps any of it. */
  #shared: ReadonlyMap<string, number> = new Map();

  constructor(limitMib: number) {
    this.#limitKib = limitMib * 1024;
  }

  /**
   * True if processes use more memory than allowed. Files of the disk that they map do not count. Memory that several
   * processes have since a fork counts several times at first; only if that is too much, it is divided, which costs more.
   * `otherKib` is added.
   */
  async isExceeded(processes: readonly string[], otherKib: number): Promise<boolean> {
    const readAll = (file: string) => Promise.all(processes.map((folder) => read(`${folder}/${file}`)));
    const [statuses, maps] = await Promise.all([readAll('status'), readAll('maps')]);
    const limitKib = this.#limitKib - otherKib - this.#sharedKib(maps);
    if (computeSum(statuses, /^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+)/gm) <= limitKib) return false;
    const divided = computeSum(await readAll('smaps_rollup'), /^(?:Pss_Anon|SwapPss):\s+(\d+)/gm);
    // 0 if the files cannot be read.
    return divided === 0 || divided > limitKib;
  }

  #sharedKib(maps: readonly string[]): number {
    const sizes = new Map<string, number>();
    for (const text of maps) {
      for (const [, from = '', to = '', memory = ''] of text.matchAll(SHARED)) {
        const kib = (Number.parseInt(to, 16) - Number.parseInt(from, 16)) / 1024;
        sizes.set(memory, Math.max(sizes.get(memory) ?? this.#shared.get(memory) ?? LEAST_SHARED_KIB, kib));
      }
    }
    this.#shared = sizes;
    return [...sizes.values()].reduce((sum, kib) => sum + kib, 0);
  }
}
