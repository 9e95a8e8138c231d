import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ChildMessage, type ModuleFailure, OWN_SENTENCE } from './module-failure.ts';

/** How long the process itself may take to start. On a busy machine that is no fault of the modules. */
const START_MS = 60_000;

/** Loads modules in a process of their own. Resolves to null if they load there in time. */
export async function tryModules(
  folder: string,
  files: readonly string[],
  timeoutMs: number,
): Promise<ModuleFailure | null> {
  const isSource = import.meta.url.endsWith('.ts');
  const child = fork(
    fileURLToPath(new URL(isSource ? './agency-child.ts' : './agency-child.js', import.meta.url)),
    [folder, ...files],
    {
      execArgv: isSource ? ['-C', 'runwire'] : [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    },
  );
  const { promise, resolve } = Promise.withResolvers<ModuleFailure | null>();
  const fail = (message: string) => resolve({ message, code: OWN_SENTENCE, stack: '' });
  const seconds = timeoutMs / 1000;
  let timer = setTimeout(() => fail('The process that loads it did not start.'), START_MS);
  child.on('message', (message: ChildMessage) => {
    if (message !== 'started') return resolve(message.failure);
    clearTimeout(timer);
    timer = setTimeout(() => fail(`It did not load within ${seconds} seconds; remove what loops or waits.`), timeoutMs);
  });
  child.on('error', (error) => fail(`The process that loads it could not be started: ${error.message}.`));
  child.on('exit', () => fail('It ended the process while it was loaded; remove `process.exit`.'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
