import { delimiter } from 'node:path';

/** The folders of the machine's own programs: what npm scripts put on the path is the project's. */
export function machinePath(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
}

/** What npm and curl need to reach the world from this machine, and nothing of this process's own settings. */
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

/** Registries are nobody's business. */
export const withoutHosts = (text: string) => text.replace(/https?:\/\/(?!127\.0\.0\.1)[^\s/]+/g, 'https://…');
