import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { type PublishedPackage, publishedPackages } from './packages.ts';

const OUT = '.work/declarations';

/** Writes the declarations of all packages, then copies the declarations that their exports reach to each `dist/`. */
export function declare(packages: readonly PublishedPackage[]): void {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  const config = resolve(OUT, 'tsconfig.json');
  const entries = packages.flatMap((found) =>
    getEntries(found).map((file) => join('packages', found.folder, 'src', file)),
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
  for (const found of packages) {
    const own = `@runwire/${found.folder}`;
    const installed = [...found.needs, ...(found.types ?? [])];
    for (const file of getEntries(found))
      copy({ dist: join('packages', found.folder, 'dist'), own, installed }, { folder: found.folder, file });
  }
}

const getEntries = ({ exports, files }: PublishedPackage): string[] =>
  Object.values(exports).map((file) => files[file] as string);

const toDeclaration = (source: string) => source.replace(/\.ts$/, '.d.ts');

/** A source file: its folder below `packages/`, and its path below `src/`. */
interface Source {
  readonly folder: string;
  readonly file: string;
}

/** Import path of a package → its entry. A package that is not installed with another one is copied into it. */
const ENTRIES: ReadonlyMap<string, Source> = new Map(
  publishedPackages.flatMap(({ folder, exports, files }) =>
    Object.entries(exports).map(([path, file]): [string, Source] => [
      posix.join('@runwire', folder, path),
      { folder, file: files[file] as string },
    ]),
  ),
);
/** The parts that all packages share have no entries. */
const SHARED = /^@runwire\/(lib)\/(.+)$/;
const IMPORTS = /(from |import\()(['"])(@runwire\/[^'"]+|\.[^'"]+\.ts)\2/g;

/** The package whose `dist/` gets declarations. */
interface Target {
  readonly dist: string;
  readonly own: string;
  /** The packages that npm installs with it. */
  readonly installed: readonly string[];
}

/** Finds the source that an import names. Returns null if its package is installed. */
function findSource({ folder, file }: Source, path: string, { installed }: Target): Source | null {
  if (path.startsWith('.')) return { folder, file: posix.join(posix.dirname(file), path) };
  if (installed.includes(path)) return null;
  const [, shared, inside = ''] = SHARED.exec(path) ?? [];
  return (shared === undefined ? ENTRIES.get(path) : { folder: shared, file: inside }) ?? null;
}

/** Copies a declaration and its imports. The imports name sources; in `dist/` they name what Node would load. */
function copy(target: Target, source: Source): void {
  const getPlace = ({ folder, file }: Source) =>
    target.own === `@runwire/${folder}` ? file : posix.join(folder, file);
  const place = getPlace(source);
  const out = join(target.dist, toDeclaration(place));
  if (existsSync(out)) return;
  const text = readFileSync(join(OUT, source.folder, 'src', toDeclaration(source.file)), 'utf8');
  const needed: Source[] = [];
  const shown = text.replaceAll(IMPORTS, (whole, start, quote, path) => {
    const found = findSource(source, path, target);
    if (found === null) return whole;
    needed.push(found);
    const relative = posix.relative(posix.dirname(place), getPlace(found)).replace(/\.ts$/, '.js');
    return `${start}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`;
  });
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, shown);
  for (const one of needed) copy(target, one);
}
