import { readFileSync } from 'node:fs';
import { writeDurably } from '../lib/durable-files.ts';
import { SettingRefused } from './setting-refused.ts';

/**
 * What says in a data folder that its installation went to PostgreSQL.
 *
 *   moving ──(the copy is committed)──▶ moved
 *
 * It is there before the commit: were it written after, a process that dies between the two would leave two living
 * installations. Whoever finds `moving` looks into the database.
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
    // Whatever became of its text, somebody put it there.
    return { state: 'moved', place: 'an unknown place', at: 'an unknown time' };
  }
}

/** The embedded database of a moved installation is its past: two that live on would both take runs. */
export function refuseMoved(path: string): void {
  const mark = readMovedMark(path);
  if (mark === null) return;
  if (mark.state === 'moving') {
    throw new SettingRefused(
      `The installation in this data folder was being moved to PostgreSQL at ${mark.place}, and the move was interrupted; run \`runwire move\` again with the same DATABASE_URL, or remove ${path} if you are sure that it should stay here.`,
    );
  }
  throw new SettingRefused(
    `The installation in this data folder was moved to PostgreSQL at ${mark.place} (${mark.at}); set DATABASE_URL to it, or remove ${path} to go back to the embedded database as it was then.`,
  );
}
