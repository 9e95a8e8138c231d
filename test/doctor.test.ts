import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Runwire } from '@runwire/client';
import { diagnose } from '@runwire/server';
import {
  FakeProvider,
  fillDisk,
  fullTest,
  providerEvents,
  sseText,
  startTestServer,
  TEST_API_KEY,
} from '@runwire/test-kit';
import { FaultyProxy } from '@runwire/test-kit/faulty-proxy.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual } from '@runwire/test-kit/shortfall.ts';
import { checkProxy } from '../packages/cli/src/check-proxy.ts';
import { WatchedFetch } from '../packages/cli/src/watched-fetch.ts';
import { AgenciesFolder } from './support/agencies-folder.ts';
import { CliServer, getFolder, startRunwire } from './support/cli-process.ts';
import { Nginx } from './support/nginx.ts';
import { missingService } from './support/services.ts';
import { SmallDisk } from './support/small-disk.ts';

/* Needs its own process: `diagnose` sets the umask. */

/** The checks with a finding, as `check: finding`. */
const findings = async (env: Readonly<Record<string, string>>) =>
  (await diagnose(env)).flatMap(({ check, finding }) => (finding === null ? [] : [`${check}: ${finding}`]));

const UNREACHABLE_DATABASE = 'postgres://runwire:secret@127.0.0.1:9/runwire';

/** A provider that refuses every key. */
async function refusingProvider(t: TestContext): Promise<string> {
  const provider = createServer((_, answer) => answer.writeHead(401).end('{}')).listen(0, '127.0.0.1');
  t.after(() => provider.close());
  await once(provider, 'listening');
  return `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
}

test('doctor names a wrong setting, an unreachable database and a refused model key', async (t) => {
  const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_SANDBOX: 'just-bash' };
  assert.deepEqual(await findings(env), [], 'a healthy set-up');
  assert.deepEqual(await findings({ ...env, PORT: 'x' }), [
    'settings: PORT is `x`; set it to a whole number from 0 to 65535.',
  ]);
  const OPENAI_BASE_URL = await refusingProvider(t);
  const DATABASE_URL = UNREACHABLE_DATABASE;
  assert.deepEqual(await findings({ ...env, DATABASE_URL, OPENAI_BASE_URL, OPENAI_API_KEY: 'sk-wrong' }), [
    'store: The database of DATABASE_URL cannot be used (connect ECONNREFUSED 127.0.0.1:9); fix that, or DATABASE_URL.',
    'model: The model provider refused the API key (401); check OPENAI_API_KEY.',
  ]);
});

test('doctor tries both protocols, and checks providers.yaml, agencies and MCP programs', async (t) => {
  await using provider = await FakeProvider.start();
  using folder = new AgenciesFolder({
    'providers.yaml': `local: { api: responses, baseUrl: "${provider.baseUrl}", colour: red }\n`,
    'bad/agency.yaml': 'name: Bad\nagents:\n  - { name: A, instructions: Help., tool: x }\n',
    'tools/agency.yaml': `name: Tools
mcp: { docs: { command: no-such-program }, local: { command: ./serve }, here: { command: sh }, shop: { url: "http://127.0.0.1:9" } }
agents: [{ name: A, instructions: Help. }]
`,
  });
  const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_SANDBOX: 'off', RUNWIRE_AGENCIES_DIR: folder.path };
  const { PATH = '' } = process.env;
  const ofModel = { OPENAI_BASE_URL: provider.baseUrl, RUNWIRE_MODEL: 'openai/m', PATH };
  const found = findings({ ...env, ...ofModel });
  (await provider.nextCall()).answer(404, {});
  const second = await provider.nextCall();
  assert.equal(second.path, '/v1/chat/completions');
  await second.bytes(sseText(providerEvents('chat', { parts: [{ kind: 'text', deltas: ['ready'] }] })));
  second.end();
  const needs = (server: string, program: string, missing: string) =>
    `mcp: The MCP server ${server} of the agency tools needs the program \`${program}\`, which ${missing}; install it, or write the path of a program in \`command\`.`;
  const notFound =
    'model: The model provider does not have `m` (404); check the name of the model and OPENAI_BASE_URL. If the server has no Responses API, like vLLM and Ollama, set RUNWIRE_OPENAI_API=chat.';
  assert.deepEqual(await found, [
    'providers: providers.yaml:1:64: `colour` is not a field of a provider; its fields are api, baseUrl, apiKey, package, options, models.',
    `${notFound} The server answered with the other protocol: set RUNWIRE_OPENAI_API=chat.`,
    'agencies: bad/agency.yaml:3:37: `tool` is not a field of an agent; did you mean `tools`?',
    needs('docs', 'no-such-program', 'is not on the PATH'),
    needs('local', './serve', 'is not a file that this user can execute'),
  ]);
});

