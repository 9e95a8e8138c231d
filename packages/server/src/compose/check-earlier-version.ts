import type { Config } from '../config/config.ts';
import type { Snapshot } from '../store/transfer/ports.ts';
import { checkFiles, readKeptMark } from './open-files.ts';

/**
 * Refuses a start before it migrates an earlier version's tables, because a node of that version cannot start on the
 * new tables. The same checks run again later, when the files are opened.
 */
export async function checkEarlier(config: Config, open: () => Promise<Snapshot & AsyncDisposable>): Promise<void> {
  await using tables = await open();
  let isInstalled = false;
  // A snapshot reads one table at a time.
  for await (const rows of tables.rows('installation', ['id'])) isInstalled ||= rows.length > 0;
  if (isInstalled) await checkFiles(config, await readKeptMark(tables));
}
