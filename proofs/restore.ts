import { join } from 'node:path';
import { type ApiClient, freshDatabase, ModelController, postgresFolder, stopOwnPostgres } from '@runwire/test-kit';
import { backup } from '../packages/server/src/commands/backup.ts';
import { restore } from '../packages/server/src/commands/restore.ts';
import { INTEGRATION, Load, MEMBERS, PATH, Script } from './support/backup-load.ts';
import { DataFolder } from './support/data-folder.ts';
import { MountLoad } from './support/mount-load.ts';
import { expectAtLeast, expectEqual, expectNumber, type Proof, Shortfall } from './support/proof.ts';
import { checkDays, checkNextTurns, checkReplays, checkRuns, ended, runsOf } from './support/restored-checks.ts';
import { startServer } from './support/start-server.ts';

/*
 * A back-up of servers under load. Between its tables the callers' runs go on, and some of them end: what is in the
 * back-up must be of one moment all the same. Files are uploaded, replaced and deleted meanwhile. It is restored into an empty place, a server starts there, and is
 * asked everything from outside.
 */

type Overrides = NonNullable<Parameters<typeof backup>[2]>;

const CALLERS = 3;
const HELD = 2;
const SHORT = { before: 4, between: 1 };
const LONG = { before: 200, between: 20 };

/** What one end of a run writes, spread over the back-up. */
const PAUSES = ['messages', 'runs', 'usage_days', 'attachments'];

/** Waits at these tables until more runs have ended. A fault is planted here. */
function slowly(load: Load, files: MountLoad, between: number, fault: string | null): Overrides {
  return {
    wrapSnapshot: (snapshot, again) => {
      const read = new Set<string>();
      return {
        kind: snapshot.kind,
        migrations: () => snapshot.migrations(),
        columns: (table) => snapshot.columns(table),
        async *rows(table, columns) {
          if (PAUSES.includes(table)) await Promise.all([load.more(between), files.change()]);
          // Planted: the images are looked for where none is listed.
          if (fault === 'forget-images' && read.has('blobs') && table === 'blobs') return;
          // Planted: files are looked for in no integration.
          if (fault === 'forget-files' && read.has('integrations') && table === 'integrations') return;
          read.add(table);
          // Planted: each table is read at a moment of its own.
          yield* (fault === 'torn' ? await again() : snapshot).rows(table, columns);
        },
      };
    },
  };
}

async function furnish(api: ApiClient): Promise<void> {
  const allowances = { unit: 'runs', limit: 1_000_000, period: 'lifetime' };
  const fields = { apiIntegrationId: INTEGRATION, name: 'House', agency: 'test', allowances };
  expectNumber('status of the integration', (await api.post('/v2/integrations', fields)).status, 201);
  for (const member of MEMBERS)
    expectNumber('status of a member', (await api.put(`${PATH}/members/${member}`, {})).status, 201);
}

interface Counts {
  readonly runs: number;
  readonly unfinished: number;
  readonly during: number;
  readonly events: number;
  readonly images: number;
  readonly files: number;
}

