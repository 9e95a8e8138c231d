import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dataFolder } from '@runwire/server/src/config/data-folder.ts';
import { ApiClient, startTestServer, TEST_API_KEY, temporaryFolder } from '@runwire/server/testing';

/*
 * Erasures on a large SQLite database: how long the completions of other members take without them, and while one caller
 * erases many members, with and without content. The database is filled with events that belong to no run.
 */

const TEXT = 'A member said something that is stored. '.repeat(100);
/** The median during erasures may be so many times the median without them. */
const MOST = 2;

async function serve(): Promise<void> {
  const server = await startTestServer({ dataDir: process.argv[3] ?? '' });
  process.on('disconnect', () => process.exit());
  process.send?.(server.url);
}

async function start(dataDir: string) {
  const child = fork(import.meta.filename, ['serve', dataDir], { execArgv: ['-C', 'runwire'], stdio: 'inherit' });
  const gone = once(child, 'exit');
  const started = await Promise.race([once(child, 'message') as Promise<[string]>, gone.then(() => null)]);
  if (started === null) throw new Error('The server did not start.');
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  return { api: new ApiClient(started[0], TEST_API_KEY), stop };
}

function fill(dataDir: string, megabytes: number): void {
  const database = new DatabaseSync(dataFolder(dataDir).database);
  const insert = database.prepare('insert into event_chunks (run_id, first_id, last_id, data) values (?, 1, 1, ?)');
  database.exec('begin');
  for (let row = 0; row < (megabytes * 1_000_000) / TEXT.length; row += 1) insert.run(`run_filler_${row}`, TEXT);
  database.exec('commit');
  database.close();
}

/** Completions one after the other, until `isOver`. Resolves to their times in milliseconds, in order. */
async function complete(api: ApiClient, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const began = performance.now();
    const reader = await api.complete({ apiIntegrationId: 'demo', message: 'Hello' });
    await reader.over;
    if (reader.status !== 200) throw new Error(`A completion got ${reader.status}.`);
    times.push(performance.now() - began);
    await sleep(20);
  }
  return times.sort((a, b) => a - b);
}

function figures(times: readonly number[]) {
  const at = (share: number) => Math.round(times[Math.floor(share * (times.length - 1))] ?? 0);
  return { completions: times.length, medianMs: at(0.5), p95Ms: at(0.95), longestMs: at(1) };
}

async function main(): Promise<void> {
  const options = {
    megabytes: { type: 'string', default: '200' },
    members: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '20' },
  } as const;
  const { values } = parseArgs({ options });
  const [megabytes, members, seconds] = [Number(values.megabytes), Number(values.members), Number(values.seconds)];
  const dataDir = temporaryFolder();
  let server = await start(dataDir);
  try {
    await server.stop();
    fill(dataDir, megabytes);
    server = await start(dataDir);
    const { api } = server;
    await api.post('/v2/integrations', { apiIntegrationId: 'erasing' });
    const path = '/v2/integrations/erasing/members';
    const ids = ['empty', 'full'].flatMap((kind) => Array.from({ length: members }, (_, n) => `${kind}-${n}`));
    for (const id of ids) await api.put(`${path}/${id}`, id.startsWith('full') ? { name: `Member ${id}` } : {});
    const forSeconds = () => {
      const end = performance.now() + seconds * 1000;
      return () => performance.now() >= end;
    };
    await complete(api, forSeconds());
    const without = figures(await complete(api, forSeconds()));
    const isOver = forSeconds();
    const erased = Promise.all(ids.map((id) => api.delete(`${path}/${id}?erase=true`)));
    const during = figures(await complete(api, isOver));
    await erased;
    const states = await Promise.all(ids.map(async (id) => (await api.get(`${path}/${id}/erasure`)).body.status));
    const count = (state: string) => states.filter((one) => one === state).length;
    const size = Math.round(statSync(dataFolder(dataDir).database).size / 1_000_000);
    const ratio = during.medianMs / without.medianMs;
    const outcome = { erased: count('erased'), erasing: count('erasing') };
    process.stdout.write(`${JSON.stringify({ megabytes: size, without, during, ratio, ...outcome })}\n`);
    if (ratio > MOST) throw new Error(`The median is ${ratio} times the median without erasures, at most ${MOST}.`);
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await (process.argv[2] === 'serve' ? serve() : main());
