import { importModule, importPackage } from './agency-modules.ts';
import { moduleFailure, PACKAGE_ARGUMENT } from './module-failure.ts';

/** The process that loads the TypeScript of an agency first: if it throws, loops or exits, the server continues. */

const [folder = '', ...files] = process.argv.slice(2);

// The server has ended: nothing waits for an answer.
process.on('disconnect', () => process.exit());

try {
  for (const file of files) {
    if (file.startsWith(PACKAGE_ARGUMENT)) await importPackage(folder, file.slice(PACKAGE_ARGUMENT.length));
    else await importModule(folder, file);
  }
  process.send?.({ failure: null });
} catch (error) {
  process.send?.({ failure: moduleFailure(error) });
}
