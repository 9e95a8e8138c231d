import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeProvider, type Protocol, providerEvents, sseText } from '@runwire/test-kit';
import { scale } from '@runwire/test-kit/scale.ts';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { StartRefused } from '../packages/server/src/domain/start-refused.ts';
import { cites } from '../requirements/cite.ts';
import { CliServer, getFolder, runwire } from './support/cli-process.ts';

type Settings = Readonly<Record<string, string>>;

/** Settings that a later version may have. */
const NOT_BUILT: Settings = {
  RUNWIRE_WEBHOOKS: 'true',
};

const WRONG: readonly Settings[] = [
  { RUNWIRE_AGENCIES_DIR: './no-such-folder' },
  { RUNWIRE_AGENCIES_DIR: 'package.json' },
  { RUNWIRE_AGENCIES_DIR: 'test/data/portable/ported/crewai' },
  { RUNWIRE_AGENCIES_WATCH: 'true' },
  { RUNWIRE_AGENCIES_WATCH: 'yes' },
  ...['abc', '-1', '1.5', '65536', '0x50', ' 80', '8787 '].map((PORT) => ({ PORT })),
  ...['not a url', 'ftp://example.com', 'example.com', 'https://u:p@example.com', 'https://example.com/?a=1'].flatMap(
    (url) => [{ RUNWIRE_PUBLIC_URL: url }, { RUNWIRE_STAGING_URL: url }],
  ),
  { RUNWIRE_PUBLIC_URL: 'https://example.com/#a' },
  ...[
    'https://u:hunter22@models.example.com',
    'https://hunter22@models.example.com/v1',
    'https://models.example.com/v1?key=hunter22',
    'https://models.example.com/v1#hunter22',
    'u:hunter22@models.example.com',
    '//u:hunter22@models.example.com',
    'sk-hunter22',
  ].flatMap((url) => [{ OPENAI_BASE_URL: url }, { RUNWIRE_PUBLIC_URL: url }, { RUNWIRE_STAGING_URL: url }]),
  { RUNWIRE_API_KEY: 'x'.repeat(31) },
  { RUNWIRE_API_KEY: `${'x'.repeat(40)} ${'x'.repeat(40)}` },
  { RUNWIRE_API_KEY: 'é'.repeat(40) },
  { RUNWIRE_SECRET: 'x'.repeat(31) },
  { RUNWIRE_LOG_LEVEL: 'loud' },
  { RUNWIRE_LOG_DAYS: 'a week' },
  { RUNWIRE_DATADIR: '/tmp' },
  ...['gpt-5', 'openai/', 'openai', 'offline/other', 'anthropic/claude', 'openai/a b', '/'].map((model) => ({
    RUNWIRE_MODEL: model,
    OPENAI_API_KEY: 'sk-1',
  })),
  { RUNWIRE_MODEL: 'openai/gpt-5' },
  { RUNWIRE_OPENAI_API: 'soap', OPENAI_API_KEY: 'sk-1' },
  { RUNWIRE_OPENAI_API: 'chat' },
  { OPENAI_API_KEY: 'sk-1 ' },
  { OPENAI_BASE_URL: 'models.example.com', OPENAI_API_KEY: 'sk-1' },
  ...['-', '-1', '1.5', '1e3', 'many', '99999999999'].flatMap((text) =>
    ['RUNWIRE_MAX_STEPS', 'RUNWIRE_MAX_BODY_BYTES', 'RUNWIRE_DRAIN_SECONDS'].map((name) => ({ [name]: text })),
  ),
  ...[
    'mysql://db.example.com/runwire',
    'db.example.com/runwire',
    'postgres://u:hunter22@db.example.com',
    'postgres:///runwire',
    'postgres://u:hunter22@db.example.com/a/b',
    'postgres://u:hunter22@db.example.com/runwire?schema=mine',
    'postgres://u:hunter22@db.example.com/runwire?sslmode=prefer',
    'postgres://u:hunter22@db.example.com/runwire?pgbouncer=yes',
  ].map((DATABASE_URL) => ({ DATABASE_URL })),
  { RUNWIRE_DATABASE_POOL: '4' },
  ...['0', '201', 'many'].map((pool) => ({
    RUNWIRE_DATABASE_POOL: pool,
    DATABASE_URL: 'postgres://db.example.com/runwire',
  })),
  { RUNWIRE_SHARED_DISK: 'true', DATABASE_URL: 'postgres://db.example.com/runwire' },
  ...['abc', '-1', '1.5', '65536', ' 9464', '8787'].map((port) => ({ RUNWIRE_METRICS_PORT: port })),
  { RUNWIRE_METRICS_PORT: '9464', PORT: '9464' },
  { RUNWIRE_METRICS_HOST: '0.0.0.0' },
  ...['-1', '1.5', '20 GB', '1125899906842625', '99999999999999999'].map((bytes) => ({
    RUNWIRE_MOUNT_QUOTA_BYTES: bytes,
  })),
  { RUNWIRE_MEMBER_QUOTA_BYTES: '-1' },
  { RUNWIRE_SANDBOX_SECONDS: '301' },
  { RUNWIRE_SANDBOX_MEMORY_MIB: '127' },
  { RUNWIRE_SANDBOX_PROCESSES: '7' },
  { RUNWIRE_SANDBOX_FILE_MIB: '0' },
  ...['-files', 'Files', 'a', 'my files', 'files/', 'x'.repeat(64)].map((bucket) => ({
    S3_BUCKET: bucket,
    AWS_REGION: 'eu-central-1',
  })),
  { S3_BUCKET: 'files' },
  { AWS_REGION: 'eu central 1', S3_BUCKET: 'files' },
  { S3_UPLOADS: 'around', S3_BUCKET: 'files', AWS_REGION: 'eu-central-1' },
  { S3_UPLOADS: 'through' },
  { S3_ENDPOINT: 'https://s3.example.com' },
  ...['s3.example.com', 'https://u:hunter22@s3.example.com', 'https://s3.example.com?key=hunter22'].map((url) => ({
    S3_ENDPOINT: url,
    S3_BUCKET: 'files',
  })),
  ...[
    'https://files.internal',
    '10.0.0.1/8',
    '*.internal',
    'files.internal:0',
    'u:hunter22@files.internal',
    'https://u:hunter22@files.internal',
  ].map((allow) => ({ RUNWIRE_FETCH_ALLOW: allow })),
  ...['proxy.example.com', '10.0.0.1/8', '10.0.0.0/33', '10.0.0', '::ffff:10.0.0.1', '10.0.0.1, *'].map((proxies) => ({
    RUNWIRE_TRUSTED_PROXIES: proxies,
  })),
  { RUNWIRE_MAX_ATTACHMENT_BYTES: '134217729' },
  ...['RUNWIRE_MAX_ATTACHMENT_BYTES', 'RUNWIRE_MAX_ATTACHMENT_SECONDS', 'RUNWIRE_MAX_ATTACHMENT_PAGES'].map((name) => ({
    [name]: '0',
  })),
  { RUNWIRE_MAX_ATTACHMENT_CHARACTERS: 'all' },
  { RUNWIRE_MAX_CONVERSION_SECONDS: '86401' },
  { RUNWIRE_MAX_RUN_SECONDS: '0' },
  { RUNWIRE_MAX_RUN_SECONDS: '86401' },
  ...['none', 'Bubblewrap', 'exec', 'exec:', 'exec:bin/engine', 'bubblewrap,just-bash'].map((sandbox) => ({
    RUNWIRE_SANDBOX: sandbox,
  })),
  ...['0', '-1', '1.5', 'many', '1001'].map((slots) => ({ RUNWIRE_SANDBOX_SLOTS: slots })),
];

