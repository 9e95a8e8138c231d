import { askDatabase } from '@runwire/test-kit/postgres-server.ts';
import { firstRunId } from '../../packages/server/src/domain/ids.ts';

export const DAY_MS = 86_400_000;
export const today = Date.now() - (Date.now() % DAY_MS);

/**
 * Ends the first partition of a migrated database `days` ago. In a new database it contains the first days, and is never
 * dropped.
 */
export async function endFirstPartition(url: string, days: number): Promise<void> {
  await askDatabase(
    url,
    `drop table event_chunks_earlier; create table event_chunks_earlier partition of event_chunks
     for values from (minvalue) to ('${firstRunId(today - days * DAY_MS)}')`,
  );
}
