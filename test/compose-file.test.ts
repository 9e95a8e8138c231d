import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './support/cli-process.ts';
import { type ComposeFile, getNodes, readCompose } from './support/compose-file.ts';
import { composeProblems } from './support/compose-problems.ts';

test('the settings, folders, nodes and drain time of compose.yaml fit together', () => {
  assert.deepEqual(composeProblems(readCompose()), []);
});

/** Returns the file with one change in a service. */
function changed(change: Readonly<Record<string, unknown>>, name = 'node-1'): ComposeFile {
  const compose = readCompose();
  const service = { ...compose.services[name], ...change };
  return { ...compose, services: { ...compose.services, [name]: service } } as ComposeFile;
}

test('sees planted faults in compose.yaml', () => {
  const environment = readCompose().services['node-1']?.environment ?? {};
  const faults: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ environment: { ...environment, DATABSE_URL: 'x' } }, /DATABSE_URL is unknown/],
    [{ environment: { ...environment, RUNWIRE_DRAIN_SECONDS: '46' } }, /killed after 90 s, .* take up to 91 s/],
    [{ environment: { ...environment, RUNWIRE_HAND_OVER_SECONDS: '46' } }, /killed after 90 s, .* take up to 91 s/],
    [{ environment: { ...environment, RUNWIRE_DATABASE_POOL: '80' } }, /take 114 connections/],
    [{ environment: { RUNWIRE_API_KEY: environment.RUNWIRE_API_KEY } }, /does not use PostgreSQL/],
    [{ environment: { ...environment, RUNWIRE_METRICS_HOST: '' } }, /node-1: Prometheus cannot see/],
    [{ environment: { ...environment, RUNWIRE_TRUSTED_PROXIES: '' } }, /does not trust nginx at 172\.30\.87\.10/],
    [{ volumes: ['own:/data'] }, /not one for all/],
    [{ volumes: ['data:/data', './agencies:/agencies'] }, /not one for all/],
    [{ networks: { inside: { ipv4_address: '172.30.87.99' } } }, /the nodes are node-1:172\.30\.87\.99/],
    [{ healthcheck: { test: ['CMD', 'true'] } }, /not asked by/],
    [{ depends_on: { redis: { condition: 'service_healthy' } } }, /waits for redis/],
  ];
  for (const [fault, sentence] of faults) assert.match(composeProblems(changed(fault)).join('\n'), sentence);
  assert.deepEqual(composeProblems(changed({ ports: ['8787:8787'] }, 'nginx')), [
    '8787:8787 is open to other machines',
  ]);
  const { GROQ_API_KEY: _, ...withoutKey } = environment;
  assert.deepEqual(composeProblems(changed({ environment: withoutKey })), ['node-1: GROQ_API_KEY is not passed on']);
  assert.throws(
    () => composeProblems(changed({ environment: { ...environment, RUNWIRE_DRAIN: '5' } })),
    /RUNWIRE_DRAIN/,
  );
});

/** Adds the file as Compose adds a second one: services and their environments are merged. */
function withObservability(): ComposeFile {
  const base = readCompose();
  const added = readCompose('deploy/observability/compose.yaml');
  const services: Record<string, ComposeFile['services'][string]> = { ...base.services };
  for (const [name, service] of Object.entries(added.services)) {
    const environment = { ...services[name]?.environment, ...service.environment };
    services[name] = { ...services[name], ...service, environment };
  }
  return { services, volumes: { ...base.volumes, ...added.volumes }, networks: base.networks };
}

const textAt = (path: string) => readFileSync(join(root, 'deploy/observability', path), 'utf8');

/** Returns the contradictions between the services and the files that they read. */
function observabilityProblems(
  compose: ComposeFile,
  { collector, prometheus, datasources } = {
    collector: textAt('collector.yaml'),
    prometheus: textAt('prometheus.yaml'),
    datasources: textAt('grafana/datasources.yaml'),
  },
): string[] {
  const problems = composeProblems(compose);
  const nodes = getNodes(compose);
  for (const [name, { image = '', volumes = [], ports = [] }] of Object.entries(compose.services)) {
    if (image !== 'runwire' && !/:v?\d+(\.\d+)*$/.test(image)) problems.push(`${name}: ${image} has no version`);
    for (const port of ports) if (!port.startsWith('127.0.0.1:')) problems.push(`${name}: ${port} is open`);
    for (const [file = ''] of volumes.map((volume) => volume.split(':'))) {
      if (file.startsWith('./') && !existsSync(join(root, file))) problems.push(`${name}: there is no file ${file}`);
    }
  }
  for (const [name, { environment = {} }] of nodes) {
    const { hostname, port } = new URL(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? 'http://none');
    if (!(hostname in compose.services)) problems.push(`${name}: there is no service ${hostname}`);
    if (!collector.includes(`http: { endpoint: '0.0.0.0:${port}' }`)) problems.push(`${name}: no receiver at ${port}`);
  }
  const targets = nodes.map(([name, { environment = {} }]) => `'${name}:${environment.RUNWIRE_METRICS_PORT}'`);
  if (!prometheus.includes(`targets: [${targets.join(', ')}]`)) problems.push(`Prometheus does not read ${targets}`);
  for (const [, host = ''] of datasources.matchAll(/http:\/\/(\w+):/g))
    if (!(host in compose.services)) problems.push(`Grafana: there is no service ${host}`);
  return problems;
}

test('the services of deploy/observability fit to compose.yaml and to their files', () => {
  const compose = withObservability();
  assert.deepEqual(observabilityProblems(compose), []);
  const changedService = (name: string, change: object) => ({
    ...compose,
    services: { ...compose.services, [name]: { ...compose.services[name], ...change } },
  });
  const environment = compose.services['node-1']?.environment ?? {};
  const faults: readonly (readonly [string, object, RegExp])[] = [
    ['tempo', { image: 'grafana/tempo:latest' }, /tempo: grafana\/tempo:latest has no version/],
    ['grafana', { ports: ['3000:3000'] }, /grafana: 3000:3000 is open/],
    ['tempo', { volumes: ['./deploy/tempo.yaml:/etc/tempo.yaml'] }, /tempo: there is no file \.\/deploy\/tempo\.yaml/],
    [
      'node-1',
      { environment: { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collect:4317' } },
      /service collect\n.*no receiver at 4317/,
    ],
    [
      'node-1',
      { environment: { ...environment, RUNWIRE_METRICS_PORT: '9465' } },
      /Prometheus does not read 'node-1:9465'/,
    ],
  ];
  for (const [name, change, sentence] of faults)
    assert.match(observabilityProblems(changedService(name, change)).join('\n'), sentence);
});

test('the docs run commands of the image with its entry point', () => {
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1] ?? '[]';
  const command = `docker compose exec node-1 ${(JSON.parse(entry) as string[]).join(' ')} `;
  for (const page of ['docs/deploy.md', 'docs/backup.md']) {
    const text = readFileSync(join(root, page), 'utf8');
    const samples = [...text.matchAll(/^docker compose exec .*$/gm)].map(([line]) => line);
    assert.ok(samples.length > 0, page);
    for (const line of samples) assert.ok(line.startsWith(command), line);
    for (const [line] of text.matchAll(/docker compose run .*$/gm)) {
      assert.match(text.slice(0, text.indexOf(line)), /docker compose stop node-1 node-2 node-3\n$/, line);
    }
  }
});
