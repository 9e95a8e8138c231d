import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from './support/cli-process.ts';
import { type ComposeFile, readCompose } from './support/compose-file.ts';
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
