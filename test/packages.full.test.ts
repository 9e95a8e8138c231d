import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, posix, relative } from 'node:path';
import { test } from 'node:test';
import { freePort } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectAtMost, expectEqual, named, Shortfall, within } from '@runwire/test-kit/shortfall.ts';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publishedPackages } from '../scripts/build/packages.ts';
import { sbomChecker } from '../scripts/release/check-sbom.ts';
import { CliServer, root } from './support/cli-process.ts';
import { listSamples, PACKAGE_PAGES, shownOutput } from './support/doc-samples.ts';
import { machinePath, newcomersEnvironment } from './support/newcomer.ts';
import { PackedPackages } from './support/packed.ts';
import { missingServices, PYTHON } from './support/services.ts';

/*
 * The packages as people install them: `publint` and `attw` find nothing, their bills of materials are valid, their sizes
 * have limits, and they work in empty JavaScript and TypeScript projects into which npm installs the tarballs alone. pip
 * installs the Python client. `runwire init` and `create-runwire` make the same project, and it works by the commands of its
 * own README. npm refuses to publish the sources and a build for tests.
 */

/** How long a stopped server may take to end. */
const STOP_MS = 30_000;
/** npm finds the registry by this machine's settings. The Node of this checkout is not on the path. */
const newcomer = {
  ...newcomersEnvironment(machinePath().join(delimiter)),
  npm_config_prefer_offline: 'true',
};
/** The most kB of a tarball. */
const MAX_KB: Readonly<Record<string, number>> = {
  ...{ agency: 16, client: 55, contract: 110, 'create-runwire': 50 },
  ...{ cli: 130, documents: 950, 'guarded-fetch': 30, models: 400, sandbox: 1000, 'mcp-sessions': 500, server: 3500 },
};

const checkBill = sbomChecker();