/** Checks that the text is one line with one sentence, which contains the setting's name. */
function assertOneSentence(text: string, about: RegExp): void {
  assert.match(text, /^[^\n]+[.]\n?$/);
  assert.ok(!/[.!?] [A-Z]/.test(text), `more than one sentence: ${text}`);
  assert.match(text, about);
}

test('every wrong setting is refused with one sentence that names it and a fix', (t) => {
  cites(t, 'contract-1-wrong-settings');
  for (const settings of WRONG) {
    const [name = ''] = Object.keys(settings);
    assert.throws(
      () => readConfig(settings),
      (error) => {
        assert.ok(error instanceof StartRefused, `${JSON.stringify(settings)}: ${error}`);
        assert.ok(!error.message.includes('hunter22'), 'no password and no key is printed');
        assertOneSentence(
          error.message,
          new RegExp(`^${name} .*(set it to|set one|set (OPENAI|ANTHROPIC)_|must (be|contain)|use |unset)`),
        );
        return true;
      },
      JSON.stringify(settings),
    );
  }
});

/** Kubernetes injects these variables for a Service with this name and a port 8787 called `http`. */
function serviceVariables(service: string, address: string, protocol = 'tcp'): Settings {
  const name = service.toUpperCase().replaceAll('-', '_');
  const port = `${name}_PORT_8787_${protocol.toUpperCase()}`;
  const url = `${protocol}://${address}:8787`;
  return {
    [`${name}_SERVICE_HOST`]: address,
    [`${name}_SERVICE_PORT`]: '8787',
    [`${name}_SERVICE_PORT_HTTP`]: '8787',
    [`${name}_PORT`]: url,
    [port]: url,
    [`${port}_PROTO`]: protocol,
    [`${port}_PORT`]: '8787',
    [`${port}_ADDR`]: address,
  };
}

