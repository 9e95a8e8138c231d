import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fillDisk, TEST_API_KEY, temporaryFolder } from '@runwire/test-kit';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, Shortfall } from '@runwire/test-kit/shortfall.ts';
import { CliServer, startRunwire } from './support/cli-process.ts';
import { Nginx } from './support/nginx.ts';
import { missingService } from './support/services.ts';
import { SmallDisk } from './support/small-disk.ts';

/*
 * `runwire doctor` looks at set-ups with one problem each, three of them in nginx as Debian ships it. It must find that
 * problem, name its cure, and find nothing else. A healthy set-up has no finding.
 */

type Environment = Readonly<Record<string, string>>;

interface Problem {
  readonly name: string;
  readonly env?: Environment;
  /** The address for `--url`. */
  readonly url?: string;
  /** The checks that must have a finding, each with a part of its cure. */
  readonly findings: Readonly<Record<string, RegExp>>;
}

async function check({ name, env = {}, url, findings }: Problem, dataDir: string): Promise<void> {
  const settings = { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: TEST_API_KEY, ...env };
  const { result } = startRunwire(['doctor', '--json', ...(url === undefined ? [] : ['--url', url])], {
    env: settings,
  });
  const { code, stdout, stderr } = await result;
  if (stderr !== '') throw new Shortfall(`${name}: expected no error, found ${stderr}`);
  const found = (JSON.parse(stdout) as { check: string; finding: string | null }[]).filter(
    ({ finding }) => finding !== null,
  );
  expectEqual(
    `${name}: checks with a finding`,
    found.map(({ check: place }) => place),
    Object.keys(findings),
  );
  expectEqual(`${name}: exit code`, code, found.length === 0 ? 0 : 1);
  for (const { check: place, finding } of found) {
    if (findings[place]?.test(finding ?? '') !== true) {
      throw new Shortfall(`${name}: expected a cure like ${findings[place]}, found \`${finding}\``);
    }
  }
}

/** A provider that refuses every key. */
async function refusingProvider(stack: AsyncDisposableStack): Promise<string> {
  const provider = createServer((_, answer) => answer.writeHead(401).end('{}')).listen(0, '127.0.0.1');
  stack.defer(() => void provider.close());
  await once(provider, 'listening');
  return `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
}

test('`doctor` names each problem of an installation', async (t) => {
  const fault = plantedFault();
  const missing = await missingService('nginx');
  if (missing !== null) return t.skip(`doctor: ${missing}`);
  await using stack = new AsyncDisposableStack();
  const dataDir = temporaryFolder();
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = stack.use(
    await CliServer.start({ store: 'sqlite', env: { RUNWIRE_DATA_DIR: dataDir, RUNWIRE_API_KEY: TEST_API_KEY } }),
  );
  const proxy = async (settings: string) => {
    const { url } = stack.use(await Nginx.start(server.url, settings));
    return fault === 'ignore-proxy' ? {} : { url };
  };
  const disk = stack.use(new SmallDisk('doctor', '4m'));
  fillDisk(join(disk.folder, 'fill'));
  const problems: readonly Problem[] = [
    {
      name: 'buffering',
      ...(await proxy('proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;')),
      findings: { proxy: /`proxy_buffering off;`/ },
    },
    {
      name: 'a read limit of 5 s',
      ...(await proxy('proxy_read_timeout 5s;')),
      findings: { proxy: /after about 5 s .*`proxy_read_timeout 75s;`/ },
    },
    {
      name: 'a removed header',
      ...(await proxy('proxy_hide_header X-Agent-Run-Admitted;')),
      findings: { proxy: /\(x-agent-run-admitted\); let it pass/ },
    },
    {
      name: 'a full disk',
      env: { RUNWIRE_DATA_DIR: join(disk.folder, 'data') },
      findings: { store: /is full; free some space/, files: /is full; free some space/ },
    },
    {
      name: 'an unreachable database',
      env: { DATABASE_URL: 'postgres://runwire:secret@127.0.0.1:9/runwire' },
      findings: { store: /fix that, or DATABASE_URL/ },
    },
    {
      name: 'a wrong model key',
      env: { OPENAI_API_KEY: 'sk-wrong', OPENAI_BASE_URL: await refusingProvider(stack) },
      findings: { model: /check OPENAI_API_KEY/ },
    },
  ];
  await check({ name: 'a healthy set-up', ...(await proxy('')), findings: {} }, dataDir);
  await Promise.all(problems.map((problem) => check(problem, dataDir)));
  count({ problems: problems.length, named: problems.length, healthy: 1 });
});
