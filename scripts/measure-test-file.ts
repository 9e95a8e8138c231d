import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { childrenSeconds } from './processor-time.ts';

/**
 * Loaded into the process of each test file: writes its CPU seconds to the file that `TEST_CPU` names, with those of the
 * processes that it started and that have ended.
 */
const [file = '', log = ''] = [process.argv[1], process.env.TEST_CPU];
// Processes that a test starts inherit the variable, but not this module.
if (log !== '') {
  process.once('exit', () => {
    const { user, system } = process.cpuUsage();
    const seconds = (user + system) / 1e6 + (childrenSeconds() ?? 0);
    appendFileSync(log, `${JSON.stringify({ file: relative('.', file), seconds })}\n`);
  });
}
