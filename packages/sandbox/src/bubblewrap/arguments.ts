import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxCommand, SandboxLimits, SandboxUser } from '../sandbox.ts';

/** The user inside, and outside too if the server is root: root has no process limit. No system assigns this number. */
export const SANDBOX_USER: SandboxUser = { uid: 65_530, gid: 65_530 };

/** The descriptors that bubblewrap gets besides stdin, stdout and stderr. */
export const DESCRIPTORS = { args: 3, seccomp: 4, info: 5, passwd: 6, group: 7 } as const;

export const PASSWD = `sandbox:x:${SANDBOX_USER.uid}:${SANDBOX_USER.gid}:sandbox:/tmp:/bin/bash\n`;
export const GROUP = `sandbox:x:${SANDBOX_USER.gid}:\n`;

const TEMPORARY_BYTES = 64 * 1024 * 1024;
const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;
const OPEN_FILES = 1024;
const NICENESS = 10;

/** Not `/usr` itself, because other folders there can contain data. `/usr/local` has the programs that the operator adds. */
const SYSTEM_FOLDERS = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/usr/lib32',
  '/usr/lib64',
  '/usr/libexec',
  '/usr/local',
  '/usr/share',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/etc/alternatives',
  '/etc/fonts',
];
const SYSTEM_FILES = ['/etc/ld.so.cache', '/etc/localtime', '/etc/matplotlibrc', '/etc/mime.types'];

function getKind(path: string): 'folder' | 'file' | 'link' | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) return 'link';
  return stats?.isDirectory() ? 'folder' : stats?.isFile() ? 'file' : null;
}

/** Returns the arguments that show the machine's programs, read-only. */
export function systemArguments(): string[] {
  const folders = SYSTEM_FOLDERS.flatMap((path) => {
    const kind = getKind(path);
    if (kind === 'link') return ['--symlink', readlinkSync(path), path];
    return kind === 'folder' ? ['--ro-bind', path, path] : [];
  });
  const files = SYSTEM_FILES.flatMap((path) => (getKind(path) === null ? [] : ['--ro-bind', path, path]));
  return [...folders, ...files];
}

export interface Surroundings {
  readonly system: readonly string[];
  /** True if the command gets its own `/proc`. It cannot be mounted if the machine masks a part of its own. */
  readonly proc: boolean;
}

const ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  HOME: '/tmp',
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  USER: 'sandbox',
};

/** Returns the arguments that bubblewrap reads from a descriptor: on its command line, other users could see them. */
export function bubblewrapArguments({ system, proc }: Surroundings, command: SandboxCommand): string[] {
  const { folder, agencyFolder, workingFolder } = command;
  const inside = join('/app/mnt', workingFolder);
  return [
    ...['user', 'ipc', 'pid', 'net', 'uts', 'cgroup'].map((name) => `--unshare-${name}`),
    ...['--disable-userns', '--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--as-pid-1'],
    ...['--uid', String(SANDBOX_USER.uid), '--gid', String(SANDBOX_USER.gid), '--hostname', 'sandbox'],
    ...['--seccomp', String(DESCRIPTORS.seccomp), '--info-fd', String(DESCRIPTORS.info)],
    ...system,
    ...['--ro-bind-data', String(DESCRIPTORS.passwd), '/etc/passwd'],
    ...['--ro-bind-data', String(DESCRIPTORS.group), '/etc/group'],
    ...(proc ? ['--proc', '/proc'] : ['--tmpfs', '/proc', '--remount-ro', '/proc']),
    ...['--dev', '/dev', '--perms', '1777', '--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm'],
    ...['--remount-ro', '/dev', '--perms', '1777', '--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp'],
    ...['--bind', join(folder, workingFolder), inside],
    ...(agencyFolder === null ? [] : ['--ro-bind', agencyFolder, '/app/agency']),
    ...['--remount-ro', '/', '--chdir', inside],
    ...Object.entries({ ...ENVIRONMENT, RUNWIRE_COMMAND: command.command }).flatMap((entry) => ['--setenv', ...entry]),
  ];
}

/**
 * Returns the script that is process 1 inside. When it ends, the kernel ends all other processes. It closes all
 * descriptors that the server inherited, sets the limits, and runs the command as a child.
 */
export function firstProcess(limits: SandboxLimits, proc: boolean): string {
  const open = proc ? '/proc/self/fd/*' : `{3..${64 * 1024}}`;
  const ulimits = {
    c: 0,
    n: OPEN_FILES,
    u: limits.processes,
    f: Math.ceil(limits.fileBytes / 1024),
    v: limits.processMemoryMib * 1024,
  };
  return [
    'exec 2>&1',
    `for path in ${open}; do fd=\${path##*/}; if ((fd > 2)); then exec {fd}>&-; fi; done`,
    // If the machine has no memory left, the kernel ends the command first.
    ...(proc ? ['echo 1000 > /proc/self/oom_score_adj'] : []),
    // One by one: a limit cannot be raised above that of the server, and this must not keep the others from being set.
    ...Object.entries(ulimits).map(([option, value]) => `ulimit -${option} ${value} 2> /dev/null`),
    'command=$RUNWIRE_COMMAND',
    'unset RUNWIRE_COMMAND path fd OLDPWD',
    // The server must get the processor to watch the command.
    `/usr/bin/env nice -n ${NICENESS} bash -c "$command"`,
    'exit $?',
  ].join('\n');
}
