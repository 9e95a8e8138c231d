import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '@runwire/test-kit';
import { testCertificate } from '@runwire/test-kit/test-certificate.ts';
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
import type { ConfigMap, Service } from 'kubernetes-types/core/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../packages/server/src/config/read-config.ts';
import { CliServer, getFolder, root, run } from './support/cli-process.ts';
import { temporaryPaths } from './support/nginx.ts';
import { CADDY, missingService, NGINX, SYSTEMD_ANALYZE } from './support/services.ts';

/* The files of deploy/, checked with the programs that read them. test/compose-file.test.ts checks compose.yaml. */

const HOST = 'runwire.example.com';
const KEY = 'k'.repeat(48);
/** A stop's time in addition to drain and hand-over: see docs/upgrade.md, "What a drain does". */
const STOP_SECONDS = 15;

const read = (file: string) => readFileSync(join(root, file), 'utf8');

/** How long a supervisor has to wait before it kills a server with these settings. */
function stopSeconds(environment: Readonly<Record<string, string>>): number {
  const { limits } = readConfig(environment).config;
  return (limits.drainMs + limits.handOverMs) / 1000 + STOP_SECONDS;
}

/** Every text occurs exactly once. Otherwise the file is not the expected one. */
function replaceEach(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [what, by]) => {
    assert.equal(result.split(what).length, 2, `expected \`${what}\` once`);
    return result.replace(what, by);
  }, text);
}

/** A manifest as parsed; the compiler checks its fields. */
type Manifest = { readonly apiVersion: string; readonly kind: string };

const manifests = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as Manifest);

/** What the compiler reports about the manifests, whose types are those of Kubernetes' own API. */
async function typeErrors(text: string, folder: string): Promise<string> {
  const modules: Readonly<Record<string, string>> = { v1: 'core/v1', 'apps/v1': 'apps/v1', 'policy/v1': 'policy/v1' };
  const lines = manifests(text).map((manifest, index) => {
    const type = `import('kubernetes-types/${modules[manifest.apiVersion]}').${manifest.kind}`;
    return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
  });
  const file = join(folder, 'manifests.ts');
  writeFileSync(file, lines.join('\n'));
  const paths = JSON.stringify({ 'kubernetes-types/*': [join(root, 'node_modules/kubernetes-types/*')] });
  const options = `{ "strict": true, "noEmit": true, "module": "esnext", "moduleResolution": "bundler", "types": [], "paths": ${paths} }`;
  writeFileSync(join(folder, 'tsconfig.json'), `{ "compilerOptions": ${options}, "files": ["manifests.ts"] }`);
  return (await run('tsc', ['-p', folder])).stdout;
}

test('the Kubernetes manifest has fields that Kubernetes knows, and settings that fit', async (t) => {
  const text = read('deploy/kubernetes.yaml');
  assert.equal(await typeErrors(text, getFolder(t)), '');
  assert.match(
    await typeErrors(text.replace('readinessProbe:', 'readyProbe:'), getFolder(t)),
    /"readyProbe"' does not exist/,
  );
  const found = manifests(text) as unknown as [ConfigMap, Deployment, Service, PodDisruptionBudget];
  const [config, deployment, service, budget] = found;
  const pod = deployment.spec?.template.spec;
  const container = pod?.containers[0];
  const secret = { DATABASE_URL: 'postgres://db.example.com/runwire', RUNWIRE_SECRET: 's'.repeat(32) };
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key' };
  const environment = { ...config.data, ...secret, ...keys };
  const { database, s3 } = readConfig(environment).config;
  assert.ok(database !== null && s3 !== null);
  const preStopSeconds = Number(container?.lifecycle?.preStop?.exec?.command?.[1]);
  assert.ok((pod?.terminationGracePeriodSeconds ?? 0) >= preStopSeconds + stopSeconds(environment));
  assert.equal(container?.securityContext?.readOnlyRootFilesystem, true);
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
  assert.deepEqual(
    probes.map((probe) => probe?.httpGet?.path),
    ['/healthz', '/healthz', '/readyz'],
  );
  const image = read('Dockerfile');
  const { runAsUser, runAsGroup } = pod?.securityContext ?? {};
  assert.match(image, new RegExp(`^USER ${runAsUser}:${runAsGroup}$`, 'm'));
  assert.match(image, new RegExp(`^EXPOSE ${container.ports?.[0]?.containerPort}$`, 'm'));
  const mounts = container.volumeMounts?.map(({ mountPath }) => mountPath);
  assert.deepEqual(mounts, [/ RUNWIRE_DATA_DIR=(\S+)$/m.exec(image)?.[1], '/tmp']);
  for (const selector of [service.spec?.selector, budget.spec?.selector?.matchLabels])
    assert.deepEqual(selector, deployment.spec?.template.metadata?.labels);
});

