import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { hasS3Gateway, postgresFolder } from '@runwire/test-kit';

/** Programs of the machine that some tests need, from Debian's own packages. */

const run = promisify(execFile);
const INSTALL_MS = 300_000;

export const NGINX = '/usr/sbin/nginx';
export const PGBOUNCER = '/usr/sbin/pgbouncer';
export const STRACE = '/usr/bin/strace';
export const CURL = '/usr/bin/curl';
export const CHROMIUM = '/usr/bin/chromium';
export const BUBBLEWRAP = '/usr/bin/bwrap';
export const PYTHON = '/usr/bin/python3';
export const MYPY = '/usr/bin/mypy';
export const CADDY = '/usr/bin/caddy';
export const SYSTEMD_ANALYZE = '/usr/bin/systemd-analyze';
export const XMLLINT = '/usr/bin/xmllint';

const COMMAND_PROGRAMS = [
  ...['bzip2', 'column', 'file', 'jq', 'patch', 'python3', 'sqlite3', 'unzip', 'xz', 'zip'].map(
    (name) => `/usr/bin/${name}`,
  ),
  ...['matplotlib', 'numpy', 'pandas'].map((name) => `/usr/lib/python3/dist-packages/${name}`),
];

interface Service {
  readonly packages: readonly string[];
  /** Checks for the program itself, because a folder may exist for its clients alone. */
  readonly isThere: () => boolean;
  /** True if the gate does not need it. */
  readonly isForProofs?: boolean;
}

export const SERVICES = {
  nginx: { packages: ['nginx-light'], isThere: () => existsSync(NGINX) },
  pgbouncer: { packages: ['pgbouncer'], isThere: () => existsSync(PGBOUNCER) },
  postgres: { packages: ['postgresql'], isThere: () => postgresFolder() !== null },
  s3: { packages: ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph-common'], isThere: hasS3Gateway },
  strace: { packages: ['strace'], isThere: () => existsSync(STRACE) },
  curl: { packages: ['curl'], isThere: () => existsSync(CURL) },
  chromium: { packages: ['chromium'], isThere: () => existsSync(CHROMIUM) },
  python: { packages: ['python3'], isThere: () => existsSync(PYTHON) },
  pip: { packages: ['python3-pip'], isThere: () => existsSync('/usr/bin/pip3') },
  mypy: { packages: ['mypy'], isThere: () => existsSync(MYPY) },
  caddy: { packages: ['caddy'], isThere: () => existsSync(CADDY) },
  systemd: { packages: ['systemd'], isThere: () => existsSync(SYSTEMD_ANALYZE) },
  bubblewrap: { packages: ['bubblewrap'], isThere: () => existsSync(BUBBLEWRAP) },
  xmllint: { packages: ['libxml2-utils'], isThere: () => existsSync(XMLLINT), isForProofs: true },
  /** What the image has for commands of agents. */
  commandPrograms: {
    packages: [
      ...['bsdextrautils', 'bzip2', 'file', 'jq', 'patch', 'python3', 'python3-matplotlib', 'python3-numpy'],
      ...['python3-pandas', 'sqlite3', 'unzip', 'xz-utils', 'zip'],
    ],
    isThere: () => COMMAND_PROGRAMS.every((path) => existsSync(path)),
    isForProofs: true,
  },
} satisfies Readonly<Record<string, Service>>;

export type ServiceName = keyof typeof SERVICES;

const FOR_THE_GATE = (Object.keys(SERVICES) as ServiceName[]).filter(
  (name) => (SERVICES[name] as Service).isForProofs !== true,
);

export const isRootOnDebian = () => process.getuid?.() === 0 && existsSync('/etc/debian_version');

/** `RUNLEVEL=1` keeps a package from starting its service. */
async function aptGet(...args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('apt-get', ['-y', '-o', 'DPkg::Lock::Timeout=240', ...args], { env, timeout: INSTALL_MS });
}

async function install(packages: readonly string[]): Promise<void> {
  const get = () => aptGet('install', '--no-install-recommends', ...packages);
  try {
    await get();
  } catch {
    // A fresh machine has no lists of packages.
    await aptGet('update');
    await get();
  }
}

/**
 * Installs missing programs if possible, and prints which ones before. Returns a line for each program that is still missing, with how to get it. If
 * `CI` is set, tests may not be skipped, so it throws instead.
 */
export async function missingServices(
  names: readonly ServiceName[] = FOR_THE_GATE,
  installPackages = install,
): Promise<string[]> {
  const absent = () => names.filter((name) => !SERVICES[name].isThere());
  if (absent().length === 0) return [];
  let reason = '';
  if (isRootOnDebian()) {
    const packages = absent().flatMap((name) => SERVICES[name].packages);
    process.stderr.write(`Tests need Debian packages, which are installed now with apt-get: ${packages.join(', ')}\n`);
    try {
      await installPackages(packages);
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message.split('\n')[0] : error})`;
    }
  }
  const lines = absent().map(
    (name) =>
      `${name} is not installed; get it with: apt-get install -y --no-install-recommends ${SERVICES[name].packages.join(' ')}${reason}`,
  );
  if (process.env.CI && lines.length > 0) throw new Error(lines.join('\n'));
  return lines;
}

/** Returns null if the program exists, otherwise the line with how to get it, as a skip's reason. */
export async function missingService(name: ServiceName): Promise<string | null> {
  return (await missingServices([name]))[0] ?? null;
}

/** Returns null if bubblewrap can run here, otherwise a skip's reason. */
export async function missingBubblewrap(): Promise<string | null> {
  const missing = await missingService('bubblewrap');
  if (missing !== null) return missing;
  const { status } = spawnSync(BUBBLEWRAP, ['--unshare-user', '--ro-bind', '/', '/', '/bin/true']);
  return status === 0 ? null : 'bubblewrap cannot run here, because namespaces are forbidden';
}
