import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freshDatabase, parseFrames, temporaryFolder } from '@runwire/test-kit';
import { CliServer, keysIn, root, run } from './support/cli-process.ts';
import { nodeEnvironments, readCompose } from './support/compose-file.ts';
import { buildImage, type Image, parseDockerfile } from './support/dockerfile.ts';
import { missingService, SERVICES } from './support/services.ts';

/* The Dockerfile's steps without a container engine; see test/support/dockerfile.ts for what that leaves out. */

/** `npm ci` unpacks 520 MB, and the build follows. This takes half a minute on an idle machine, and minutes on a busy one. */
const SLOW = { timeout: 600_000 };
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

function imageFolder(t: TestContext): string {
  const folder = temporaryFolder();
  t.after(() => {
    // The folder must be writable before it can be deleted.
    execFileSync('chmod', ['-R', 'u+w', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** Runs the image's program with the image's environment and these variables, and none of this machine. */
function start(image: Image, env: Readonly<Record<string, string>>): Promise<CliServer> {
  return CliServer.start(
    { cwd: image.cwd, env: { ...image.env, NODE_DISABLE_COMPILE_CACHE: '1', ...env, PORT: '0' } },
    image.start,
  );
}

async function getHealth(image: Image, url: string): Promise<number | null> {
  const [program, ...args] = image.healthcheck;
  return (await run(program, args, { cwd: image.cwd, env: { ...image.env, PORT: new URL(url).port } })).code;
}

async function completion(url: string, key: string): Promise<(string | null)[]> {
  const { code, stdout } = await run('curl', [
    ...['-sSN', '--fail', `${url}/get_completion_v2`, '-H', `Authorization: Bearer ${key}`],
    ...['-H', 'Content-Type: application/json', '-d', '{"apiIntegrationId":"demo","message":"Hello"}'],
  ]);
  assert.equal(code, 0);
  return parseFrames(stdout).map(({ event }) => event);
}

/** Returns the packages that contain a program's shared libraries. */
function libraryPackages(program: string): string[] {
  const found = [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/=> (\S+) /g)];
  // Debian's `/lib` is a link to `/usr/lib`, and packages know their files by one of the two names.
  const libraries = found.map(([, path = '']) => [path, path.startsWith('/usr') ? path.slice(4) : `/usr${path}`]);
  // Its exit code reports only that it does not know some of the names.
  const { stdout } = spawnSync('dpkg', ['-S', ...libraries.flat()], { encoding: 'utf8' });
  const owners = new Map(
    [...stdout.matchAll(/^([^:]+):(?:\S+)? (\S+)$/gm)].map(([, owner = '', path = '']) => [path, owner]),
  );
  return [...new Set(libraries.map((names) => names.map((name) => owners.get(name)).find(Boolean) ?? names.join()))];
}

/** A program that commands need, and Node does not. */
const SANDBOX_PACKAGE = 'bubblewrap';
/** What commands can use besides the programs of the base image. */
const COMMAND_PACKAGES = SERVICES.commandPrograms.packages.join(' ');

test('both stages of the Dockerfile install the system package that the README names', () => {
  const installed = [...dockerfile.matchAll(/apt-get install -y --no-install-recommends ([\w .+-]+?) &&/g)];
  assert.deepEqual(
    installed.map(([, names]) => names),
    ['libatomic1', `${SANDBOX_PACKAGE} libatomic1`, COMMAND_PACKAGES],
  );
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  assert.ok(readme.includes('`apt-get install -y libatomic1`'));
});

/** Debian's smallest image contains these libraries, because apt needs them. */
const BASE_PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6'];

test('the steps of the Dockerfile make a server that works for any user', SLOW, async (t) => {
  const image = await buildImage(parseDockerfile(dockerfile), imageFolder(t));
  assert.match(image.user, /^[1-9]\d+:[1-9]\d+$/, 'a number: Kubernetes refuses a name if it forbids root');
  assert.deepEqual(image.start.slice(-1), ['serve']);
  const content = ['', 'node_modules', 'node_modules/.bin', 'node_modules/@runwire'].map((path) =>
    readdirSync(join(image.cwd, path)).sort(),
  );
  assert.deepEqual(content, [
    ['node_modules'],
    ['.bin', '.package-lock.json', '@runwire'],
    ['node', 'runwire'],
    ['agency', 'cli', 'documents', 'server'],
  ]);
  const data = image.env.RUNWIRE_DATA_DIR ?? '';
  assert.equal(statSync(data).mode & 0o777, 0o700);
  execFileSync('chmod', ['-R', 'a-w', image.cwd]);

  await t.test('it starts, reports its health, answers, and ends after SIGTERM', async () => {
    await using server = await start(image, {});
    const [key = ''] = keysIn(server.stdout);
    assert.equal(await getHealth(image, server.url), 0);
    assert.equal((await fetch(`${server.url}/console/`)).status, 200);
    const events = await completion(server.url, key);
    assert.deepEqual([events[0], ...events.slice(-2)], ['meta', 'messages', 'end']);
    if (process.getuid?.() === 0) {
      const owner = readFileSync(`/proc/${server.pid}/status`, 'utf8').match(/^Uid:\t(\d+)/m)?.[1];
      assert.equal(`${owner}:${owner}`, image.user, 'not root');
    }
    const { code, signal } = await server.stop('SIGTERM');
    assert.deepEqual([code, signal], [0, null]);
    assert.equal(await getHealth(image, server.url), 1, 'the server has ended');
  });

  const missing = await missingService('postgres');
  await t.test('each node of compose.yaml starts with its settings', { skip: missing ?? false }, async () => {
    await using database = await freshDatabase();
    // PostgreSQL needs an empty volume: the embedded installation's volume would be refused.
    for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
    const agencies = join(data, '..', 'agencies');
    mkdirSync(agencies, { mode: 0o755 });
    const key = 'k'.repeat(48);
    const environments = nodeEnvironments(readCompose(), { POSTGRES_PASSWORD: 'p', RUNWIRE_API_KEY: key });
    await using servers = new AsyncDisposableStack();
    assert.equal(environments.length, 3);
    // Properties that all of them share are tested once.
    for (const environment of new Map(environments.map((one) => [JSON.stringify(one), one])).values()) {
      assert.match(environment.DATABASE_URL ?? '', /^postgres:\/\/runwire:p@postgres:5432\/runwire$/);
      const server = servers.use(
        await start(image, {
          ...environment,
          DATABASE_URL: database.url,
          RUNWIRE_METRICS_PORT: '0',
          RUNWIRE_AGENCIES_DIR: agencies,
        }),
      );
      const { body } = await server.api(null).get('/readyz');
      assert.deepEqual(body, {
        status: 'ok',
        store: 'postgres',
        sandbox: { kind: 'bubblewrap', proc: true, memory: 'watch' },
      });
      assert.equal((await completion(server.url, key)).at(-1), 'end');
      const metrics = /^Metrics, without a key: (\S+)$/m.exec(server.stdout)?.[1] ?? '';
      assert.match(await (await fetch(metrics)).text(), /^runwire_admissions_total\{outcome="admitted"\} 1$/m);
    }
  });

  await t.test('what Node needs of the system is in the image', { skip: !existsSync('/usr/bin/dpkg') }, () => {
    // Compares in both directions: no package is missing, and no package is unnecessary.
    const needed = libraryPackages(join(image.cwd, 'node_modules/.bin/node'));
    assert.deepEqual(
      needed.filter((name) => !BASE_PACKAGES.includes(name)),
      image.packages.filter((name) => name !== SANDBOX_PACKAGE && !COMMAND_PACKAGES.split(' ').includes(name)),
    );
  });
});

test('sees a planted fault: an image without its packages does not start', async (t) => {
  const folder = imageFolder(t);
  const broken = parseDockerfile(dockerfile).map((one) =>
    one.name === 'RUN' && /^(npm|cp) /.test(one.text) ? { ...one, text: 'mkdir -p /app' } : one,
  );
  assert.equal(broken.filter(({ text }) => text === 'mkdir -p /app').length, 4);
  const image = await buildImage(broken, folder);
  await assert.rejects(start(image, {}));
});
