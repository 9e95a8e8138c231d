import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { UsageError } from '../exit-codes.ts';
import { projectFiles } from './project-files.ts';

export interface Project {
  /** The whole path. */
  readonly folder: string;
  readonly files: readonly string[];
  /** The commands that install and start it. */
  readonly nextSteps: readonly string[];
}

const KEY_BYTES = 32;
/** Readable by its owner alone: it has the key. */
const SECRET_MODE = 0o600;
const FILE_MODE = 0o644;

/** Makes a project. Refuses if a file is in the way, and writes nothing then. */
export function createProject(
  folder: string,
  { agency, version }: { readonly agency: string; readonly version: string },
): Project {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(agency)) {
    throw new UsageError(
      `The agency is called \`${agency}\`; use lower case letters, digits and hyphens, such as \`helper\`.`,
    );
  }
  if (agency === 'demo') throw new UsageError('`demo` is the bundled agency; choose another name, such as `helper`.');
  const target = resolve(folder);
  const apiKey = randomBytes(KEY_BYTES).toString('base64url');
  const files = projectFiles({ name: packageName(basename(target)), agency, version, apiKey });
  const inTheWay = Object.keys(files).filter((path) => existsSync(join(target, path)));
  if (inTheWay.length > 0) {
    throw new Error(`${target} has ${inTheWay.join(', ')} already; name an empty or new folder. Nothing was written.`);
  }
  for (const [path, { text, isSecret }] of Object.entries(files)) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), text, { flag: 'wx', mode: isSecret ? SECRET_MODE : FILE_MODE });
  }
  const path = relative(process.cwd(), target);
  const shown = path.startsWith('..') ? target : path;
  const enter = path === '' ? [] : [`cd ${shown}`];
  return { folder: target, files: Object.keys(files), nextSteps: [...installSteps(target, enter), 'npm start'] };
}

/** If this program runs in a clone, the packages may be in no registry: the clone packs its own (docs/install.md). */
function installSteps(target: string, enter: readonly string[]): string[] {
  const own = import.meta.dirname;
  if (own.split(sep).includes('node_modules')) return [...enter, 'npm install'];
  const clone = own.slice(0, own.lastIndexOf(join(sep, 'packages', 'cli')));
  const inClone = (command: string) => `npm --prefix ${clone} run --silent ${command}`;
  return [inClone('build'), inClone(`install-into -- ${target}`), ...enter];
}

/** npm allows fewer names than file systems. */
const packageName = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'agents';