async function checkPackage(packed: PackedPackages, name: string, hasExports: boolean): Promise<number> {
  const { messages, pkg } = await publint({ pkgDir: packed.dist(name), strict: true });
  expectEqual(
    'findings of publint',
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
  const attw = [packed.tarball(name), '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
  if (hasExports) await packed.run(join(root, 'node_modules/.bin/attw'), attw, packed.folder);
  const bill = JSON.parse(readFileSync(join(packed.dist(name), 'sbom.cdx.json'), 'utf8'));
  expectEqual('problems of the bill of materials', checkBill(bill), []);
  return expectAtMost('kB', Math.ceil(statSync(packed.tarball(name)).size / 1000), MAX_KB[name] ?? 0);
}

const JAVASCRIPT = `import { defineAgency } from '@runwire/agency';
import { Runwire } from '@runwire/client';
import { errors } from '@runwire/contract';
import { listRuns } from '@runwire/contract/routes';

const [baseUrl, apiKey] = process.argv.slice(2);
const agency = defineAgency({ name: 'a', agents: [{ name: 'A', instructions: 'Answer.' }] });
const text = await new Runwire({ baseUrl, apiKey, integration: 'demo' }).run({ message: 'Hello' }).text();
console.log(JSON.stringify([agency.name, text.includes('Hello'), errors.run_active.status, listRuns]));
`;

/** `npx runwire serve` in an empty folder, and the packages in a JavaScript project that asks it. */
async function useInJavaScript(packed: PackedPackages, project: string): Promise<void> {
  const serve = ['npx', '--offline', 'runwire', 'serve'] as const;
  const env = { ...packed.env, RUNWIRE_API_KEY: 'k'.repeat(40) };
  await using server = await CliServer.start({ cwd: project, env }, serve);
  using _ = ended(server);
  writeFileSync(join(project, 'main.js'), JAVASCRIPT);
  const printed = await packed.run(process.execPath, ['main.js', server.url, env.RUNWIRE_API_KEY], project);
  expectEqual('output of the JavaScript project', JSON.parse(printed), [
    'a',
    true,
    409,
    'GET /v2/integrations/:apiIntegrationId/runs',
  ]);
}

/** The types need no package but those of Node, and the test of docs/testing.md passes. */
async function useInTypeScript(packed: PackedPackages, project: string): Promise<void> {
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  const everything = publishedPackages.flatMap(({ folder, exports }) =>
    Object.keys(exports).map((path) => posix.join(folder, path)),
  );
  const imports = everything.map((name, place) => `export * as all${place} from '@runwire/${name}';`);
  writeFileSync(join(project, 'all.ts'), imports.join('\n'));
  writeFileSync(join(project, 'shop.test.ts'), listSamples('docs/testing.md', 'ts')[0] ?? '');
  listSamples('packages/client/README.md', 'ts').forEach((sample, place) => {
    writeFileSync(join(project, `client${place}.ts`), sample);
  });
  for (const [index, page] of PACKAGE_PAGES.entries())
    writeFileSync(join(project, `package${index}.ts`), listSamples(page, 'ts')[0] ?? '');
  const compilerOptions = {
    ...{ target: 'esnext', module: 'nodenext', types: ['node'] },
    ...{ strict: true, skipLibCheck: false, noEmit: true },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await packed.run(join(root, 'node_modules/.bin/tsc'), ['--pretty', 'false'], project);
  await packed.run(process.execPath, ['shop.test.ts'], project);
  for (const [index, page] of PACKAGE_PAGES.entries()) {
    const printed = await packed.run(process.execPath, [`package${index}.ts`], project);
    expectEqual(`output of the sample in ${page}`, printed, shownOutput(page));
  }
}

/** `create-runwire` on this machine's node, and `runwire init`, make the same project. Returns its folder. */
async function makeProject(packed: PackedPackages, cwd: string): Promise<string> {
  await packed.run('npx', ['create-runwire', 'made'], cwd, newcomer);
  await packed.run('npx', ['runwire', 'init', 'init/made'], cwd);
  const read = (folder: string) => {
    const paths = readdirSync(join(cwd, folder), { recursive: true, encoding: 'utf8', withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    return paths.map((path) => {
      const text = readFileSync(path, 'utf8').replace(/(?<=^RUNWIRE_API_KEY=)[\w-]{43}$/m, '…');
      return [relative(join(cwd, folder), path), text];
    });
  };
  expectEqual('project of `runwire init`', read('init/made'), read('made'));
  return join(cwd, 'made');
}

/** Follows the README of a project. Its Node and its compiler are from the registry. */
async function useProject(packed: PackedPackages, made: string): Promise<void> {
  const env = newcomer;
  const sh = (script: string, more = {}) => packed.run('sh', ['-ec', script], made, { ...env, ...more });
  const readme = readFileSync(join(made, 'README.md'), 'utf8');
  const [, use = '', check = ''] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, sample]) => sample);
  // The README asks for this, because no registry has the packages yet.
  await packed.run(process.execPath, ['scripts/build/install-into.ts', made], packed.checkout, env);
  await using server = await CliServer.start({ cwd: made, env }, ['npm', 'start']);
  expectEqual('status of the console', (await fetch(`${server.url}/console/`)).status, 200);
  const answer = await sh(use, { RUNWIRE_URL: server.url });
  if (!/You said: Hello\nThe tool was called\. It returned: \w+day, /.test(answer)) {
    throw new Shortfall(`the answer in the README: found \`${answer}\``);
  }
  const checked = await sh(check);
  if (!/helper: ok \(yaml, 1 agent\)[\s\S]*^ℹ pass 1$/m.test(checked))
    throw new Shortfall(`check: found \`${checked}\``);
  await sh('npm run types');
  await useBackend(made, server.url, env);
  const [served] = findDescendants(server.pid);
  // Only npm gets the signal. It passes it on to the server, because of `exec` in the script.
  await within('the end of `npm start` after SIGTERM', STOP_MS, server.stop('SIGTERM'));
  expectEqual('the server after SIGTERM to npm', existsSync(`/proc/${served}`), false);
}

/** The sample backend serves its page and the client, and mints a token with which the page can read. */
async function useBackend(made: string, runwireUrl: string, env: NodeJS.ProcessEnv): Promise<void> {
  const port = await freePort();
  const more = { RUNWIRE_URL: runwireUrl, BACKEND_PORT: String(port) };
  const backend = spawn('npm', ['run', 'backend'], {
    cwd: made,
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const chunk of backend.stdout) if (String(chunk).includes('The page is at')) break;
    const url = `http://127.0.0.1:${port}`;
    expectEqual('status of the page', (await fetch(url)).status, 200);
    const client = await (await fetch(`${url}/client.js`)).text();
    expectEqual('the client is one file', /^(import|export) .* from /m.test(client), false);
    const { clientToken } = (await (await fetch(`${url}/token`, { method: 'POST' })).json()) as { clientToken: string };
    const chats = `${runwireUrl}/v2/integrations/helper/chats`;
    expectEqual(
      'status with the token',
      (await fetch(chats, { headers: { authorization: `Bearer ${clientToken}` } })).status,
      200,
    );
  } finally {
    const gone = once(backend, 'close');
    for (const child of findDescendants(backend.pid ?? 0)) process.kill(child, 'SIGTERM');
    await gone;
  }
}

/** pip installs the wheel and the source archive of the Python client, each alone and without a network. */
async function usePython(packed: PackedPackages): Promise<number> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const files = packed.pythonFiles();
  for (const [index, file] of files.entries()) {
    const target = join(packed.folder, `python-${index}`);
    const quiet = ['--no-index', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore'];
    await packed.run(PYTHON, ['-m', 'pip', 'install', ...quiet, '--target', target, file], packed.folder);
    const script =
      'import importlib.metadata, runwire; print(importlib.metadata.version("runwire"), runwire.AsyncRunwire.__name__)';
    const printed = await packed.run(PYTHON, ['-c', script], packed.folder, { PYTHONPATH: target });
    expectEqual('version and class of the Python client', printed, `${version} AsyncRunwire\n`);
  }
  return files.length;
}

/** No server listens at the registry, so npm fails in any case, and its code tells why. */
async function refusePublishing(packed: PackedPackages): Promise<void> {
  const registry = '127.0.0.1:1';
  writeFileSync(join(packed.folder, '.npmrc'), `//${registry}/:_authToken=none\n`);
  const publish = async (path: string) => {
    const args = ['publish', '--registry', `http://${registry}/`, '--fetch-retries', '0', '--ignore-scripts', path];
    const failure = await packed.run('npm', args, packed.folder).catch(String);
    return /npm error code (\w+)/.exec(failure)?.[1];
  };
  const isPrivate = (path: string) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).private === true;
  const sources = publishedPackages.map(({ folder }) => join(packed.checkout, 'packages', folder));
  const built = publishedPackages.map(({ folder }) => packed.dist(folder));
  expectEqual('sources are private', sources.every(isPrivate), true);
  expectEqual('built packages are private', built.some(isPrivate), false);
  const [source = '', dist = ''] = [sources[0], built[0]];
  expectEqual('npm publish', [await publish(source), await publish(dist)], ['EPRIVATE', 'ECONNREFUSED']);
  await packed.build('--for-tests');
  expectEqual('packages built for tests are private', built.every(isPrivate), true);
}

test('the packed packages install and work', async (t) => {
  const fault = plantedFault();
  const [missing] = await missingServices(['python', 'pip']);
  if (missing !== undefined) return t.skip(missing);
  using packed = await PackedPackages.make((name, dist) => {
    if (fault === 'lost-types' && name === 'client') rmSync(join(dist, 'index.d.ts'));
    if (fault === 'wrong-bill' && name === 'server') loseComponent(join(dist, 'sbom.cdx.json'), 'fastify');
  });
  if (fault === 'lost-module') rmSync(join(packed.checkout, 'packages/client-python/src/runwire/_transport.py'));
  const kb: Record<string, number> = {};
  const checks = publishedPackages.map(async ({ folder, exports }) => {
    const hasExports = Object.keys(exports).length > 0;
    kb[`${folder.replace('-', '_')}_kb`] = await named(folder, checkPackage(packed, folder, hasExports));
  });
  await Promise.all(checks);
  const python_files = await named('Python', usePython(packed));
  const all = publishedPackages.map(({ folder }) => folder);
  const project = await packed.project('javascript', [...all, 'typebox']);
  await named('JavaScript', useInJavaScript(packed, project));
  await named('TypeScript', useInTypeScript(packed, project));
  const made = await named('create-runwire', makeProject(packed, project));
  await named('project', useProject(packed, made));
  await refusePublishing(packed);
  count({ packages: publishedPackages.length, python_files, findings: 0, projects: 4, ...kb });
});

/** Planted: the bill names a package that it does not describe. */
function loseComponent(path: string, lost: string): void {
  const bill = JSON.parse(readFileSync(path, 'utf8'));
  const components = bill.components.filter(({ name }: { name: string }) => name !== lost);
  writeFileSync(path, JSON.stringify({ ...bill, components }));
}

/** npx does not pass signals on, so the server itself gets the signal. */
function ended({ pid }: CliServer): Disposable {
  return {
    [Symbol.dispose]: () => {
      for (const child of findDescendants(pid)) process.kill(child, 'SIGTERM');
    },
  };
}

/** Returns all descendants of a process. */
function findDescendants(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').flatMap((child) => [...findDescendants(Number(child)), Number(child)]);
}
