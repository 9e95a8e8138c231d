import { createWriteStream } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { testReport } from './test-report.ts';

/**
 * Runs test files in the order in which they are given, which `node --test` does not: it begins them by their names, and
 * then the long ones may come last, with nothing beside them. Arguments: the report, how many at once, and the files.
 */
const [report = '', concurrency = '1', ...files] = process.argv.slice(2);

const tests = run({ files, concurrency: Number(concurrency), timeout: 240_000, forceExit: true });
tests.on('test:fail', ({ todo, skip }) => {
  if (todo === undefined && skip === undefined) process.exitCode = 1;
});
tests.compose(spec).pipe(process.stdout);
tests.compose(testReport).pipe(createWriteStream(report));
