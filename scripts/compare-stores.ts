import { misplaced, type PassName, type SeenServer } from './test-passes.ts';
import type { FileReport, TestReport } from './test-report.ts';

/** What a pass over the tests left behind. */
export interface Pass {
  readonly name: PassName;
  readonly files: readonly string[];
  readonly report: TestReport;
  readonly seen: readonly SeenServer[];
}

/** In the test runner's own words, and with the store that the servers said they have. */
export function passLine({ name, files, report, seen }: Pass): string {
  const { tests, passed, skipped, todo } = report.counts;
  const counts = `tests ${tests}, pass ${passed}, fail ${tests - passed - skipped - todo}, skipped ${skipped}`;
  const stores = Object.entries(Object.groupBy(seen, ({ store }) => store)).map(
    ([store, servers]) => `${store} (${servers?.length} servers)`,
  );
  return `${name.padEnd(8)} ${String(files.length).padStart(3)} files, ${counts}; /readyz said: ${stores.join(', ') || 'nothing'}\n`;
}

/** Seconds of each file that ran on both stores. */
export function timesLines(sqlite: Pass, postgres: Pass): string {
  const on = (pass: Pass, file: string) => pass.report.files.find((report) => report.file === file)?.seconds ?? 0;
  const total = (pass: Pass) => pass.report.files.reduce((sum, { seconds }) => sum + seconds, 0);
  const line = (a: number, b: number, name: string) =>
    `  ${a.toFixed(1).padStart(7)} ${b.toFixed(1).padStart(9)}  ${name}\n`;
  const lines = sqlite.files.map((file) => line(on(sqlite, file), on(postgres, file), file));
  return `seconds:\n   sqlite  postgres\n${lines.join('')}${line(total(sqlite), total(postgres), 'together')}`;
}

const ran = (report: FileReport | undefined) => (report === undefined ? 0 : report.tests - report.skipped);

/** What keeps the whole suite from having run on both stores; a test that was left out on one of them counts there as none. */
export function differences(sqlite: Pass, postgres: Pass): string[] {
  const of = ({ report }: Pass, file: string) => ran(report.files.find((one) => one.file === file));
  const files = [...new Set([...sqlite.files, ...postgres.files])];
  const counts = files
    .filter((file) => of(sqlite, file) !== of(postgres, file))
    .map((file) => `${file}: ${of(sqlite, file)} tests over sqlite, ${of(postgres, file)} over postgres.`);
  const [a, b] = [sqlite, postgres].map(({ report: { counts: all } }) => all.tests - all.skipped);
  const total = a === b || counts.length > 0 ? [] : [`${a} tests over sqlite, ${b} over postgres.`];
  return [...counts, ...total];
}

/** Where tests ran that ought to run elsewhere. */
export const misplacements = (passes: readonly Pass[]): string[] =>
  passes.flatMap(({ name, files, seen }) => misplaced(name, files, seen));

/** Tests that were skipped: where `CI` is set nothing is left out. */
export const leftOut = (passes: readonly Pass[]): string[] =>
  passes.flatMap(({ name, report }) =>
    report.files
      .filter(({ skipped }) => skipped > 0)
      .map(({ file, skipped }) => `${file} (${name}): ${skipped} tests were skipped, and CI is set.`),
  );
