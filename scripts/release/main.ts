import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { joinLicences } from '../build/licences.ts';
import { publishedPackages } from '../build/packages.ts';
import { releaseSbom, type Sbom } from '../build/sbom.ts';
import { datedSection } from './changelog.ts';
import { sbomChecker } from './check-sbom.ts';
import { type PackedFile, packPackages, packPython } from './pack.ts';
import { publishOnGitHub, publishPackages } from './publish.ts';
import { type ReleaseFacts, refusals } from './refusals.ts';
import { capture, run } from './run.ts';
import { cutVersion, readVersions } from './versions.ts';

/*
 * Builds, packs and checks all packages, writes the bill of materials and the licences of a release to `.work/release`, and
 * publishes (docs/releasing.md). With `--dry-run` it publishes nothing, and prints what it would publish. With
 * `--cut <version>` it only writes the next version to the manifests and the changelog.
 */

const OUT = '.work/release';
const PYTHON_OUT = join(OUT, 'python');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');
const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
const print = (text: string) => process.stdout.write(`${text}\n`);

function readFacts(): ReleaseFacts {
  return {
    environment: process.env,
    versions: readVersions('.'),
    changedFiles: lines(capture('git', ['status', '--porcelain'])).map((line) => line.slice(3)),
    tags: lines(capture('git', ['tag', '--points-at', 'HEAD'])),
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
  };
}

/** Writes the bill of materials of all packages, and checks it and the bill of each. */
function writeSbom({ version, license }: Manifest, dists: readonly string[]): string {
  const parts: Sbom[] = dists.map((dist) => JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')));
  const whole = releaseSbom({ name: 'runwire', version, license }, parts);
  const check = sbomChecker();
  const problems = [whole, ...parts].flatMap((sbom) =>
    check(sbom).map((problem) => `${sbom.metadata.component.purl}: ${problem}`),
  );
  if (problems.length > 0) throw new Error(`The bill of materials is wrong:\n${problems.join('\n')}`);
  const path = join(OUT, `runwire-${version}.cdx.json`);
  writeFileSync(path, `${JSON.stringify(whole, null, 1)}\n`);
  print(`${path}: ${whole.components.length} components, CycloneDX ${whole.specVersion}`);
  return path;
}

/** Writes the licences of all packages of others whose code is in ours. */
function writeLicences(dists: readonly string[]): string {
  const texts = dists.flatMap((dist) => {
    try {
      return readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    } catch {
      // A package without code of others has no such file.
      return [];
    }
  });
  const path = join(OUT, 'THIRD-PARTY-LICENSES.txt');
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

/** Builds and checks everything, and returns what would be published. */
function prepare(own: Manifest) {
  const step = (name: string) => print(`\nrelease: ${name} …`);
  step('build');
  run('npm', ['run', '--silent', 'build']);
  step('pack');
  const packages = packPackages(OUT);
  const python = packPython(PYTHON_OUT);
  step('bill of materials and licences');
  const dists = publishedPackages.map(({ folder }) => join('packages', folder, 'dist'));
  const papers = [writeSbom(own, dists), writeLicences(dists)];
  step('check the packages: publint, attw, and empty projects that install them');
  run('npm', ['run', '--silent', 'prove', '--', 'packages'], { PACKED_FOLDER: resolve(OUT) });
  return { packages, python, papers };
}

function release(isDryRun: boolean): void {
  const own: Manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const facts = readFacts();
  const refused = refusals(own.version, facts);
  if (refused.length > 0 && !isDryRun)
    throw new Error(`Not published:\n${refused.map((one) => `- ${one}`).join('\n')}`);
  const { packages, python, papers } = prepare(own);
  print(`\n${isDryRun ? 'Would publish' : 'Publishes'} to npm, with provenance:\n`);
  print(packages.map(describe).join('\n\n'));
  print(`\nTo PyPI (the next job of the workflow uploads them):\n\n${python.map(describe).join('\n\n')}`);
  print(`\nTo the release of GitHub, with all of the above:\n\n${papers.join('\n')}\n`);
  if (isDryRun) {
    for (const sentence of refused) print(`A release from here would be refused: ${sentence}`);
    print('Dry run: nothing was published.');
    return;
  }
  publishPackages(packages);
  const files = [...packages, ...python].map(({ path }) => path);
  publishOnGitHub(own.version, datedSection(facts.changelog, own.version) ?? '', [...files, ...papers]);
}

try {
  const { values } = parseArgs({
    options: { 'dry-run': { type: 'boolean', default: false }, cut: { type: 'string' } },
  });
  if (values.cut === undefined) release(values['dry-run']);
  else {
    cutVersion('.', values.cut, new Date().toISOString().slice(0, 10));
    print(
      `Version ${values.cut} is written. Run \`npm test\`, commit, and push the tag v${values.cut} (docs/releasing.md).`,
    );
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
