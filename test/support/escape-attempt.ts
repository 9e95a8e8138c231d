/** What the attempts are about. Each has at least one attempt. */
export const ITEMS = [
  'host files',
  'data folder',
  'agencies',
  "other members' files",
  'environment of the server',
  'descriptors of the server',
  'host paths in /proc',
  'TCP',
  'UDP',
  'DNS',
  'abstract sockets',
  'vsock',
  'netlink',
  'keyrings',
  'nested namespaces',
  'mount',
  'ptrace',
  'BPF',
  'io_uring',
  'fork bomb',
  'memory of one process',
  'memory of many processes',
  '10 GB file',
  'sparse file',
  '100 000 files',
  'full /tmp',
  'full /dev/shm',
  'endless output',
  'ignored signals',
  'daemons',
  'kill -1',
  'links',
  'FIFOs',
  'devices',
  'set-uid files',
  'forbidden names',
] as const;

export type Item = (typeof ITEMS)[number];

/**
 * How success is seen:
 * - `printed`: the output contains a planted secret, or `reached-42`, which no command contains
 * - `heard`: a listener on the machine got the attempt's token
 * - `changed`: a file outside of the folder of the command contains the token
 * - `ended`: a process of the server's user ended
 * - `late`: the folder of the command changed after its end
 * - `flooded`: more output arrived than allowed
 * - `memory`, `disk`, `processes`: the processes or the folder became larger than their bounds
 * - `size`, `entries`: the folder has a file, or a number of files, above the limits, and it would be published
 * - `published`: a file with one of `names` would be published
 */
export const SIGNS = [
  'printed',
  'heard',
  'changed',
  'ended',
  'late',
  'flooded',
  'memory',
  'disk',
  'processes',
  'size',
  'entries',
  'published',
] as const;

export type Sign = (typeof SIGNS)[number];

export interface Attempt {
  readonly name: string;
  readonly item: Item;
  /** Text for bash. It finds the planted things by the variables that `Host` gives it. */
  readonly command: string;
  readonly seen: Sign;
  /** True if only root succeeds without the sandbox. */
  readonly root?: boolean;
  /** `$N` without the sandbox and in it. Outside it must be bounded. */
  readonly sizes?: readonly [control: number, attempt: number];
  readonly seconds?: number;
  /** The only variables that it gets, because `/proc` shows its variables. */
  readonly variables?: readonly string[];
  readonly names?: readonly string[];
}

/** These signs are measured, so their attempts are made one after the other. */
export const MEASURED: ReadonlySet<Sign> = new Set(['memory', 'disk', 'processes', 'size', 'entries', 'flooded']);

/** Returns the number of a system call on this machine. */
export const call = (x64: number, arm64 = x64): number => (process.arch === 'arm64' ? arm64 : x64);

export const perl = (text: string) => `perl -e '${text}'`;
export const REACHED = 'print "reached-", 40 + 2, "\\n"';
/** Succeeds if the system call does. */
export const systemCall = (number: number, args: string, before = '') =>
  perl(`${before} ${REACHED} if syscall(${number}, ${args}) >= 0`);
/** Succeeds if a socket of this kind can be opened. */
export const socket = (family: number, type: number, protocol: number) =>
  perl(`${REACHED} if socket(S, ${family}, ${type}, ${protocol})`);

/** Looks for a text, which is given in reverse, in everything that `/proc` shows. */
export const SCAN = perl(`
  $path = reverse $ENV{HOST_REVERSED};
  for $one (glob "/proc/[0-9]* /proc/self") {
    for (qw(mountinfo mounts mountstats cmdline environ maps)) {
      open F, "<", "$one/$_" or next;
      local $/;
      $all .= <F>;
    }
    $all .= readlink($_) . "\\n" for "$one/cwd", "$one/root", "$one/exe", glob "$one/fd/*";
  }
  ${REACHED} if index($all, $path) >= 0`);

/** A storage replaces it in an upload's key. */
export const FORM_VARIABLE = '$' + '{filename}';
export const CLONE_NEWUSER = 0x10000000;
export const SIGCHLD = 17;
export const PTRACE_SEIZE = 0x4206;
export const [VSOCK, NETLINK, PACKET] = [40, 16, 17];
