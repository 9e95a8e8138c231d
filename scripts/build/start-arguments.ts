import { join } from 'node:path';
import { isBuildCurrent } from './stamp.ts';

/** Prints the arguments with which `npm start` runs Node: the build if it is current, otherwise the sources. */
const root = join(import.meta.dirname, '../..');
process.stdout.write(isBuildCurrent(root) ? 'packages/cli/dist/main.js' : '-C runwire packages/cli/src/main.ts');
