import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './cli-process.ts';

interface Service {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly networks?: Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly ports?: readonly string[];
  readonly extra_hosts?: readonly string[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
}

export function readCompose(path = 'compose.yaml'): ComposeFile {
  return parse(readFileSync(join(root, path), 'utf8'), { merge: true }) as ComposeFile;
}

export function getNodes(compose: ComposeFile): (readonly [string, Service])[] {
  return Object.entries(compose.services).filter(([name]) => name.startsWith('node-'));
}

/** Replaces variables as Compose does: `${NAME}`, `${NAME:-otherwise}`, `${NAME:?what to do}`. */
export function filledIn(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string, rest: string) => {
    const value = variables[name] ?? '';
    if (value !== '') return value;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest ?? '';
  });
}

/** Returns each node's environment. */
export function nodeEnvironments(
  compose: ComposeFile,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>>[] {
  return getNodes(compose).map(([, { environment = {} }]) =>
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filledIn(String(value), variables)])),
  );
}
