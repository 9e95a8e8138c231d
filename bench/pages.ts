import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { load, startContestant, startProvider, withCounting } from './contestants.ts';
import { SCENARIOS } from './phases.ts';

/*
 * Prints which pages of the database a single run writes: `node -C runwire bench/pages.ts`. SQLite writes each of them as a
 * frame of its write-ahead log, with two write calls. The numbers are counts, so other load does not change them.
 */

const RUNS = 60;
const EARLIER_RUNS = 400;
/** Later than the measurement: the index of searches would write too. */
const SEARCH_MS = 600_000;
const WAL_HEADER = 32;
const FRAME_HEADER = 24;

const answer = { tokens: 20, burst: 20, everyMs: 0, seconds: 0 } as const;
const dataDir = mkdtempSync(join(tmpdir(), 'runwire-pages-'));
const file = join(dataDir, 'runwire.db');

/** Returns how often each page is in the write-ahead log. */
function countFrames(wal: Buffer): Map<number, number> {
  const counts = new Map<number, number>();
  const step = FRAME_HEADER + wal.readUInt32BE(8);
  const salt = wal.readUInt32BE(16);
  for (let at = WAL_HEADER; at + step <= wal.length && wal.readUInt32BE(at + 8) === salt; at += step) {
    const page = wal.readUInt32BE(at);
    counts.set(page, (counts.get(page) ?? 0) + 1);
  }
  return counts;
}

const provider = await startProvider();
const kept = { dataDir, apiKey: null };
const start = () => startContestant('ours', { members: 4, providerPort: provider.port, searchMs: SEARCH_MS, kept });
const contestant = await withCounting(start, { isOptimized: true });
try {
  await load(contestant, [{ ...SCENARIOS.short, ...answer, name: 'short', atOnce: 16, runs: EARLIER_RUNS }]);
  using database = new DatabaseSync(file);
  database.exec('pragma wal_checkpoint(truncate)');
  await load(contestant, [{ ...SCENARIOS.single, ...answer, name: 'single', runs: RUNS }]);
  const counts = countFrames(readFileSync(`${file}-wal`));
  const trees = new Map<string, number>([['page 1', (counts.get(1) ?? 0) / RUNS]]);
  for (const { name, pageno } of database.prepare('select name, pageno from dbstat where pageno > 1').all()) {
    const tree = String(name);
    trees.set(tree, (trees.get(tree) ?? 0) + (counts.get(Number(pageno)) ?? 0) / RUNS);
  }
  const written = [...trees].filter(([, pages]) => pages > 0).sort(([, a], [, b]) => b - a);
  const all = written.reduce((sum, [, pages]) => sum + pages, 0);
  for (const [tree, pages] of [...written, ['all', all] as const])
    process.stdout.write(`${pages.toFixed(2)} ${tree}\n`);
} finally {
  contestant.process.kill();
  provider.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
