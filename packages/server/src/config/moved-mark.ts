import { readFileSync } from 'node:fs';
import { writeDurably } from '@runwire/lib/durable-files.ts';
import { SettingRefused } from './config.ts';

/**
 * A file in the data folder: its installation was migrated to PostgreSQL by `runwire move`.
 *
 *   moving ──(the copy is committed)──▶ moved
 *
 * It is written before the commit. If it were written after, a crash between the two would leave two installations that
 * both accept runs. A command that finds `moving` checks the database.
 */
export interface MovedMark {
  readonly state: 'moving' | 'moved';
  /** Host and database. */
  readonly place: string;
  readonly at: string;
}

const EXPLANATION =
  'This installation was moved to PostgreSQL by `runwire move`. While this file exists, no server starts on the embedded database.';

export async function writeMovedMark(path: string, mark: MovedMark): Promise<void> {
  await writeDurably(path, `${JSON.stringify({ ...mark, explanation: EXPLANATION }, null, 2)}\n`);
}

export function readMovedMark(path: string): MovedMark | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { state, place, at } = JSON.parse(text) as Partial<MovedMark>;
    if (state === 'moving') return { state, place: String(place), at: String(at) };
    return { state: 'moved', place: String(place), at: String(at) };
  } catch {
    // The file exists, so the installation was migrated, even if the text is damaged.
    return { state: 'moved', place: 'an unknown place', at: 'an unknown time' };
  }
}

/** Refuses a migrated installation's embedded database: two copies would both accept runs. */
export function refuseMoved(path: string): void {
  const mark = readMovedMark(path);
  if (mark === null) return;
  if (mark.state === 'moving') {
    throw new SettingRefused(
      `The installation in this data folder was being moved to PostgreSQL at ${mark.place}, and the move was interrupted; run \`runwire move\` again with the same DATABASE_URL, or delete ${path} to keep the installation here.`,
    );
  }
  throw new SettingRefused(
    `The installation in this data folder was moved to PostgreSQL at ${mark.place} (${mark.at}); set DATABASE_URL to that database, or delete ${path} to go back to the embedded database as it was then.`,
  );
}