test('systemd accepts the unit, and waits for the end of a drain', {
  skip: (await missingService('systemd')) ?? false,
}, async (t) => {
  const verify = async (text: string) => {
    const file = join(getFolder(t), 'runwire.service');
    writeFileSync(file, text);
    const { code, stderr } = await run(SYSTEMD_ANALYZE, ['verify', file]);
    return `${code === 0 ? '' : `exit ${code} `}${stderr}`.trim();
  };
  const text = replaceEach(read('deploy/runwire.service'), {
    '=/opt/runwire/bin/runwire serve': `=${join(root, 'bin/runwire')} serve`,
  });
  assert.equal(await verify(text), '');
  assert.match(await verify(text.replace('KillMode=', 'KilMode=')), /Unknown key.*'KilMode'/);
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]) >= stopSeconds({}));
});

test('docker run in the docs gives the image its volume, its port and time to stop', () => {
  const image = read('Dockerfile');
  const [command = ''] = /^docker run (?:.*\\\n)*.*$/m.exec(read('docs/deploy-single.md')) ?? [];
  assert.equal(/--volume \w+:(\S+)/.exec(command)?.[1], / RUNWIRE_DATA_DIR=(\S+)$/m.exec(image)?.[1]);
  assert.equal(/--publish 127\.0\.0\.1:8787:(\d+)/.exec(command)?.[1], /^EXPOSE (\d+)$/m.exec(image)?.[1]);
  assert.ok(Number(/--stop-timeout (\d+)/.exec(command)?.[1]) >= stopSeconds({}));
});

/** Starts a proxy in front of a server, and returns the answer to a completion that was sent through it by https. */
async function answerThrough(program: string, args: readonly string[], port: number, ca: string): Promise<string> {
  const proxy = spawn(program, args, { stdio: 'ignore', env: { HOME: dirname(ca) } });
  const gone = once(proxy, 'close');
  try {
    const { stdout, stderr } = await run('curl', [
      ...['-sSN', '--cacert', ca, '--resolve', `${HOST}:${port}:127.0.0.1`, '--retry', '20', '--retry-connrefused'],
      ...['--retry-delay', '1', `https://${HOST}:${port}/get_completion_v2`, '-H', `Authorization: Bearer ${KEY}`],
      ...['-H', 'Content-Type: application/json', '-d', '{"apiIntegrationId":"demo","message":"Hello"}'],
    ]);
    return stdout + stderr;
  } finally {
    proxy.kill('SIGTERM');
    await gone;
  }
}

for (const name of ['nginx', 'caddy'] as const) {
  test(`${name} streams by TLS with the file of deploy/`, {
    skip: (await missingService(name)) ?? false,
  }, async (t) => {
    const folder = getFolder(t);
    const { cert, key, ca } = testCertificate([HOST]);
    const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem'), ca: join(folder, 'ca.pem') };
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
    writeFileSync(files.ca, ca);
    const env = { RUNWIRE_DATA_DIR: getFolder(t), PORT: '0', RUNWIRE_API_KEY: KEY };
    await using server = await CliServer.start({ env });
    const [port, plainPort] = [await freePort(), await freePort()];
    const node = new URL(server.url).host;
    if (name === 'nginx') {
      const live = `/etc/letsencrypt/live/${HOST}`;
      const text = replaceEach(read('deploy/nginx-tls.conf'), {
        'server 127.0.0.1:8787;': `server ${node};`,
        'listen 80;': `listen 127.0.0.1:${plainPort};`,
        'listen 443 ssl http2;': `listen 127.0.0.1:${port} ssl http2;`,
        [`${live}/fullchain.pem`]: files.cert,
        [`${live}/privkey.pem`]: files.key,
        'pid /var/run/nginx.pid;': `pid ${folder}/nginx.pid;`,
        'error_log stderr warn;': `error_log ${folder}/error.log warn;`,
        'access_log off;': `access_log off; ${temporaryPaths(folder)}`,
      });
      const file = join(folder, 'nginx.conf');
      writeFileSync(file, text);
      const args = ['-c', file, '-e', join(folder, 'error.log'), '-g', 'daemon off;'];
      assert.match(await answerThrough(NGINX, args, port, files.ca), /event: end\ndata: \[DONE\]/);
      return;
    }
    const validate = ['validate', '--config', join(root, 'deploy/Caddyfile'), '--adapter', 'caddyfile'];
    assert.equal((await run(CADDY, validate, { env: { HOME: folder } })).code, 0);
    const text = replaceEach(read('deploy/Caddyfile'), {
      [`${HOST} {\n`]: `https://${HOST}:${port} {\n\ttls ${files.cert} ${files.key}\n`,
      'reverse_proxy 127.0.0.1:8787 {': `reverse_proxy ${node} {`,
    });
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`);
    const args = ['run', '--config', file, '--adapter', 'caddyfile'];
    assert.match(await answerThrough(CADDY, args, port, files.ca), /event: end\ndata: \[DONE\]/);
  });
}
