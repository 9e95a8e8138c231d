import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGES, PROVIDERS, providerSettingNames } from '@runwire/models';
import { readConfig } from '../../packages/server/src/config/read-config.ts';
import { root } from './cli-process.ts';
import { type ComposeFile, filledIn, getNodes, nodeEnvironments } from './compose-file.ts';

const VARIABLES = { POSTGRES_PASSWORD: 'p'.repeat(32), RUNWIRE_API_KEY: 'k'.repeat(48) };
/** The default limit of PostgreSQL, without the connections that it reserves for its administrator. */
const DATABASE_CONNECTIONS = 97;
/** A stop's time in addition to its two limits: see docs/upgrade.md, "What a drain does". */
const STOP_SECONDS = 15;
/**
 * Besides the pool: writer, heartbeat and LISTEN, and for a moment the two of the start and the connection that queries
 * an unanswered commit.
 */
const OWN_CONNECTIONS = 6;

/** The names in the first column of the table under a page's heading `## Settings`. */
export function getSettings(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const [, section = ''] = text.split(/^## Settings$/m);
  const rows = section.split(/^## /m)[0]?.matchAll(/^\| ((?:`[A-Z0-9_]+`(?:, )?)+) \|/gm) ?? [];
  return [...rows].flatMap(([, names = '']) => [...names.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name = '']) => name));
}

/** The nodes that nginx knows, with their ports. */
function balanced(): string[] {
  const text = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8');
  return [...text.matchAll(/^ *server (\S+:\d+) /gm)].map(([, place = '']) => place);
}

const seconds = (text = '0s') => Number(/^(\d+)s$/.exec(text)?.[1] ?? Number.NaN);

/** The keys of all providers, of the AI SDK's too. */
const providerKeys = [
  ...[...PROVIDERS.keys()].map((provider) => providerSettingNames(provider).key),
  ...[...PACKAGES.values()].flatMap(({ key }) => key ?? []),
];

/** Returns the contradictions of a compose file with itself, with the settings, and with deploy/nginx.conf. */
export function composeProblems(compose: ComposeFile): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem);
  };
  const { services, volumes, networks } = compose;
  const settings = ['docs/settings.md', 'docs/traces.md'].flatMap(getSettings).concat(providerKeys);
  const nginx = services.nginx;
  const nginxAddress = nginx?.networks?.inside?.ipv4_address;
  const nodes = getNodes(compose);
  let connections = 0;
  for (const [index, environment] of nodeEnvironments(compose, VARIABLES).entries()) {
    const name = nodes[index]?.[0];
    for (const setting of Object.keys(environment))
      expect(settings.includes(setting), `${name}: ${setting} is unknown`);
    for (const setting of [...providerKeys, 'RUNWIRE_MODEL'])
      expect(setting in environment, `${name}: ${setting} is not passed on`);
    expect(environment.RUNWIRE_TRUSTED_PROXIES === nginxAddress, `${name}: does not trust nginx at ${nginxAddress}`);
    expect(environment.RUNWIRE_AGENCIES_DIR === '/agencies', `${name}: does not read the mounted agencies`);
    const { config } = readConfig({ ...environment, RUNWIRE_AGENCIES_DIR: '' });
    const neededSeconds = (config.limits.drainMs + config.limits.handOverMs) / 1000 + STOP_SECONDS;
    const graceSeconds = seconds(nodes[index]?.[1].stop_grace_period);
    expect(
      graceSeconds >= neededSeconds,
      `${name}: killed after ${graceSeconds} s, while drain and hand-over take up to ${neededSeconds} s`,
    );
    expect(config.database !== null, `${name}: it does not use PostgreSQL`);
    expect(config.metrics?.host === '0.0.0.0', `${name}: Prometheus cannot see its metrics without the database`);
    connections += (config.database?.pool ?? 0) + OWN_CONNECTIONS;
  }
  expect(connections <= DATABASE_CONNECTIONS, `the nodes take ${connections} connections`);
  const folders = new Set(nodes.map(([, node]) => String(node.volumes)));
  const [mounts = ''] = folders;
  expect(folders.size === 1 && mounts.startsWith('data:/data,'), `the data folder is not one for all: ${[...folders]}`);
  expect(mounts.endsWith(':/agencies:ro'), `the folder of agencies is not mounted read-only: ${mounts}`);
  for (const port of nginx?.ports ?? []) expect(port.startsWith('127.0.0.1:'), `${port} is open to other machines`);
  for (const [name, service] of Object.entries(services)) {
    for (const volume of service.volumes ?? []) {
      const [source = ''] = filledIn(volume, VARIABLES).split(':');
      expect(source.startsWith('./') || source in volumes, `${name}: there is no volume ${source}`);
    }
    const joined = Array.isArray(service.networks) ? service.networks : Object.keys(service.networks ?? {});
    for (const network of joined) expect(network in networks, `${name}: there is no network ${network}`);
    for (const other of Object.keys(service.depends_on ?? {})) {
      expect(services[other]?.healthcheck !== undefined, `${name}: waits for ${other}, which has no healthcheck`);
    }
  }
  for (const [name, node] of nodes) {
    expect(node.healthcheck?.test.join(' ').includes('/readyz') ?? false, `${name}: is not asked by /readyz`);
  }
  const places = nodes.map(([name]) => `${name}:8787`);
  expect(String(balanced()) === String(places), `nginx knows ${balanced()}, and there are ${places}`);
  const addresses = nodes.map(([name, node]) => `${name}:${node.networks?.inside?.ipv4_address}`);
  const known = nginx?.extra_hosts ?? [];
  expect(String(known) === String(addresses), `nginx finds ${known}, and the nodes are ${addresses}`);
  return problems;
}
