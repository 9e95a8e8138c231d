import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@runwire/test-kit';
import { expectAtMost, expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publishedPackages } from '../scripts/build/packages.ts';
import { CliServer, root } from '../test/support/cli-process.ts';
import { samplesOf } from '../test/support/doc-samples.ts';
import { PackedPackages } from './support/packed.ts';
import { named, type Proof } from './support/proof.ts';

/*
 * The packages as people install them: `publint` and `attw` find nothing, their sizes have limits, and they work in empty
 * JavaScript and TypeScript projects into which npm installs the tarballs alone. `init` and `create-runwire` make projects
 * that work by the commands of their own README. npm refuses to publish the sources and a build for tests.
 */

/** What `npx runwire serve` needs. */
const NEEDED = ['agency', 'documents', 'server', 'cli'];
/** The most kB of a tarball. */
const MAX_KB: Readonly<Record<string, number>> = {
  ...{ agency: 16, client: 55, contract: 95, 'create-runwire': 50 },
  ...{ cli: 90, documents: 950, server: 3100 },
};

async function checkPackage(packed: PackedPackages, name: string, hasExports: boolean): Promise<number> {
  const { messages, pkg } = await publint({ pkgDir: packed.dist(name), strict: true });
  expectEqual(
    'findings of publint',
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
  const attw = [packed.tarball(name), '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
  if (hasExports) await packed.run(join(root, 'node_modules/.bin/attw'), attw, packed.folder);
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
  const everything = ['server', 'client', 'contract', 'contract/routes', 'contract/schemas', 'agency'];
  const imports = everything.map((name, place) => `export * as all${place} from '@runwire/${name}';`);
  writeFileSync(join(project, 'all.ts'), imports.join('\n'));
  writeFileSync(join(project, 'shop.test.ts'), samplesOf('docs/testing.md', 'ts')[0] ?? '');
  samplesOf('packages/client/README.md', 'ts').forEach((sample, place) => {
    writeFileSync(join(project, `client${place}.ts`), sample);
  });
  const compilerOptions = {
    ...{ target: 'esnext', module: 'nodenext', types: ['node'] },
    ...{ strict: true, skipLibCheck: false, noEmit: true },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  await packed.run(join(root, 'node_modules/.bin/tsc'), ['--pretty', 'false'], project);
  await packed.run(process.execPath, ['shop.test.ts'], project);
}

/** Makes a project by the command, and follows its README. */
async function makeProject(packed: PackedPackages, cwd: string, make: readonly string[], made: string): Promise<void> {
  const settings = { npm_config_prefer_offline: 'true', npm_config_ignore_scripts: 'true' };
  await packed.run('npx', make, cwd, settings);
  const sh = (script: string, env = {}) => packed.run('sh', ['-ec', script], made, { ...settings, ...env });
  const readme = readFileSync(join(made, 'README.md'), 'utf8');
  const [, use = '', check = ''] = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, sample]) => sample);
  // In place of `npm install`: the packages are not published yet. Node and the compiler are from the registry.
  await sh(`npm install ${[...NEEDED, 'client'].map((name) => packed.tarball(name)).join(' ')}`);
  // SIGTERM ends npm and, because of `exec`, the server: the data folder is free again.
  await using server = await CliServer.start({ cwd: made, env: { ...packed.env, ...settings } }, ['npm', 'start']);
  expectEqual('status of the console', (await fetch(`${server.url}/console/`)).status, 200);
  const answer = await sh(use, { RUNWIRE_URL: server.url });
  if (!/You said: Hello\nThe tool was called\. It returned: \w+day, /.test(answer)) {
    throw new Shortfall(`the answer in the README: found \`${answer}\``);
  }
  const checked = await sh(check);
  if (!/helper: ok \(yaml, 1 agent\)[\s\S]*^ℹ pass 1$/m.test(checked))
    throw new Shortfall(`check: found \`${checked}\``);
  await sh('npm run types');
  await useBackend(made, server.url, packed.env);
  const [served] = childrenOf(server.pid);
  await server.stop('SIGTERM');
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
    for (const child of childrenOf(backend.pid ?? 0)) process.kill(child, 'SIGTERM');
    await gone;
  }
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

export const proof: Proof = {
  name: 'packages',
  minutes: 3,
  faults: { 'lost-types': /^client: findings of publint: expected \[\], found \[".*index\.d\.ts/m },
  figures: () => ({ packages: 7, findings: 0, projects: 4 }),
  async run({ fault }) {
    using packed = await PackedPackages.make((name, dist) => {
      if (fault === 'lost-types' && name === 'client') rmSync(join(dist, 'index.d.ts'));
    });
    const kb: Record<string, number> = {};
    for (const { folder, exports } of publishedPackages) {
      const hasExports = Object.keys(exports).length > 0;
      kb[`${folder.replace('-', '_')}_kb`] = await named(folder, checkPackage(packed, folder, hasExports));
    }
    const project = await packed.project('javascript', [...NEEDED, 'client', 'contract', 'typebox', 'create-runwire']);
    await named('JavaScript', useInJavaScript(packed, project));
    await named('TypeScript', useInTypeScript(packed, project));
    await named('create-runwire', makeProject(packed, project, ['create-runwire', 'made'], join(project, 'made')));
    const empty = join(project, 'empty');
    mkdirSync(empty);
    await named('init', makeProject(packed, empty, ['runwire', 'init'], empty));
    await refusePublishing(packed);
    return { packages: publishedPackages.length, findings: 0, projects: 4, ...kb };
  },
};

/** npx does not pass signals on, so the server itself gets the signal. */
function ended({ pid }: CliServer): Disposable {
  return {
    [Symbol.dispose]: () => {
      for (const child of childrenOf(pid)) process.kill(child, 'SIGTERM');
    },
  };
}

/** Returns all descendants of a process. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').flatMap((child) => [...childrenOf(Number(child)), Number(child)]);
}
