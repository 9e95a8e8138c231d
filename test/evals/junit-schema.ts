import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { XMLLINT } from '../support/services.ts';

const SCHEMA = join(import.meta.dirname, 'junit.xsd');
/** What a schema cannot require: the counts are those of the elements. */
const COUNTS = `/testsuites/@tests = count(//testcase) and not(//testsuite[@tests != count(testcase)
  or @failures != count(testcase/failure) or @errors != count(testcase/error)])`;

const run = promisify(execFile);

/** Validates a report by the schema of JUnit. Returns what is wrong with it. */
export async function junitProblems(file: string): Promise<readonly string[]> {
  const invalid = (error: { readonly stderr: string }) => error.stderr.trim().split('\n');
  const problems = await run(XMLLINT, ['--noout', '--nonet', '--schema', SCHEMA, file]).then(() => [], invalid);
  if (problems.length > 0) return problems;
  const { stdout } = await run(XMLLINT, ['--nonet', '--xpath', `boolean(${COUNTS})`, file]);
  return stdout.trim() === 'true' ? [] : ['The counts are not those of the elements.'];
}
