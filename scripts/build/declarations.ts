import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import type { PublishedPackage } from './packages.ts';

const OUT = '.work/declarations';

/** Writes the declarations of all packages, then copies the declarations that their exports reach to each `dist/`. */
export function declare(packages: readonly PublishedPackage[]): void {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const config = resolve(OUT, 'tsconfig.json');
  const entries = packages.flatMap((found) =>
    entriesOf(found).map((file) => join('packages', found.folder, 'src', file)),
  );
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: resolve('packages'),
    outDir: resolve(OUT),
  };
  writeFileSync(
    config,
    JSON.stringify({
      extends: resolve('tsconfig.json'),
      compilerOptions,
      include: [],
      files: entries.map((file) => resolve(file)),
    }),
  );
  const { status } = spawnSync('tsc', ['-p', config, '--checkers', '1'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The declarations could not be made; see above.');
  for (const { folder, ...found } of packages) {
    for (const file of entriesOf({ folder, ...found }))
      copy(join(OUT, folder, 'src'), join('packages', folder, 'dist'), declarationOf(file));
  }
}

const entriesOf = ({ exports, files }: PublishedPackage): string[] =>
  Object.values(exports).map((file) => files[file] as string);

const declarationOf = (source: string) => source.replace(/\.ts$/, '.d.ts');

/** Its declarations are copied into each package whose declarations name it: it need not be installed beside them. */
const COPIED: Readonly<Record<string, string>> = {
  '@runwire/contract': 'index',
  '@runwire/contract/routes': 'routes.gen',
};
const IMPORTS = /(from |import\()(['"])(@runwire\/contract(?:\/routes)?|\.[^'"]+(?=\.ts\2))(?:\.ts)?\2/g;

/** Copies a declaration and its imports. The imports name sources; in `dist/` they name what Node would load. */
function copy(from: string, to: string, file: string): void {
  const target = join(to, file);
  if (existsSync(target)) return;
  const text = readFileSync(join(from, file), 'utf8');
  mkdirSync(dirname(target), { recursive: true });
  const depth = posix.relative(posix.dirname(file), '.') || '.';
  const shown = (path: string) => (path in COPIED ? `${depth}/contract/${COPIED[path]}` : path);
  writeFileSync(
    target,
    text.replaceAll(IMPORTS, (_, start, quote, path) => `${start}${quote}${shown(path)}.js${quote}`),
  );
  for (const [, , , path = ''] of text.matchAll(IMPORTS)) {
    if (path in COPIED) copy(join(OUT, 'contract/src'), join(to, 'contract'), `${COPIED[path]}.d.ts`);
    else copy(from, to, posix.join(posix.dirname(file), `${path}.d.ts`));
  }
}
