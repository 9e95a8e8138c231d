import { delimiter } from 'node:path';

/** The folders on the path, without the folders that npm scripts add. */
export function machinePath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
}

/** The variables that npm and curl need for this machine's network, and no other setting of this process. */
export function newcomersEnvironment(path: string): Record<string, string> {
  const env: Record<string, string> = { PATH: path };
  for (const [name, value] of Object.entries(process.env)) {
    const isKept =
      /^(HOME|USER|LANG|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/.test(name) ||
      /^(https?|no|all)_proxy$/i.test(name) ||
      (/^npm_config_/i.test(name) && !/_(local_prefix|global_prefix|prefix)$/i.test(name));
    if (isKept && value !== undefined) env[name] = value;
  }
  return env;
}

/** Hides the hosts of registries. */
export const withoutHosts = (text: string) => text.replace(/https?:\/\/(?!127\.0\.0\.1)[^\s/]+/g, 'https://…');