test('variables that Kubernetes injects for its Services are ignored', (t) => {
  cites(t, 'contract-1-kubernetes');
  const plain = readConfig({}).config;
  const services = ['runwire', 'runwire-api', 'runwire-metrics', 'runwire-model', 'runwire-public-url'];
  for (const service of services) {
    assert.deepEqual(readConfig(serviceVariables(service, '10.96.0.12')).config, plain, service);
    assert.deepEqual(readConfig(serviceVariables(service, '[fd00::1]')).config, plain, service);
    assert.deepEqual(readConfig(serviceVariables(service, '10.96.0.12', 'udp')).config, plain, service);
    assert.deepEqual(readConfig(serviceVariables(service, '10.96.0.12', 'sctp')).config, plain, service);
  }
});

test('reads settings beside variables of Kubernetes, and refuses misspelt ones', (t) => {
  cites(t, 'contract-1-kubernetes', 'contract-1-wrong-settings');
  const injected = {
    ...serviceVariables('runwire', '10.96.0.12'),
    ...serviceVariables('runwire-metrics', '10.96.0.13'),
  };
  const { config } = readConfig({ ...injected, RUNWIRE_METRICS_PORT: '9464', RUNWIRE_LOG_LEVEL: 'warn' });
  assert.deepEqual([config.metrics?.port, config.logLevel], [9464, 'warn']);
  const refused = {
    RUNWIRE_PORT: '9000',
    RUNWIRE_METRICS_PORT: 'http://10.96.0.12:9464',
    RUNWIRE_METRIC_PORT: '9464',
    RUNWIRE_MODEL_PORT: '8787',
    RUNWIRE_API_SERVICE: 'tcp://10.96.0.12:8787',
    RUNWIRE_API_PORTS: 'tcp://10.96.0.12:8787',
    RUNWIRE_API_PORT_HTTP: '8787',
  };
  for (const [name, value] of Object.entries(refused)) {
    assert.throws(() => readConfig({ ...injected, [name]: value }), new RegExp(`${name} is `));
  }
});

test('a setting of a missing feature is refused with one sentence', (t) => {
  cites(t, 'contract-1-not-built');
  for (const [name, value] of Object.entries(NOT_BUILT)) {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error) => {
        assert.ok(error instanceof StartRefused);
        assertOneSentence(error.message, new RegExp(`^${name} is not a setting of Runwire; .*unset it`));
        return true;
      },
    );
  }
});

test('a misspelt setting is refused with the name that was probably meant', () => {
  const advice = {
    RUNWIRE_AGENCIES: 'write RUNWIRE_AGENCIES_DIR or RUNWIRE_AGENCIES_WATCH',
    RUNWIRE_DATADIR: 'write RUNWIRE_DATA_DIR',
    RUNWIRE_PUBLIC_URI: 'write RUNWIRE_PUBLIC_URL',
    RUNWIRE_COLOUR: 'check its spelling',
  };
  for (const [name, words] of Object.entries(advice)) {
    const message = `${name} is not a setting of Runwire; ${words}, or unset it.`;
    assert.throws(() => readConfig({ [name]: 'x' }), { message });
  }
});

