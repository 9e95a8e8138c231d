import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** Programs of the machine that some tests stand on, from Debian's own packages. */

const run = promisify(execFile);
const INSTALL_MS = 300_000;

export const NGINX = '/usr/sbin/nginx';
const HOW_TO_GET_NGINX = 'nginx is not installed; get it with: apt-get install -y nginx-light';

const isRootOnDebian = () => process.getuid?.() === 0 && existsSync('/etc/debian_version');

/** Nothing is started by it: `RUNLEVEL=1` keeps a package from starting its service. */
async function aptGet(...args: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  await run('apt-get', ['-y', '-o', 'DPkg::Lock::Timeout=240', ...args], { env, timeout: INSTALL_MS });
}

async function installNginx(): Promise<void> {
  const install = () => aptGet('install', '--no-install-recommends', 'nginx-light');
  try {
    await install();
  } catch {
    // A fresh machine has no lists of packages.
    await aptGet('update');
    await install();
  }
}

/**
 * Null: nginx is there. Otherwise the line that says how to get it, for whoever leaves something out for want of it;
 * where `CI` is set nothing is left out, and it throws.
 */
export async function missingNginx(): Promise<string | null> {
  if (existsSync(NGINX)) return null;
  let reason = '';
  if (isRootOnDebian()) {
    try {
      await installNginx();
    } catch (error) {
      reason = ` (${error instanceof Error ? error.message.split('\n')[0] : error})`;
    }
    if (existsSync(NGINX)) return null;
  }
  const line = `${HOW_TO_GET_NGINX}${reason}`;
  if (process.env.CI) throw new Error(line);
  return line;
}
