import { globSync } from 'node:fs';

/**
 * Which test files run on which store. A file runs twice, over SQLite and over PostgreSQL, unless one of these lists names
 * it: a new test is on both stores from the start. The gate sees to it that the lists are true: by what each server of a
 * test says at `/readyz`.
 */

/** Run once, for they start no server. A name that ends with `/` is a folder. */
export const STARTS_NO_SERVER: readonly string[] = [
  'packages/',
  'requirements/',
  'proofs/support/database-dump.test.ts',
  'proofs/support/old-version.test.ts',
  'test/architecture.test.ts',
  'test/compose-file.test.ts',
  'test/gate.test.ts',
  'test/mount-copies.test.ts',
  'test/s3-samples.test.ts',
];

/** Run once although they start servers: why. A name that ends with `/` is a folder. */
export const ONE_STORE: Readonly<Record<string, string>> = {
  'bench/bench.test.ts':
    'compares with a floor that has no store; its figures on PostgreSQL are a benchmark of their own',
  'bench/on-postgres.test.ts': 'about PostgreSQL: what a run costs there',
  'test/across-nodes.test.ts': 'several nodes: on PostgreSQL alone',
  'test/admission-race.test.ts': 'races that only several connections can run: on PostgreSQL alone',
  'test/alerts.test.ts': 'metrics have the same names on both stores',
  'test/attachment-blobs-away.test.ts': 'about a place of files that is away',
  'test/attachment-hand-over.test.ts': 'several nodes: on PostgreSQL alone',
  'test/attachment-limits.test.ts':
    'about time, memory and kills while files are fetched; what is recorded on both stores: test/attachment-turns.test.ts',
  'test/backup-attachments.test.ts': 'goes through both stores itself',
  'test/request-limits.test.ts': 'about connections; requests are cut before a store is asked',
  'test/attachment-samples.test.ts':
    'about the samples of a page; refreshes on both stores: test/attachment-refreshes.test.ts',
  'test/attachment-urls.test.ts': 'about the text of requests, which is looked at before a store is asked',
  'test/attachments.test.ts':
    'about what models are sent of files; what is kept of them on both stores: test/attachment-turns.test.ts',
  'test/backup-faults.test.ts': 'goes through both stores itself',
  'test/backup-s3.test.ts': 'goes through both stores itself',
  'test/backups.test.ts': 'goes through both stores itself',
  'test/balancer.test.ts': 'several nodes behind a proxy: on PostgreSQL alone',
  'test/blob-folder.test.ts': 'goes through both stores itself',
  'test/body-budget.test.ts': 'about the memory that a body takes before there is a run',
  'test/body-memory.test.ts': 'about the memory that a body takes before there is a run',
  'test/deployment.test.ts': 'goes through both stores itself',
  'test/doc-samples.test.ts':
    'about what the docs say: what the samples ask for is asked on both stores by other tests',
  'test/docs-page.test.ts': 'the page is made of schemas, without a store',
  'test/file-samples.test.ts': 'about senders of files: the forms are the same on both stores',
  'test/files.test.ts': 'about files of the mount, which no store knows',
  'test/foreign-folder.test.ts': 'goes through both stores itself',
  'test/hand-over.test.ts': 'several nodes: on PostgreSQL alone',
  'test/images.test.ts':
    'about bodies and what models are sent; rows and blobs on both stores: test/image-sweep.test.ts, test/attachment-turns.test.ts',
  'test/keys-at-start.test.ts': 'about what a start makes of its settings; on PostgreSQL see test/postgres.test.ts',
  'test/leases.test.ts': 'several nodes: on PostgreSQL alone',
  'test/model-charges.test.ts': 'about what providers report',
  'test/models.test.ts': 'about connections to providers',
  'test/moving.test.ts': 'goes from one store to the other',
  'test/nodes.test.ts': 'goes through both stores itself',
  'test/offline-model.test.ts': 'about what the offline model says',
  'test/openapi.test.ts': 'the description is made of schemas, without a store',
  'test/outage.test.ts': 'about PostgreSQL: what happens without it',
  'test/pipelined.test.ts': 'about connections of clients',
  'test/prove.test.ts': 'about the command that runs proofs',
  'test/postgres.test.ts': 'about PostgreSQL: its outages, its pooler, several servers',
  'test/read-only-database.test.ts': 'about PostgreSQL: a database that takes no writes',
  'test/reasoning.test.ts': 'about what providers are asked',
  'test/refused-upgrade.test.ts': 'goes through both stores itself',
  'test/s3.test.ts': 'about S3: goes through both stores itself where they matter',
  'test/sandbox-files.test.ts': 'about files of the mount and what models are told of them',
  'test/settings.test.ts': 'settings are read before there is a store',
  'test/shared-disk.test.ts': 'several nodes: on PostgreSQL alone',
  'test/slow-reader.test.ts': 'about sockets that are read slowly; the log is the same: test/events.test.ts',
  'test/start.test.ts': 'about the data folder: its secret, its lock; on PostgreSQL see test/postgres.test.ts',
  'test/store-lag.test.ts':
    'about what is held while a store lags, whichever; PostgreSQL without answers: test/outage.test.ts',
  'test/taking-runs.test.ts': 'several nodes: on PostgreSQL alone',
  'test/text-only.test.ts': 'about an encoder of the events, which are the same on both stores',
  'test/tools.test.ts': 'about what tools are given and what the model is told of them',
  'test/two-starts.test.ts': 'two servers on one database: on PostgreSQL alone',
  'test/uploads-going-wrong.test.ts': 'about senders that stop, leave and go on, which no store hears of',
  'test/uploads-sent.test.ts': 'about the bytes of forms, which no store sees',
};

