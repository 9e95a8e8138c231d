import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { hasS3Gateway, Rig, s3Settings, sharedS3, TEST_API_KEY } from '@runwire/test-kit';
import { expectAtLeast, expectEqual, WAIT_MS } from '@runwire/test-kit/shortfall.ts';
import { AgenciesFolder } from './agencies-folder.ts';
import { HeldRuns } from './held-runs.ts';
import { processesWith } from './mcp-stage.ts';

const CHUNK_BYTES = 4 * 1024 * 1024;

const TOOLS = `
export const look = {
  description: 'Reads the environment.',
  execute: () => ({ read: [process.env.RUNWIRE_SECRET, process.env.RUNWIRE_SECRET, process.env.PASSED_ON], all: { ...process.env } }),
};
`;
const agencyText = (mark: string) => `name: Look
toolFiles: [./tools.ts]
env: { PROCESS_MARK: ${mark}, PASSED_ON: "\${PGAPPNAME}" }
agents:
  - { name: A, instructions: Look., tools: [look] }
`;

const PLANTED = ['RUNWIRE_SECRET', 'PGPASSWORD', 'PGAPPNAME', 'OTEL_EXPORTER_OTLP_HEADERS'];

/**
 * The server has secrets in its environment, and uses PostgreSQL and, if `withS3`, S3. A tool gets none of them, and none
 * is in the environment or in its process's memory, which contains its channel's buffers. Resolves to how many
 * were found.
 */
export async function findSecrets(withS3: boolean): Promise<number> {
  const mark = `mark-${randomUUID()}`;
  const { PGAPPNAME: passedOn, ...withheld } = Object.fromEntries(
    PLANTED.map((name) => [name, `planted-${randomUUID()}`]),
  );
  const s3 = withS3 && hasS3Gateway() ? await s3Settings(await sharedS3()) : null;
  using folder = new AgenciesFolder({ 'look/agency.yaml': agencyText(mark), 'look/tools.ts': TOOLS });
  const env = {
    RUNWIRE_AGENCIES_DIR: folder.path,
    RUNWIRE_LOG_LEVEL: 'warn',
    ...s3,
    ...withheld,
    PGAPPNAME: String(passedOn),
  };
  await using rig = await Rig.start({ nodes: 1, env });
  await rig.prepare({ apiIntegrationId: 'look', agency: 'look' });
  const run = await new HeldRuns(rig).begin('look', 'Look.');
  const output = await run.callTool('look', WAIT_MS);
  expectEqual('variables that a tool reads', JSON.parse(output).read, [null, null, passedOn]);
  const [process] = processesWith(mark);
  const pid = expectAtLeast('process of the agency', process?.pid ?? 0, 1);
  const secrets = [...Object.values(withheld), rig.databaseUrl, TEST_API_KEY];
  if (s3 !== null) secrets.push(s3.AWS_SECRET_ACCESS_KEY, s3.S3_BUCKET);
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
  const found = secrets.filter((secret) => output.includes(secret) || environment.includes(secret));
  // The mark shows that the search finds what the memory contains.
  const [marks = 0, ...inMemory] = await countInMemory(pid, [mark, ...secrets]);
  expectAtLeast('places of a variable in the memory of the process', marks, 1);
  const lines = rig
    .server()
    .output.split('\n')
    .filter((line) => line.includes('"variable":"RUNWIRE_SECRET"'));
  expectEqual('log lines about a withheld variable', lines.length, 1);
  await run.finish();
  const places = inMemory.reduce((sum, count) => sum + count, found.length);
  return expectEqual('secrets found in the process of an agency', places, 0);
}

/** Resolves to how often each text is in a process's memory. */
async function countInMemory(pid: number, texts: readonly string[]): Promise<number[]> {
  const counts = texts.map(() => 0);
  await using memory = await open(`/proc/${pid}/mem`, 'r');
  const overlap = Math.max(...texts.map((text) => text.length));
  const buffer = Buffer.alloc(CHUNK_BYTES + overlap);
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, from, to, path = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw\S+ \S+ \S+ \S+\s*(.*)$/.exec(line) ?? [];
    if (from === undefined || to === undefined || path.startsWith('[v')) continue;
    const end = Number.parseInt(to, 16);
    for (let at = Number.parseInt(from, 16); at < end; at += CHUNK_BYTES) {
      const length = Math.min(buffer.length, end - at);
      // A region may have been released since the list was read.
      const { bytesRead } = await memory.read(buffer, 0, length, at).catch(() => ({ bytesRead: 0 }));
      const bytes = buffer.subarray(0, bytesRead);
      for (const [index, text] of texts.entries()) if (bytes.includes(text)) (counts[index] as number) += 1;
    }
  }
  return counts;
}
