import { setTimeout as sleep } from 'node:timers/promises';
import type { Rig } from '@runwire/test-kit';
import { expectAtLeast } from '@runwire/test-kit/shortfall.ts';
import pg from 'pg';

const WAITS = `select l.pid, a.query_start::text as since from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and l.locktype in ('transactionid', 'tuple') and a.datname = current_database()`;

/**
 * Counts how often a session of the rig's database waits for another transaction's rows during the work, each wait once,
 * and the transactions that were retried after a conflict in an index. Without either, nothing raced. Other locks do not
 * count: every transaction that notifies waits for a lock of the whole database.
 */
export async function countWaits<T extends object>(rig: Rig, work: () => Promise<T>) {
  const client = new pg.Client({ connectionString: rig.databaseUrl });
  await client.connect();
  const waits = new Set<string>();
  let isWorking = true;
  const watch = async () => {
    for (; isWorking; await sleep(2)) {
      const { rows } = await client.query({ name: 'waits', text: WAITS });
      for (const { pid, since } of rows) waits.add(`${pid} ${since}`);
    }
    await client.end();
  };
  const watching = watch();
  const figures = await work().finally(() => {
    isWorking = false;
    return watching;
  });
  const retries = await rig.counter('runwire_store_conflicts_total');
  expectAtLeast('lock waits and retries', waits.size + retries, 1);
  return { ...figures, lock_waits: waits.size, retries };
}
