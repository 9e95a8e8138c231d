import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { type ScannedCode, scanCode } from './code-scanner.ts';
import { packageEntries, packageFolders } from './rules.ts';

/** Path from the repository's root, with `/`, → text. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  readonly specifier: string;
  /** `static` is loaded with the file, `dynamic` by `import()`, `type` never, `url` is a worker's file. */
  readonly kind: 'static' | 'dynamic' | 'type' | 'url';
  /** The names between `import` and `from`. */
  readonly clause: string;
  readonly line: number;
  /** The file of this repository that it means; undefined for modules of Node and of others. */
  readonly target: string | undefined;
}

const sourceFolders = ['test', 'proofs', 'bench', 'scripts', 'requirements'];

export function readSources(root: string): Sources {
  const sources = new Map<string, string>();
  const packages = join(root, 'packages');
  const folders = existsSync(packages) ? readdirSync(packages).map((name) => `packages/${name}/src`) : [];
  for (const folder of [...folders, ...sourceFolders]) {
    if (!existsSync(join(root, folder))) continue;
    for (const entry of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${entry.replaceAll('\\', '/')}`;
      // `test/data` has code of other people's projects, as data.
      if (/\.tsx?$/.test(path) && !path.includes('/node_modules/') && !path.startsWith('test/data/')) {
        sources.set(path, readFileSync(join(root, path), 'utf8'));
      }
    }
  }
  return new Map([...sources].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const scanned = { ts: new Map<string, ScannedCode>(), tsx: new Map<string, ScannedCode>() };

export function scannedCode(path: string, text: string): ScannedCode {
  const hasJsx = path.endsWith('.tsx');
  const known = scanned[hasJsx ? 'tsx' : 'ts'];
  const code = known.get(text) ?? scanCode(text, hasJsx);
  known.set(text, code);
  return code;
}

/** A file's code without comments and without its strings' contents. */
export function getCode(path: string, text: string): string {
  return scannedCode(path, text).mask;
}

const fromStatement = /(?<![\w$.])(?:import|export)(\s+type)?(?=[\s{*])([\w\s{},*$]*?)(?<![\w$])from\s*(?=['"])/g;
const bareImport = /(?<![\w$.])import\s*(?=['"])/g;
const dynamicImport = /(?<![\w$.])import\s*\(\s*(?=['"`])/g;
const workerUrl = /(?<![\w$.])new\s+URL\s*\(\s*(?=['"])/g;

export function listImports(path: string, text: string): Import[] {
  const code = getCode(path, text);
  const found: Import[] = [];
  const add = (match: RegExpExecArray, kind: Import['kind'], clause = '') => {
    const start = match.index + match[0].length;
    const end = code.indexOf(code[start] as string, start + 1);
    const specifier = text.slice(start + 1, end);
    if (kind === 'url' && !/^\..*\.tsx?$/.test(specifier)) return;
    const line = text.slice(0, match.index).split('\n').length;
    found.push({ specifier, kind, clause: clause.trim(), line, target: resolveImport(path, specifier) });
  };
  for (const match of code.matchAll(fromStatement)) {
    const clause = match[2] ?? '';
    add(match, match[1] !== undefined || hasTypesAlone(clause) ? 'type' : 'static', clause);
  }
  for (const match of code.matchAll(bareImport)) add(match, 'static');
  for (const match of code.matchAll(dynamicImport)) add(match, 'dynamic');
  for (const match of code.matchAll(workerUrl)) add(match, 'url');
  return found;
}

function hasTypesAlone(clause: string): boolean {
  const names =
    /^\s*\{([^}]*)\}\s*$/
      .exec(clause)?.[1]
      ?.split(',')
      .map((name) => name.trim()) ?? [];
  const given = names.filter((name) => name !== '');
  return given.length > 0 && given.every((name) => name.startsWith('type '));
}

function resolveImport(path: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier);
  const prefix = Object.keys(packageFolders).find((name) => specifier.startsWith(name));
  if (prefix !== undefined) return `${packageFolders[prefix]}${specifier.slice(prefix.length)}`;
  return packageEntries[specifier];
}

/** `*` stands for a part of one name, `**` for any path; a pattern without either is a file or a whole folder. */
export function matchesPattern(path: string, pattern: string): boolean {
  if (!pattern.includes('*')) return path === pattern || path.startsWith(`${pattern}/`);
  const expression = pattern
    .split('**')
    .map((part) => part.split('*').map(escapeExpression).join('[^/]*'))
    .join('.*');
  return new RegExp(`^${expression}$`).test(path);
}

export function matchesAny(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => matchesPattern(path, pattern));
}

function escapeExpression(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.endsWith('.test.tsx');
}