test('a wrong start exits 1 with that sentence and leaves no file', async (t) => {
  cites(t, 'contract-1-wrong-settings', 'contract-1-not-built');
  const folder = getFolder(t);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const takenPort = String(typeof address === 'object' && address !== null ? address.port : 0);
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'damaged'));
  writeFileSync(join(folder, 'damaged', 'secret'), 'short');
  mkdirSync(join(folder, 'no-database'));
  writeFileSync(join(folder, 'no-database', 'runwire.db'), 'This is no database, and it is long enough. '.repeat(200));
  const all: readonly (readonly [Settings, RegExp])[] = [
    [{ PORT: takenPort }, /PORT/],
    [{ DATABASE_URL: 'postgres://someone:hunter22@127.0.0.1:1/runwire' }, /DATABASE_URL/],
    [{ RUNWIRE_API_KEY: 'short' }, /RUNWIRE_API_KEY/],
    [{ RUNWIRE_DATA_DIR: join(folder, 'damaged') }, /RUNWIRE_SECRET/],
    [{ PORT: 'abc' }, /PORT/],
    [{ HOST: 'nowhere.invalid' }, /HOST/],
    [{ HOST: '203.0.113.1' }, /HOST/],
    [{ RUNWIRE_METRICS_PORT: takenPort }, /RUNWIRE_METRICS_PORT/],
    [{ RUNWIRE_METRICS_PORT: '0', RUNWIRE_METRICS_HOST: '203.0.113.1' }, /RUNWIRE_METRICS_HOST/],
    [{ RUNWIRE_DATA_DIR: join(folder, 'file') }, /RUNWIRE_DATA_DIR/],
    [{ RUNWIRE_DATA_DIR: '/proc' }, /RUNWIRE_DATA_DIR/],
    [{ RUNWIRE_DATA_DIR: join(folder, 'no-database') }, /RUNWIRE_DATA_DIR/],
  ];
  // Each start takes about 0.5 s of CPU.
  const cases = all.slice(0, scale(4, all.length));
  const unused = (settings: Settings) => join(folder, `unused-${Object.keys(settings).join()}`);
  const start = ([settings]: (typeof cases)[number]) =>
    runwire(['serve'], { env: { PORT: '0', RUNWIRE_DATA_DIR: unused(settings), ...settings } });
  // Two processes at a time: more would only wait for each other.
  const half = cases.length / 2;
  const ends = (await Promise.all([cases.slice(0, half), cases.slice(half)].map((some) => inTurn(some, start)))).flat();
  for (const [place, [settings, about]] of cases.entries()) {
    const end = ends[place];
    assert.ok(end !== undefined);
    assert.deepEqual([end.code, end.stdout], [1, ''], JSON.stringify(settings));
    assertOneSentence(end.stderr, about);
    assert.ok(!end.stderr.includes('hunter22'), 'no password is printed');
  }
  for (const name of ['RUNWIRE_API_KEY', 'DATABASE_URL']) assert.equal(existsSync(unused({ [name]: '' })), false);
  taken.close();
});

async function inTurn<A, B>(all: readonly A[], job: (one: A) => Promise<B>): Promise<B[]> {
  const results: B[] = [];
  for (const one of all) results.push(await job(one));
  return results;
}

const OWN_KEY = 'a-key-of-my-own-0123456789-0123456789';

