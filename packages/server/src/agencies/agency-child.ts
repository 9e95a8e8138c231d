import { Worker } from 'node:worker_threads';
import { importModule, importPackage } from './agency-modules.ts';
import { type ChildMessage, moduleFailure, PACKAGE_ARGUMENT } from './module-failure.ts';

/** The process that loads the TypeScript of an agency first: if it throws, loops or exits, the server continues. */

const [folder = '', ...files] = process.argv.slice(2);

// The server has ended: nothing waits for an answer. A module that loops lets nothing on this thread run, so another
// thread ends the process, long after the server would have.
process.on('disconnect', () => process.exit());
new Worker("setTimeout(() => process.kill(process.pid, 'SIGKILL'), 120_000)", { eval: true }).unref();

const send = (message: ChildMessage) => new Promise((resolve) => process.send?.(message, resolve));

await send('started');
try {
  for (const file of files) {
    if (file.startsWith(PACKAGE_ARGUMENT)) await importPackage(folder, file.slice(PACKAGE_ARGUMENT.length));
    else await importModule(folder, file);
  }
  await send({ failure: null });
} catch (error) {
  await send({ failure: moduleFailure(error) });
}
