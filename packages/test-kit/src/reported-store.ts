import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** What a server of a test said of itself. */
export interface ReportedStore {
  readonly file: string;
  readonly store: string;
}

/**
 * Asks a server that has just come up which store it stands on, and keeps the answer for the gate, which compares it with
 * the store that it asked for. Outside the gate nobody is asked.
 */
export async function noteStore(url: string): Promise<void> {
  const folder = process.env.TEST_STORES_SEEN;
  if (folder === undefined || folder === '') return;
  const store = await reportedStore(url);
  // A test may have it break at once.
  if (store === null) return;
  const file = relative('.', process.env.TEST_FILE ?? process.argv[1] ?? '');
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify({ file, store } satisfies ReportedStore)}\n`);
}

async function reportedStore(url: string): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/readyz`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(5000),
    });
    const { store } = (await answer.json()) as { store?: string };
    return store ?? null;
  } catch {
    return null;
  }
}