test('the start reports a provider that is set up but not used', async (t) => {
  cites(t, 'contract-1-offline-says-so');
  const env = {
    RUNWIRE_DATA_DIR: getFolder(t),
    RUNWIRE_API_KEY: OWN_KEY,
    OPENAI_BASE_URL: 'https://models.example.com',
    GROQ_API_KEY: 'sk-2',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_REGION: 'eu-central-1',
  };
  await using server = await CliServer.start({ env });
  assert.match(server.stdout, /To use https:\/\/api\.groq\.com\/openai\/v1, set RUNWIRE_MODEL to groq\//);
  assert.match(
    server.stdout,
    /none of its models is chosen: the offline demo model answers\. To use https:\/\/models\.example\.com, set RUNWIRE_MODEL to openai\//,
  );
  assert.ok(!server.stdout.includes('sk-'));
  const reader = await server.api(OWN_KEY).complete({});
  await reader.whole();
  assert.match(reader.answer, /offline/);
});

test('a provider key makes the demo agency use that provider', async (t) => {
  cites(
    t,
    'contract-1-provider-keys',
    'contract-1-provider-model',
    'contract-1-provider-printed',
    'contract-1-model',
    'contract-1-openai-api',
    'contract-1-openai-protocols',
  );
  await using provider = await FakeProvider.start();
  const cases: readonly (readonly [settings: Settings, model: string, path: string, protocol: Protocol])[] = [
    [{ OPENAI_API_KEY: 'sk-secret' }, 'openai/gpt-5-mini', '/v1/responses', 'responses'],
    [
      { RUNWIRE_MODEL: 'openai/org/llama:8b', RUNWIRE_OPENAI_API: 'chat' },
      'openai/org/llama:8b',
      '/v1/chat/completions',
      'chat',
    ],
    [{ ANTHROPIC_API_KEY: 'sk-secret' }, 'anthropic/claude-haiku-5-5', '/v1/messages', 'messages'],
    [
      { GROQ_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: 'sk-2', RUNWIRE_MODEL: 'groq/llama' },
      'groq/llama',
      '/v1/chat/completions',
      'chat',
    ],
    [{ RUNWIRE_MODEL: 'ollama/llama' }, 'ollama/llama', '/v1/chat/completions', 'chat'],
  ];
  for (const [settings, model, path, protocol] of cases.slice(0, scale(3, cases.length))) {
    const [name = '', ...rest] = model.split('/');
    const env = {
      RUNWIRE_DATA_DIR: getFolder(t),
      RUNWIRE_API_KEY: OWN_KEY,
      [`${name.toUpperCase()}_BASE_URL`]: `${provider.baseUrl}/`,
      ...settings,
    };
    await using server = await CliServer.start({ env });
    assert.match(
      server.stdout,
      new RegExp(`^The demo agency uses ${model} \\(.* API at ${provider.baseUrl}\\)\\.$`, 'm'),
    );
    const answering = server.api(OWN_KEY).complete({ message: 'Hi' });
    const call = await provider.nextCall();
    assert.deepEqual([call.path, call.body.model], [path, rest.join('/')]);
    const key =
      protocol === 'messages' ? call.headers['x-api-key'] : call.headers.authorization?.slice('Bearer '.length);
    assert.equal(key, Object.values(settings).includes('sk-secret') ? 'sk-secret' : undefined);
    await call.stream(sseText(providerEvents(protocol, { parts: [{ kind: 'text', deltas: ['Good ', 'day'] }] })));
    const reader = await answering;
    await reader.whole();
    assert.equal(reader.answer, 'Good day');
    const { body } = await server.api(OWN_KEY).get('/v2/agencies');
    assert.equal(body.items[0].agents[0].model, model);
    assert.ok(!`${server.stdout}${server.stderr}`.includes('sk-secret'));
  }
});

test('several keys choose OpenAI, then Anthropic; other keys choose no model', (t) => {
  cites(t, 'contract-1-provider-order', 'contract-1-anthropic-key');
  const [OPENAI_API_KEY, ANTHROPIC_API_KEY, XAI_API_KEY] = ['sk-1', 'sk-2', 'sk-3'];
  for (const [env, model, names] of [
    [{ XAI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY }, 'openai/gpt-5-mini', ['openai', 'anthropic', 'xai']],
    [{ XAI_API_KEY, ANTHROPIC_API_KEY }, 'anthropic/claude-haiku-5-5', ['anthropic', 'xai']],
    [{ XAI_API_KEY }, 'offline/demo', ['xai']],
  ] as const) {
    const { config, secrets } = readConfig(env);
    assert.equal(config.model, model);
    assert.deepEqual(
      config.providers.filter(({ isSet }) => isSet).map(({ name }) => name),
      names,
    );
    assert.deepEqual([...secrets.providerKeys.keys()], names);
    assert.ok(!JSON.stringify(config).includes('sk-'));
  }
});

test('RUNWIRE_MODEL=offline/demo keeps the offline model beside a key', (t) => {
  cites(t, 'contract-1-model');
  const { config, secrets } = readConfig({ OPENAI_API_KEY: 'sk-secret', RUNWIRE_MODEL: 'offline/demo' });
  assert.equal(config.model, 'offline/demo');
  assert.ok(!JSON.stringify(config).includes('sk-secret'));
  assert.equal(secrets.providerKeys.get('openai'), 'sk-secret');
});

test('files are on the disk, in a bucket at Amazon, or in one elsewhere', (t) => {
  cites(t, 'contract-1-s3');
  assert.equal(readConfig({ AWS_REGION: 'eu-central-1' }).config.s3, null);
  assert.deepEqual(readConfig({ S3_BUCKET: 'files', AWS_REGION: 'eu-central-1' }).config.s3, {
    bucket: 'files',
    endpoint: null,
    region: 'eu-central-1',
    uploads: 'direct',
  });
  const own = { S3_BUCKET: 'my.files', S3_ENDPOINT: 'https://s3.example.com/', S3_UPLOADS: 'through' };
  assert.deepEqual(readConfig(own).config.s3, {
    bucket: 'my.files',
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    uploads: 'through',
  });
});

test('the allowed private addresses are empty by default and printed at start', async (t) => {
  cites(t, 'contract-1-fetch-allow');
  assert.deepEqual(readConfig({ RUNWIRE_FETCH_ALLOW: '' }).config.fetchAllow.entries, []);
  const said = async (settings: Settings) => {
    const env = { RUNWIRE_DATA_DIR: getFolder(t), RUNWIRE_API_KEY: OWN_KEY, ...settings };
    await using server = await CliServer.start({ env });
    return /^Files are also fetched from: (.*)$/m.exec(server.stdout)?.[1] ?? null;
  };
  assert.equal(await said({}), null);
  const RUNWIRE_FETCH_ALLOW = 'files.internal, 10.1.0.0/16 [fd00::]/8:8443 localhost:9000';
  assert.equal(
    await said({ RUNWIRE_FETCH_ALLOW }),
    'files.internal:443, 10.1.0.0/16:443, [fd00::]/8:8443, localhost:9000',
  );
});

test('without settings it is http://127.0.0.1:8787 and .runwire; set to nothing is not set', (t) => {
  cites(t, 'contract-1-run-address', 'contract-1-data-dir');
  const nothing = Object.fromEntries(
    [
      'HOST',
      'PORT',
      'RUNWIRE_DATA_DIR',
      'RUNWIRE_PUBLIC_URL',
      'RUNWIRE_API_KEY',
      'RUNWIRE_SANDBOX',
      'RUNWIRE_SANDBOX_SLOTS',
    ].map((name) => [name, '']),
  );
  for (const env of [{}, nothing]) {
    const { config, secrets } = readConfig(env);
    assert.deepEqual([config.host, config.port], ['127.0.0.1', 8787]);
    assert.equal(config.dataDir, join(process.cwd(), '.runwire'));
    assert.deepEqual([config.publicUrl, secrets.apiKeyHash, secrets.secret], [null, null, null]);
  }
  assert.equal(readConfig({ ...nothing, RUNWIRE_METRICS_PORT: '', RUNWIRE_METRICS_HOST: '' }).config.metrics, null);
  const trusted = (RUNWIRE_TRUSTED_PROXIES: string) => readConfig({ RUNWIRE_TRUSTED_PROXIES }).config.trustedProxies;
  assert.deepEqual(trusted(''), []);
  assert.deepEqual(
    trusted('10.1.2.3, 10.1.0.0/16 fd00::/8').map(({ prefix }) => prefix),
    [32, 16, 8],
  );
  assert.deepEqual(readConfig({ RUNWIRE_METRICS_PORT: '9464' }).config.metrics, { host: '127.0.0.1', port: 9464 });
  assert.deepEqual(readConfig(nothing).config.sandbox, { kind: 'auto', program: null, slots: 4 });
  const exec = readConfig({ RUNWIRE_SANDBOX: 'exec:/opt/engine', RUNWIRE_SANDBOX_SLOTS: '8' });
  assert.deepEqual(exec.config.sandbox, { kind: 'exec', program: '/opt/engine', slots: 8 });
  const elsewhere = getFolder(t);
  assert.equal(readConfig({ RUNWIRE_DATA_DIR: elsewhere }).config.dataDir, elsewhere);
});
