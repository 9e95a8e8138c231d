import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { acceptPages, checkPages } from '../requirements/check-pages.ts';
import { readCitations, tally } from '../requirements/tally.ts';

/**
 * Compares docs/contract with the tests.
 *
 *     npm run requirements               after npm test: every requirement is accepted and cited by a test that passed
 *     npm run requirements -- --pages    only the pages: their form, and whether a sentence changed
 *     npm run requirements -- --accept   the changed sentences are right, and so are the tests that cite them
 */
const { values } = parseArgs({ options: { accept: { type: 'boolean' }, pages: { type: 'boolean' } } });
const root = join(import.meta.dirname, '..');

function fail(lines: readonly string[]): void {
  for (const line of lines) console.error(line);
  if (lines.length > 0) process.exitCode = 1;
}

const { requirements, problems } = checkPages(root);
if (values.accept) {
  const malformed = acceptPages(root);
  if (malformed.length > 0) fail(malformed);
  else for (const change of problems) console.log(change);
} else if (problems.length > 0) {
  fail([...problems, 'If the pages and the tests are right: npm run requirements -- --accept']);
} else if (!values.pages) {
  const counted = tally(requirements, readCitations(process.env.REQUIREMENTS_CITED || '.work/citations'));
  console.log(counted.line);
  fail(counted.problems);
}
