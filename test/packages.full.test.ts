import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseFrames, temporaryFolder } from '@runwire/test-kit';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publishedPackages } from '../scripts/build/packages.ts';
import { CliServer, keysIn, root, run } from './support/cli-process.ts';
import { samplesOf } from './support/doc-samples.ts';

/** The packages as people install them: built, packed, and installed into an empty project. */
const folder = temporaryFolder();
const tarballs = new Map<string, string>();
const environment = { env: { HOME: folder, npm_config_audit: 'false', npm_config_fund: 'false' } };

function build(...args: string[]): void {
  const built = spawnSync(process.execPath, ['-C', 'runwire', 'scripts/build/main.ts', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(built.status, 0, built.stderr);
}

before(async () => {
  build();
  for (const { folder: name } of publishedPackages) {
    const packed = await run('npm', ['pack', '--json', join(root, 'packages', name, 'dist')], {
      cwd: folder,
      ...environment,
    });
    assert.equal(packed.code, 0, packed.stderr);
    const [{ filename }] = JSON.parse(packed.stdout);
    tarballs.set(name, join(folder, filename));
  }
  await install();
});
after(() => rmSync(folder, { recursive: true, force: true }));

for (const { folder: name, exports } of publishedPackages) {
  test(`publint finds nothing in ${name}`, async () => {
    const pkgDir = join(root, 'packages', name, 'dist');
    const { messages, pkg } = await publint({ pkgDir, strict: true });
    assert.deepEqual(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  // A package without exports has a command only.
  if (Object.keys(exports).length === 0) continue;
  test(`the types of ${name} fit its code`, async () => {
    const args = [tarballs.get(name) ?? '', '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
    const { code, stdout } = await run(join(root, 'node_modules/.bin/attw'), args, environment);
    assert.equal(code, 0, stdout);
  });
}

/** What `npx runwire serve` needs. */
const NEEDED = ['agency', 'documents', 'server', 'cli'];

/** An empty project with these packages and `create-runwire`. */
const project = join(folder, 'project');

async function install(): Promise<void> {
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const needed = [...NEEDED, 'create-runwire'].map((name) => tarballs.get(name) ?? '');
  // Offline: npm needs only these tarballs.
  const args = ['install', '--offline', '--ignore-scripts', ...needed];
  const installed = await run('npm', args, { cwd: project, ...environment });
  assert.equal(installed.code, 0, installed.stderr);
}

test('a test of an agency runs, and its types need no package but those of Node', async () => {
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  writeFileSync(join(project, 'main.ts'), "export * from '@runwire/server';\n");
  writeFileSync(join(project, 'shop.test.ts'), samplesOf('docs/testing.md', 'ts')[0] ?? '');
  const compilerOptions = {
    ...{ target: 'esnext', module: 'nodenext', types: ['node'] },
    ...{ strict: true, skipLibCheck: false, noEmit: true },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), ['--pretty', 'false'], { cwd: project });
  assert.equal(stdout, '');
  const { code, stdout: report } = await run(process.execPath, ['shop.test.ts'], { cwd: project });
  assert.equal(code, 0, report);
});

test('npx runwire serve works from the tarballs in an empty folder', async () => {
  await using server = await CliServer.start({ cwd: project, env: environment.env }, [
    'npx',
    '--offline',
    'runwire',
    'serve',
  ]);
  const [key = ''] = keysIn(server.stdout);
  const answer = await fetch(`${server.url}/get_completion_v2`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello' }),
  });
  assert.equal(parseFrames(await answer.text()).at(-1)?.event, 'end');
  // npx does not pass signals on, so the server itself gets the signal.
  for (const pid of childrenOf(server.pid)) process.kill(pid, 'SIGTERM');
});

test('a project of create-runwire works by the commands of its own README', async () => {
  const offline = { env: { ...environment.env, npm_config_offline: 'true', npm_config_ignore_scripts: 'true' } };
  const created = await run('npx', ['create-runwire', 'made'], { cwd: project, ...offline });
  assert.equal(created.code, 0, created.stderr);
  const made = join(project, 'made');
  const sh = async (script: string, env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await run('sh', ['-ec', script], { cwd: made, env: { ...offline.env, ...env } });
    assert.equal(code, 0, `${script}: ${stderr}`);
    return stdout;
  };
  const readme = readFileSync(join(made, 'README.md'), 'utf8');
  const [, use = '', check = ''] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, sample]) => sample);
  // In place of `npm install`: the packages are not published yet.
  await sh(`npm install ${NEEDED.map((name) => tarballs.get(name)).join(' ')}`);
  await using server = await CliServer.start({ cwd: made, env: offline.env }, ['npm', 'start']);
  assert.match(
    await sh(use, { RUNWIRE_URL: server.url }),
    /You said: Hello\nThe tool was called\. It returned: \w+day, /,
  );
  assert.match(await sh(check), /helper: ok \(yaml, 1 agent\)/);
  for (const pid of childrenOf(server.pid)) process.kill(pid, 'SIGTERM');
});

test('npm refuses to publish the sources and a build for tests', async () => {
  // No server listens there, so npm fails in any case, and its code tells why.
  const registry = '127.0.0.1:1';
  writeFileSync(join(folder, '.npmrc'), `//${registry}/:_authToken=none\n`);
  const publish = async (path: string) => {
    const options = ['--registry', `http://${registry}/`, '--fetch-retries', '0', '--ignore-scripts'];
    const { stderr } = await run('npm', ['publish', ...options, join(root, path)], environment);
    return /npm error code (\w+)/.exec(stderr)?.[1];
  };
  const arePrivate = (paths: readonly string[]) =>
    paths.map((path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')).private === true);
  const sources = publishedPackages.map(({ folder: name }) => join('packages', name));
  const built = sources.map((path) => join(path, 'dist'));
  assert.deepEqual(arePrivate([...sources, ...built]), [...sources.map(() => true), ...built.map(() => false)]);
  assert.deepEqual(
    [await publish('packages/agency'), await publish('packages/agency/dist')],
    ['EPRIVATE', 'ECONNREFUSED'],
  );
  build('--for-tests');
  assert.deepEqual(
    arePrivate(built),
    built.map(() => true),
  );
  assert.equal(await publish('packages/agency/dist'), 'EPRIVATE');
});

/** Returns all descendants of a process. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').flatMap((child) => [...childrenOf(Number(child)), Number(child)]);
}
