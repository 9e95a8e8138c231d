import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordedRun } from './eval-case.ts';

const SCHEMA_LINE = '# yaml-language-server: $schema=http://127.0.0.1:8787/evals.schema.json';
const MAX_NAME = 80;

/** Writes the runs into recorded.jsonl, and a case for each into the file. Resolves to its path. */
export async function writeRecorded(folder: string, file: string, runs: readonly RecordedRun[]): Promise<string> {
  const evals = join(folder, 'evals');
  const path = join(evals, file);
  await mkdir(evals, { recursive: true });
  const before = existsSync(path) ? await readFile(path, 'utf8') : `${SCHEMA_LINE}\nname: Recorded\ncases:\n`;
  const added = runs.filter(({ runId }) => !before.includes(`run: ${runId}\n`));
  // The runs first: a case without its run is a fault.
  await appendFile(join(evals, 'recorded.jsonl'), runs.map((run) => `${JSON.stringify(run)}\n`).join(''));
  const text = before.endsWith('\n') ? before : `${before}\n`;
  await writeFile(path, text + added.map(caseText).join(''));
  await checkFile(folder, file, before);
  return path;
}

/** Puts the earlier text back if the cases are not at its end, or are indented otherwise. */
async function checkFile(folder: string, file: string, before: string): Promise<void> {
  const { findEvals } = await import('@runwire/server');
  const { faults } = await findEvals({ RUNWIRE_AGENCIES_DIR: undefined }, { folder, loadsAgencies: false });
  const fault = faults.find((line) => line.includes(`/evals/${file}:`));
  if (fault === undefined) return;
  await writeFile(join(folder, 'evals', file), before);
  throw new Error(`The cases cannot be added to ${file}; name another file with --file. ${fault}`);
}

/** Every text is written as JSON, which is YAML too. */
function caseText({ runId, message, calls }: RecordedRun): string {
  const words = message.replaceAll(/\s+/g, ' ').trim();
  const name = words.length > MAX_NAME ? `${words.slice(0, MAX_NAME)}…` : words;
  return [
    `  - name: ${JSON.stringify(`${name} (${runId})`)}`,
    `    run: ${runId}`,
    '    expect:',
    ...(calls.length === 0 ? [] : ['      calls: same']),
    '      judge: { criteria: States the same facts as the reference answer. }',
    '',
  ].join('\n');
}
