import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, test } from 'node:test';
import { temporaryFolder } from '@runwire/test-kit';
import { licenceTexts } from '../scripts/build/licences.ts';
import { publishedPackages } from '../scripts/build/packages.ts';
import type { Sbom } from '../scripts/build/sbom.ts';
import { isBuildCurrent, writeStamp } from '../scripts/build/stamp.ts';
import { readVersions } from '../scripts/release/versions.ts';
import { ensureBuild } from './support/build.ts';
import { CliServer, keysIn, root, run } from './support/cli-process.ts';

const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

test('every package has the same version, and every dependency an exact one', () => {
  const manifests = ['package.json', ...globSync('packages/*/package.json', { cwd: root })].map(json);
  assert.deepEqual([...new Set(Object.values(readVersions(root)))], [json('package.json').version]);
  for (const { name, dependencies, devDependencies, optionalDependencies } of manifests) {
    for (const [needed, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
      assert.match(String(version), /^\d+\.\d+\.\d+$/, `${name} needs ${needed}`);
    }
  }
});

test('the build fails if a package has no text of its licence', () => {
  const folder = join(root, 'node_modules/abstract-logging');
  const found = { name: 'abstract-logging', version: '2.0.1', integrity: 'sha512-', folder };
  assert.match(
    licenceTexts([{ ...found, license: 'MIT' }]),
    /^abstract-logging 2\.0\.1 \(MIT\)\n\nCopyright \(c\) James/,
  );
  assert.throws(
    () => licenceTexts([{ ...found, license: 'ISC' }]),
    /abstract-logging has no text of its licence \(ISC\)/,
  );
});

test('a build is current until a source changes, appears or disappears', (t) => {
  const folder = temporaryFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (path: string) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), '');
  };
  const build = () => writeStamp(folder, Date.now() + 1);
  write('packages/cli/dist/main.js');
  write('packages/cli/src/main.ts');
  assert.equal(isBuildCurrent(folder), false);
  build();
  assert.equal(isBuildCurrent(folder), true);
  write('packages/cli/src/main.test.ts');
  write('packages/console/src/main.tsx');
  assert.equal(isBuildCurrent(folder), true);
  const future = new Date(Date.now() + 60_000);
  utimesSync(join(folder, 'packages/cli/src/main.ts'), future, future);
  assert.equal(isBuildCurrent(folder), false);
  renameSync(join(folder, 'packages/cli/src/main.ts'), join(folder, 'packages/cli/src/serve.ts'));
  writeStamp(folder, future.getTime() + 1);
  assert.equal(isBuildCurrent(folder), true);
  renameSync(join(folder, 'packages/cli/src/serve.ts'), join(folder, 'packages/cli/src/main.ts'));
  assert.equal(isBuildCurrent(folder), false);
  writeStamp(folder, future.getTime() + 1);
  write('packages/console/built/index.html');
  assert.equal(isBuildCurrent(folder), false);
});

test('the build', async (t) => {
  before(ensureBuild);

  await t.test('starts a server that answers as the sources do', async (t) => {
    const folder = temporaryFolder();
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const main = join(root, 'packages/cli/dist/main.js');
    await using server = await CliServer.start({ cwd: folder, env: { PORT: '0' } }, [process.execPath, main, 'serve']);
    const [key = ''] = keysIn(server.stdout);
    const api = server.api(key);
    const reader = await api.complete({ message: 'Hello' });
    await reader.whole();
    assert.equal(reader.frames.at(-1)?.event, 'end');
    const refused = await api.post('/get_completion_v2', { apiIntegrationId: 'demo', message: 5 });
    assert.match(JSON.stringify([refused.status, refused.body]), /^\[400,.*`message` must be/);
    assert.equal((await api.get('/v2/integrations?limit=0')).status, 400);
    assert.match(await (await fetch(`${server.url}/console/`)).text(), /<base href=/);
  });

  await t.test('reads documents in its own child process', async () => {
    const script = `import { readFileSync } from 'node:fs';
      import { DEFAULT_DOCUMENT_LIMITS, DocumentReader } from ${JSON.stringify(join(root, 'packages/documents/dist/index.js'))};
      await using reader = new DocumentReader(DEFAULT_DOCUMENT_LIMITS, { reserve: async () => ({ [Symbol.dispose]() {} }) });
      for (const path of process.argv.slice(1)) {
        const given = { bytes: new Uint8Array(readFileSync(path)), contentType: null, name: path, kind: 'input_file' };
        const { form, bytes } = await reader.read(given, { pdf: false, ownerId: 'a' }, new AbortController().signal);
        console.log(form, bytes.length > 100);
      }`;
    const files = ['chromium.pdf', 'pandoc.docx', 'report.html'].map((name) =>
      join(root, 'packages/documents/src/fixtures', name),
    );
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script, ...files]);
    assert.deepEqual(stdout.trim().split('\n'), ['text true', 'text true', 'text true'], stderr);
  });

  await t.test('has every thread and process that its code starts', () => {
    const started = globSync('packages/{server,documents}/dist/*.js', { cwd: root }).flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/"\.\/[\w-]+\.ts" : "\.\/([\w-]+\.js)"/g)].map(
        ([, file = '']) => join(root, dirname(path), file),
      ),
    );
    assert.ok(started.length >= 5);
    for (const file of started) assert.ok(existsSync(file), file);
  });

  await t.test('lists every package that is in a bundle, with its licence', () => {
    for (const { folder } of publishedPackages) {
      const dist = join(root, 'packages', folder, 'dist');
      const bill: Sbom = json(`packages/${folder}/dist/sbom.cdx.json`);
      const listed = bill.components.map(({ purl }) => decodeURIComponent(purl.slice('pkg:npm/'.length)));
      // esbuild writes each module's path above its code.
      const code = globSync('**/*.js', { cwd: dist }).map((file) => readFileSync(join(dist, file), 'utf8'));
      const paths = code.flatMap((text) =>
        [...text.matchAll(/^ *\/\/ (\S*node_modules\/(?:@[^/\s]+\/)?[^/\s]+)\//gm)].map(([, path]) => path),
      );
      const bundled = [...new Set(paths)].map((path) => {
        const { name, version, license } = json(`${path}/package.json`);
        return { purl: `${name}@${version}`, heading: `${name} ${version} (${license})` };
      });
      assert.deepEqual(
        bundled.filter(({ purl }) => !listed.includes(purl)),
        [],
        folder,
      );
      if (bundled.length === 0) continue;
      const licences = readFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
      for (const { heading } of bundled) assert.ok(licences.includes(`${heading}\n\n`), `${folder}: ${heading}`);
    }
    const { components }: Sbom = json('packages/server/dist/sbom.cdx.json');
    const names = components.map(({ name }) => name);
    // In the console's pages, and in the bundle that just-bash is.
    for (const name of ['fastify', 'react-dom', 're2js']) assert.ok(names.includes(name), name);
  });

  await t.test('contains every production dependency of the sources', () => {
    for (const { folder } of publishedPackages) {
      const { components }: Sbom = json(`packages/${folder}/dist/sbom.cdx.json`);
      const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
      const needed = Object.keys(json(`packages/${folder}/package.json`).dependencies ?? {});
      const own = needed.filter((name) => name.startsWith('@runwire/'));
      assert.deepEqual(
        needed.filter((name) => !own.includes(name) && !names.includes(name)),
        [],
        folder,
      );
    }
  });
});