/** Begun before all others, the longest first, as the gate's last lines name them. */
export const LONGEST: readonly string[] = [
  'test/moving.test.ts',
  'test/disconnect.test.ts',
  'test/leases.test.ts',
  'test/backups.test.ts',
  'test/resume.test.ts',
  'test/backup-attachments.test.ts',
  'packages/documents/src/limits.test.ts',
  'test/shutdown.test.ts',
  'test/outage.test.ts',
  'test/attachment-limits.test.ts',
  'test/across-nodes.test.ts',
];

export const allTestFiles = (): string[] =>
  ['test', 'requirements', 'proofs', 'bench', 'packages'].flatMap((folder) =>
    globSync(`${folder}/**/*.test.ts`, { exclude: (path) => path.includes('node_modules') }).sort(),
  );

const isOf = (names: readonly string[], file: string): boolean =>
  names.some((name) => (name.endsWith('/') ? file.startsWith(name) : file === name));
const startsNoServer = (file: string): boolean => isOf(STARTS_NO_SERVER, file);
const hasOneStore = (file: string): boolean => isOf(Object.keys(ONE_STORE), file);

export type PassName = 'once' | 'sqlite' | 'postgres';

export function filesOf(pass: PassName, files: readonly string[] = allTestFiles()): string[] {
  return files.filter((file) => (startsNoServer(file) || hasOneStore(file)) === (pass === 'once'));
}

/** What a server of a test file said at `/readyz`. */
export interface SeenServer {
  readonly file: string;
  readonly store: string;
}

/** A file that is said to start no server must not start one; one of both stores must, and each on the store asked for. */
export function misplaced(pass: PassName, files: readonly string[], seen: readonly SeenServer[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    const stores = new Set(seen.filter((server) => server.file === file).map(({ store }) => store));
    if (pass !== 'once' && stores.size === 0) {
      problems.push(`${file} started no server: name it in STARTS_NO_SERVER of scripts/test-passes.ts.`);
    }
    for (const store of stores) {
      if (pass === 'once' && startsNoServer(file)) {
        problems.push(`${file} started a server: take it out of STARTS_NO_SERVER of scripts/test-passes.ts.`);
      } else if (pass !== 'once' && store !== pass) {
        problems.push(`${file} over ${pass} started a server on ${store}: see ONE_STORE of scripts/test-passes.ts.`);
      }
    }
  }
  return [...new Set(problems)];
}
