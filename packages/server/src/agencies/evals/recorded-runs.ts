import type { HistoryItem } from '@runwire/contract';
import { type AgencyFolder, FileRefused } from '../agency-folder.ts';
import type { Faults } from '../fault.ts';

export const RECORDED_FILE = 'recorded.jsonl';
/** A run with long tool outputs has some hundred kilobytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A server's run, as `runwire evals record` writes it: one line with JSON. */
export interface RecordedRun {
  readonly runId: string;
  readonly agent: string;
  readonly message: string;
  readonly history: readonly HistoryItem[];
  /** Absent unless it was recorded with the run. */
  readonly userContext?: unknown;
  /** The reference answer. */
  readonly text: string;
  readonly calls: readonly RecordedToolCall[];
}

export interface RecordedToolCall {
  readonly agent: string;
  readonly callerAgent: string | null;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  /** Null if the call had no outcome: it waited for an answer, or was cut. */
  readonly output: string | null;
  readonly failed: boolean;
}

const TEXTS = ['runId', 'agent', 'message', 'text'] as const;
const LISTS = ['history', 'calls'] as const;

/** Reads the recorded runs, by their ids. A later line with the same run replaces an earlier one. */
export async function readRecorded(
  folder: AgencyFolder,
  file: string,
  faults: Faults,
): Promise<ReadonlyMap<string, RecordedRun>> {
  const runs = new Map<string, RecordedRun>();
  if (!(await folder.list(file.slice(0, file.lastIndexOf('/')))).includes(RECORDED_FILE)) return runs;
  let text: string;
  try {
    text = await folder.read(file, MAX_BYTES);
  } catch (error) {
    if (!(error instanceof FileRefused)) throw error;
    faults.addAt(file, { line: 1, column: 1 }, error.message);
    return runs;
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const run = parseRun(line);
    if (typeof run === 'string') faults.addAt(file, { line: index + 1, column: 1 }, run);
    else runs.set(run.runId, run);
  }
  return runs;
}

function parseRun(line: string): RecordedRun | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'This line is not JSON; record the run again with `runwire evals record`.';
  }
  if (typeof value !== 'object' || value === null) return 'This line is not a recorded run; remove it.';
  const run = value as Readonly<Record<string, unknown>>;
  const wrong = TEXTS.find((name) => typeof run[name] !== 'string') ?? LISTS.find((name) => !Array.isArray(run[name]));
  if (wrong !== undefined) return `This line has no \`${wrong}\`; record the run again with \`runwire evals record\`.`;
  return value as RecordedRun;
}
