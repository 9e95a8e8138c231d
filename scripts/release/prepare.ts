import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinLicences } from '../build/licences.ts';
import { publishedPackages } from '../build/packages.ts';
import { releaseSbom, type Sbom } from '../build/sbom.ts';
import { sbomChecker } from './check-sbom.ts';
import { fileIntegrity, type PackedFile, type ReleaseList, writeList } from './list.ts';
import { packPackages, packPython } from './pack.ts';
import { run } from './run.ts';

interface Manifest {
  readonly version: string;
  readonly license: string;
}

const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const print = (text: string) => process.stdout.write(`${text}\n`);
const step = (name: string) => print(`\nrelease: ${name} …`);

/** Writes the bill of materials of all packages, and checks it and the bill of each. */
function writeSbom(folder: string, { version, license }: Manifest, dists: readonly string[]): string {
  const parts: Sbom[] = dists.map((dist) => JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')));
  const whole = releaseSbom({ name: 'runwire', version, license }, parts);
  const check = sbomChecker();
  const problems = [whole, ...parts].flatMap((sbom) =>
    check(sbom).map((problem) => `${sbom.metadata.component.purl}: ${problem}`),
  );
  if (problems.length > 0) throw new Error(`The bill of materials is wrong:\n${problems.join('\n')}`);
  const path = join(folder, `runwire-${version}.cdx.json`);
  writeFileSync(path, `${JSON.stringify(whole, null, 1)}\n`);
  print(`${path}: ${whole.components.length} components, CycloneDX ${whole.specVersion}`);
  return path;
}

/** Writes the licences of all packages of others whose code is in ours. */
function writeLicences(folder: string, dists: readonly string[]): string {
  const texts = dists.flatMap((dist) => {
    try {
      return readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    } catch {
      // A package without code of others has no such file.
      return [];
    }
  });
  const path = join(folder, 'THIRD-PARTY-LICENSES.txt');
  writeFileSync(path, joinLicences(texts));
  print(`${path}: ${kilobytes(readFileSync(path).length)}`);
  return path;
}

function describe({ name, version, path, bytes, integrity, files }: PackedFile): string {
  const unpacked = files.reduce((sum, { size }) => sum + size, 0);
  return [
    `${name} ${version}: ${files.length} files, ${kilobytes(bytes)}, unpacked ${kilobytes(unpacked)}`,
    `  ${path}`,
    `  ${integrity}`,
    ...files.map((file) => `    ${kilobytes(file.size).padStart(10)}  ${file.path}`),
  ].join('\n');
}

/** Builds and packs everything into a folder, and prints it. Returns the integrity of the list of these files. */
export function prepare(folder: string): string {
  const own: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  step('build');
  run('npm', ['run', '--silent', 'build']);
  step('pack');
  const packages = packPackages(folder);
  const python = packPython(join(folder, 'python'));
  step('bill of materials and licences');
  const dists = publishedPackages.map((one) => join('packages', one.folder, 'dist'));
  const papers = [writeSbom(folder, own, dists), writeLicences(folder, dists)].map((path) => ({
    path,
    integrity: fileIntegrity(path),
  }));
  printList({ packages, python, papers });
  return writeList(folder, { packages, python, papers });
}

function printList({ packages, python, papers }: ReleaseList): void {
  print(`\nTo npm, with provenance:\n\n${packages.map(describe).join('\n\n')}`);
  print(`\nTo PyPI:\n\n${python.map(describe).join('\n\n')}`);
  print('\nTo the release of GitHub, with all of the above:\n');
  for (const { path, integrity } of papers) print(`${path}\n  ${integrity}`);
}

/** Checks the packed files in empty projects. These install packages of others that no lock file pins. */
export function prove(folder: string): void {
  step('check the packages: publint, attw, and empty projects that install them');
  run('npm', ['run', '--silent', 'prove', '--', 'packages'], { PACKED_FOLDER: folder });
}