test('runwire doctor prints a line for each check, and exits with 1 if there is a problem', async (t) => {
  const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_SANDBOX: 'off' };
  const healthy = await startRunwire(['doctor'], { env }).result;
  assert.deepEqual([healthy.code, healthy.stderr], [0, 'No problem was found.\n']);
  assert.match(
    healthy.stdout,
    /^ok +settings .*\nok +store +SQLite in .*\nok +files .*\nok +model +offline\/demo\nok +sandbox +off\n$/,
  );
  const wrong = await startRunwire(['doctor', '--json'], { env: { ...env, RUNWIRE_SANDBOX: 'exec:/none' } }).result;
  assert.equal(wrong.code, 1);
  assert.match(
    JSON.parse(wrong.stdout).at(-1).finding,
    /which cannot run here .*; fix this, or set it to auto or off\.$/,
  );
});

test('an unreachable address and a missing key are findings of doctor', async (t) => {
  const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_SANDBOX: 'off' };
  for (const [key, finding] of [
    [TEST_API_KEY, /^http:\/\/127\.0\.0\.1:9 cannot be reached \(.*\); start the server/],
    ['', /^No API key is set; set RUNWIRE_API_KEY\./],
  ] as const) {
    const doctor = ['doctor', '--json', '--url', 'http://127.0.0.1:9'];
    const { code, stdout } = await startRunwire(doctor, { env: { ...env, RUNWIRE_API_KEY: key } }).result;
    const results = JSON.parse(stdout);
    assert.deepEqual([code, results.length, results.at(-1).check], [1, 6, 'proxy']);
    assert.match(results.at(-1).finding, finding);
  }
});

test('doctor names a proxy that refuses the request of a run', async () => {
  await using server = await startTestServer();
  await using proxy = await FaultyProxy.start(server.url);
  const page = '<h1>403 at a firewall</h1>';
  proxy.plan = ({ path }) =>
    path === '/get_completion_v2'
      ? { kind: 'answer', late: false, text: `HTTP/1.1 403 No\r\nContent-Length: ${page.length}\r\n\r\n${page}` }
      : null;
  const watched = new WatchedFetch(fetch);
  const client = new Runwire({ baseUrl: proxy.url, apiKey: TEST_API_KEY, fetch: watched.fetch });
  const [finding = '', ...others] = await checkProxy(client, watched, { firstByteMs: 5000, watchMs: 6000 });
  assert.match(
    finding,
    /^The run was refused: Status 403, not from a Runwire server; .*firewall.* let it pass POST \/get_completion_v2 on\.$/,
  );
  assert.deepEqual(others, []);
});

const nginx = (await missingService('nginx')) ?? false;

