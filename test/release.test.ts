import assert from 'node:assert/strict';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { cutSection, datedSection, unreleasedSection } from '../scripts/release/changelog.ts';
import { fileIntegrity, type PackedFile, writeList } from '../scripts/release/list.ts';
import { publishOnGitHub, publishPackages } from '../scripts/release/publish.ts';
import { type CommitFacts, commitRefusals, jobRefusals } from '../scripts/release/refusals.ts';
import { cutVersion, readVersions } from '../scripts/release/versions.ts';
import { getFolder, root, run } from './support/cli-process.ts';

const { version: VERSION = '' }: { version?: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-11-18)\n\n- The first.\n';
const JOB = { GITHUB_ACTIONS: 'true', ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com' };
const READY: CommitFacts = {
  version: '0.1.0',
  versions: { 'package.json': '0.1.0', 'packages/client/package.json': '0.1.0' },
  changedFiles: [],
  tags: ['v0.1.0'],
  changelog: CHANGELOG,
};

test('refuses a release that is not ready, with one sentence per reason', () => {
  assert.deepEqual([...jobRefusals(JOB), ...commitRefusals(READY)], []);
  assert.match(jobRefusals({}).join('\n'), /^This is not CI: only the workflow .* publishes/);
  assert.match(jobRefusals({ GITHUB_ACTIONS: 'true' }).join('\n'), /`id-token: write`/);
  const faults: readonly (readonly [Partial<CommitFacts>, RegExp])[] = [
    [
      { versions: { ...READY.versions, 'b.json': '0.2.0' } },
      /^The versions differ: b\.json has 0\.2\.0, package\.json 0\.1\.0/,
    ],
    [{ changedFiles: ['a.ts', 'b.ts'] }, /^The tree has changes that are not committed: a\.ts, b\.ts\./],
    [{ tags: ['v0.2.0'] }, /^The commit does not have the tag v0\.1\.0 \(it has v0\.2\.0\)/],
    [{ tags: [] }, /\(it has none\)/],
    [{ changelog: CHANGELOG.replace(' (2026-11-18)', '') }, /has no section `## 0\.1\.0 \(YYYY-MM-DD\)`/],
    [{ changelog: CHANGELOG.replace('## Unreleased\n', '') }, /has no section `## Unreleased`/],
    [{ changelog: CHANGELOG.replace('Unreleased\n', 'Unreleased\n\n- New.\n') }, /has text below `## Unreleased`/],
  ];
  for (const [fault, sentence] of faults) {
    const found = commitRefusals({ ...READY, ...fault });
    assert.equal(found.length, 1, found.join('\n'));
    assert.match(found[0] ?? '', sentence);
  }
});

test('the changelog has the dated section of this version', () => {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  assert.ok((datedSection(changelog, VERSION) ?? '').length > 100);
  assert.notEqual(unreleasedSection(changelog), undefined);
});

test('cuts a version in all manifests, the lock file and the changelog', (t) => {
  const folder = getFolder(t);
  const others = ['package-lock.json', 'CHANGELOG.md', 'deploy/kubernetes.yaml', 'docs/kubernetes.md'];
  const before = readVersions(root);
  for (const path of [...Object.keys(before), ...others]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG.replace('Unreleased\n', 'Unreleased\n\n- New.\n'));
  cutVersion(folder, '9.8.7', '2027-01-02');
  const after = readVersions(folder);
  assert.deepEqual(Object.keys(after), Object.keys(before));
  assert.deepEqual([...new Set(Object.values(after))], ['9.8.7']);
  const read = (path: string) => readFileSync(join(folder, path), 'utf8');
  for (const path of ['packages/cli/package.json', 'package-lock.json', 'deploy/kubernetes.yaml', 'docs/kubernetes.md'])
    assert.doesNotMatch(read(path), new RegExp(`(@runwire/[a-z]+": "|/runwire:)${RegExp.escape(VERSION)}`), path);
  assert.equal(datedSection(read('CHANGELOG.md'), '9.8.7'), '- New.');
  assert.equal(unreleasedSection(read('CHANGELOG.md')), '');
  assert.throws(() => cutSection(CHANGELOG, '0.2.0', '2027-01-02'), /no changes below `## Unreleased`/);
  assert.throws(() => cutVersion(folder, '9.9', '2027-01-02'), /`9\.9` is not a version/);
});

/** Puts a program before the others on the path. Returns the lines that it was called with. */
function standIn(t: TestContext, name: string, script: string): () => string[] {
  const folder = getFolder(t);
  mkdirSync(folder, { recursive: true });
  const log = join(folder, 'calls');
  writeFileSync(join(folder, name), `#!/bin/sh\necho "$@" >> '${log}'\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  const { PATH } = process.env;
  process.env.PATH = [folder, PATH].join(delimiter);
  t.after(() => {
    process.env.PATH = PATH;
  });
  return () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
}

function packedFile(name: string): PackedFile {
  return { name, version: '0.1.0', path: `${name}.tgz`, bytes: 1, integrity: `sha512-${name}`, files: [] };
}

test('publishes with provenance, and skips what an earlier attempt has published', (t) => {
  const calls = standIn(
    t,
    'npm',
    'case "$1 $2" in "view a@0.1.0") echo sha512-a;; "view c@0.1.0") echo sha512-other;; view*) echo "npm error code E404" >&2; exit 1;; esac',
  );
  publishPackages([packedFile('a'), packedFile('b')], ['v0.0.9', 'v0.1.0']);
  publishPackages([packedFile('d')], ['v0.1.0', 'v0.10.0']);
  assert.deepEqual(calls(), [
    'view a@0.1.0 dist.integrity',
    'view b@0.1.0 dist.integrity',
    'publish b.tgz --tag latest --provenance --access public --ignore-scripts',
    'view d@0.1.0 dist.integrity',
    'publish d.tgz --tag release-0.1 --provenance --access public --ignore-scripts',
  ]);
  assert.throws(() => publishPackages([packedFile('c')], []), /c 0\.1\.0 is already published with other content/);
});

test('does not take a registry that fails for a version that is not published', (t) => {
  const calls = standIn(t, 'npm', 'echo "npm error code E500" >&2; exit 1');
  assert.throws(() => publishPackages([packedFile('a')], []), /npm view a failed: npm error code E500/);
  assert.deepEqual(calls(), ['view a@0.1.0 dist.integrity']);
});

test('makes the release on GitHub, or adds files to it if it exists', (t) => {
  const calls = standIn(t, 'gh', '[ "$3" = v0.2.0 ] || [ "$2" != view ]');
  publishOnGitHub('0.1.0', 'Notes.', ['a.tgz']);
  publishOnGitHub('0.2.0', 'Notes.', ['a.tgz']);
  assert.deepEqual(calls(), [
    'release view v0.1.0',
    'release create v0.1.0 --verify-tag --title v0.1.0 --notes Notes. a.tgz',
    'release view v0.2.0',
    'release upload v0.2.0 --clobber a.tgz',
  ]);
});

/** Copies the scripts of a release and what they read to a repository with these tags, without installed packages. */
async function repository(t: TestContext, tags: readonly string[]): Promise<string> {
  const folder = getFolder(t);
  for (const path of ['scripts/release', 'package.json', '.gitignore', ...Object.keys(readVersions(root))])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  writeFileSync(join(folder, 'CHANGELOG.md'), CHANGELOG.replace('0.1.0', VERSION));
  const git = async (...args: string[]) =>
    assert.equal((await run('git', args, { cwd: folder })).code, 0, args.join(' '));
  await git('init', '--quiet');
  await git('add', '.');
  await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'a');
  for (const tag of tags) await git('tag', tag);
  return folder;
}

test('publishes only the files that the build has listed, without installed packages', async (t) => {
  const folder = await repository(t, [`v${VERSION}`]);
  const npm = standIn(t, 'npm', '[ "$1" != view ] || { echo "npm error code E404" >&2; exit 1; }');
  const gh = standIn(t, 'gh', '[ "$2" != view ]');
  const out = join(folder, '.work/release');
  mkdirSync(join(out, 'python'), { recursive: true });
  const file = (name: string) => {
    writeFileSync(join(out, name), name);
    return { path: `.work/release/${name}`, integrity: fileIntegrity(join(out, name)) };
  };
  const integrity = writeList(out, {
    packages: [{ ...packedFile('a'), ...file('a.tgz') }],
    python: [{ ...packedFile('b'), ...file('python/b.whl') }],
    papers: [file('c.txt')],
  });
  const publish = (RELEASE_INTEGRITY = integrity) =>
    run(process.execPath, ['scripts/release/main.ts', '--publish'], {
      cwd: folder,
      env: { ...JOB, RELEASE_INTEGRITY },
    });
  writeFileSync(join(out, 'a.tgz'), 'changed');
  writeFileSync(join(out, 'python/.more.whl'), 'more');
  rmSync(join(out, 'c.txt'));
  assert.equal(
    (await publish()).stderr,
    'Not as the job that built the packages has listed it: .work/release/a.tgz, .work/release/python/.more.whl, .work/release/c.txt.\n',
  );
  rmSync(join(out, 'python/.more.whl'));
  for (const name of ['a.tgz', 'c.txt']) file(name);
  assert.match((await publish('sha512-other')).stderr, /^\.work\/release\/release\.json is not the list of the job/);
  assert.deepEqual([npm(), gh()], [[], []], 'nothing was published');
  const { code, stderr } = await publish();
  assert.equal(code, 0, stderr);
  assert.match(npm().at(-1) ?? '', /^publish \.work\/release\/a\.tgz --tag latest --provenance /);
  assert.match(gh().at(-1) ?? '', / \.work\/release\/a\.tgz \.work\/release\/python\/b\.whl \.work\/release\/c\.txt$/);
});

test('builds an image per platform, and joins them under one name', async (t) => {
  const name = 'registry.example.com/shop/runwire';
  const newest = await repository(t, [`v${VERSION}`, 'v0.0.9', 'vendor']);
  const image = (cwd: string, ...args: string[]) =>
    run(process.execPath, ['scripts/release/image.ts', '--dry-run', ...args], {
      cwd,
      env: { IMAGE: 'registry.example.com/Shop/Runwire' },
    });
  assert.equal(
    (await image(newest, '--platform', 'arm64')).stdout,
    `docker buildx build --platform linux/arm64 --provenance mode=max --sbom true --push --tag ${name}:${VERSION}-arm64 .\n`,
  );
  const joined = (tags: string) =>
    `docker buildx imagetools create ${tags} ${name}:${VERSION}-amd64 ${name}:${VERSION}-arm64\n`;
  assert.equal((await image(newest, '--join')).stdout, joined(`--tag ${name}:${VERSION} --tag ${name}:latest`));
  await run('git', ['tag', 'v100.0.0'], { cwd: newest });
  assert.equal((await image(newest, '--join')).stdout, joined(`--tag ${name}:${VERSION}`));
  const shallow = getFolder(t);
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${newest}`, shallow]);
  assert.match((await image(shallow, '--join')).stderr, /This clone is shallow.*`fetch-depth: 0`/);
  assert.match((await image(newest, '--platform', 's390x')).stderr, /There is no platform s390x/);
});