async function backUpAndRestore(
  places: { readonly from: Env; readonly to: Env; readonly servers: number },
  fault: string | null,
  size: typeof SHORT,
): Promise<Counts> {
  using folder = new DataFolder();
  await using model = await ModelController.start();
  const script = new Script(model);
  const options = ({ RUNWIRE_DATA_DIR: dataDir, ...env }: Env, more = {}) =>
    startServer(null, { dataDir, controllerPort: model.port, env: { ...env, ...more } });
  const to = join(folder.path, 'backup');
  let load: Load;
  let files: MountLoad;
  let during: number;
  {
    await using stack = new AsyncDisposableStack();
    const starts = Array.from({ length: places.servers }, async () => stack.use(await options(places.from)));
    await Promise.allSettled(starts);
    const apis = (await Promise.all(starts)).map(({ api }) => api);
    await furnish(apis[0] as ApiClient);
    load = new Load(apis, CALLERS);
    for (let place = 0; place < HELD; place += 1) await load.hold(place);
    await load.more(size.before);
    while (script.held < HELD) await load.more(1);
    const before = load.completed;
    files = await MountLoad.start(places.from.RUNWIRE_DATA_DIR);
    await backup(places.from, to, slowly(load, files, size.between, fault));
    during = load.completed - before;
    await files.stop();
    await load.stop();
  }
  await restore(places.to, to);
  const restoredFiles = await files.check(places.to.RUNWIRE_DATA_DIR);
  const calls = model.calls.length;
  // A run that was under way did not crash: where one crash is one too many, it goes on all the same.
  await using server = await options(places.to, { RUNWIRE_MAX_ATTEMPTS: '1' });
  const { api } = server;
  const found = await runsOf(api);
  const completed = found.filter(({ status }) => status === 'completed');
  const first = await checkRuns(api, completed);
  const unfinished = found.filter(({ attempt }) => attempt > 1);
  expectAtLeast('runs that were under way', unfinished.length, HELD);
  script.letGo();
  const runs = await ended(api);
  const rest = await checkRuns(
    api,
    runs.filter(({ runId }) => completed.every((run) => run.runId !== runId)),
  );
  expectAtLeast('runs of the back-up', runs.length, size.before + HELD);
  await checkDays(api, runs);
  const held = runs.filter(({ runId }) => unfinished.some((run) => run.runId === runId));
  expectEqual('attempts of the runs that went on', [...new Set(held.map(({ attempt }) => attempt))], [2]);
  const repeated = model.calls.slice(calls).filter(({ request }) => request.step === 1 && isHeld(request.runId));
  function isHeld(runId: string): boolean {
    return held.some((run) => run.runId === runId && run.chatId.startsWith('held-'));
  }
  expectNumber('finished steps that were repeated', repeated.length, 0);
  await checkReplays(api, model, runs, load);
  const images = await checkNextTurns(api, model, runs);
  return {
    runs: runs.length,
    unfinished: unfinished.length,
    during,
    events: first.events + rest.events,
    images,
    files: restoredFiles,
  };
}

type Env = { readonly RUNWIRE_DATA_DIR: string; readonly DATABASE_URL: string };

async function ofEmbedded(fault: string | null, size: typeof SHORT): Promise<Counts> {
  using from = new DataFolder();
  using to = new DataFolder();
  const place = (folder: DataFolder) => ({ RUNWIRE_DATA_DIR: folder.path, DATABASE_URL: '' });
  return await backUpAndRestore({ from: place(from), to: place(to), servers: 1 }, fault, size);
}

async function ofPostgres(fault: string | null, size: typeof SHORT): Promise<Counts> {
  using from = new DataFolder();
  using to = new DataFolder();
  await using source = await freshDatabase();
  await using target = await freshDatabase();
  const place = (folder: DataFolder, { url }: { url: string }) => ({
    RUNWIRE_DATA_DIR: folder.path,
    DATABASE_URL: url,
  });
  return await backUpAndRestore({ from: place(from, source), to: place(to, target), servers: 2 }, fault, size);
}

export const proof: Proof = {
  name: 'restore',
  minutes: 3,
  faults: {
    torn: /: expected .*, found /,
    'forget-images': /: expected .*, found /,
    'forget-files': /files.*: expected .*, found /,
  },
  async run({ fault, scale }) {
    const short = scale(true, false);
    if (postgresFolder() === null) throw new Shortfall('PostgreSQL on this machine: expected 1, found 0.');
    const size = short ? SHORT : LONG;
    const sum = { runs: 0, unfinished: 0, during: 0, events: 0, images: 0, files: 0 };
    const stores = [ofEmbedded, ofPostgres];
    try {
      for (const prove of stores) {
        const counts = await prove(fault, size);
        for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += counts[key];
      }
    } finally {
      await stopOwnPostgres();
    }
    return { stores: stores.length, ...sum };
  },
};