fullTest('doctor names what a proxy does to streams and headers', { skip: nginx }, async () => {
  await using server = await startTestServer();
  const check = async (settings: string) => {
    await using proxy = await Nginx.start(server.url, settings);
    const watched = new WatchedFetch(fetch);
    const client = new Runwire({ baseUrl: proxy.url, apiKey: TEST_API_KEY, fetch: watched.fetch });
    return (await checkProxy(client, watched, { firstByteMs: 5000, watchMs: 6000 })).join('\n');
  };
  const [healthy, buffered, impatient, stripping] = await Promise.all([
    check(''),
    check('proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;'),
    check('proxy_read_timeout 1s;'),
    check('proxy_hide_header X-Run-Id; proxy_set_header Last-Event-ID "";'),
  ]);
  assert.equal(healthy, '');
  assert.match(buffered ?? '', /^A proxy holds streams back: .*`proxy_buffering off;`/);
  assert.match(impatient ?? '', /^A proxy cuts streams after about 1 s without a byte; .*`proxy_read_timeout 75s;`/);
  assert.match(
    stripping ?? '',
    /^A proxy removes headers of answers \(x-run-id\); .*\nA proxy removes the header Last-Event-ID/,
  );
  const { body } = await server.api.get('/v2/integrations');
  assert.deepEqual(
    body.items.map(({ apiIntegrationId }: { apiIntegrationId: string }) => apiIntegrationId),
    ['demo'],
    'its integrations are deleted',
  );
});

interface SetUp {
  readonly what: string;
  readonly url?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The checks that must have a finding, each with a part of its cure. */
  readonly findings: Readonly<Record<string, RegExp>>;
}

async function checkCommand(t: TestContext): Promise<void> {
  const settings = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_API_KEY: TEST_API_KEY };
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await CliServer.start({ store: 'sqlite', env: settings }));
  const proxy = async (lines: string) => {
    const { url } = stack.use(await Nginx.start(server.url, lines));
    return plantedFault() === 'ignore-proxy' ? {} : { url };
  };
  const disk = stack.use(new SmallDisk('doctor', '4m'));
  fillDisk(join(disk.folder, 'fill'));
  const full = /is full; free some space/;
  const problems: readonly SetUp[] = [
    {
      what: 'buffering',
      ...(await proxy('proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;')),
      findings: { proxy: /`proxy_buffering off;`/ },
    },
    {
      what: 'a read limit of 5 s',
      ...(await proxy('proxy_read_timeout 5s;')),
      findings: { proxy: /after about 5 s .*`proxy_read_timeout 75s;`/ },
    },
    {
      what: 'a removed header',
      ...(await proxy('proxy_hide_header X-Agent-Run-Admitted;')),
      findings: { proxy: /\(x-agent-run-admitted\); let it pass/ },
    },
    {
      what: 'a full disk',
      env: { RUNWIRE_DATA_DIR: join(disk.folder, 'data') },
      findings: { store: full, files: full },
    },
    {
      what: 'an unreachable database',
      env: { DATABASE_URL: UNREACHABLE_DATABASE },
      findings: { store: /fix that, or DATABASE_URL/ },
    },
    {
      what: 'a wrong model key',
      env: { OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: await refusingProvider(t) },
      findings: { model: /check OPENAI_API_KEY/ },
    },
  ];
  const check = async ({ what, url, env = {}, findings }: SetUp) => {
    const doctor = ['doctor', '--json', ...(url === undefined ? [] : ['--url', url])];
    const { code, stdout, stderr } = await startRunwire(doctor, { env: { ...settings, ...env } }).result;
    expectEqual(`${what}: errors`, stderr, '');
    const all = JSON.parse(stdout) as { check: string; finding: string | null }[];
    const found = all.filter(({ finding }) => finding !== null);
    const checks = found.map(({ check }) => check);
    expectEqual(`${what}: checks with a finding`, checks, Object.keys(findings));
    expectEqual(`${what}: exit code`, code, found.length === 0 ? 0 : 1);
    for (const { check, finding } of found) assert.match(finding ?? '', findings[check] ?? /^$/, what);
  };
  await check({ what: 'a healthy set-up', ...(await proxy('')), findings: {} });
  await Promise.all(problems.map(check));
  count({ problems: problems.length, healthy: 1 });
}
// Each set-up takes a command of the real CLI some seconds.
if (scale(plantedFault() !== null, true)) {
  test('runwire doctor names the problem of a set-up, and nothing else', { skip: nginx }, checkCommand);
}
