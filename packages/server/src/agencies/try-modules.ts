import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type ModuleFailure, OWN_SENTENCE } from './module-failure.ts';

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
  const timer = setTimeout(
    () => fail(`It did not load within ${seconds} seconds; remove what loops or waits.`),
    timeoutMs,
  );
  child.on('message', ({ failure }: { failure: ModuleFailure | null }) => resolve(failure));
  child.on('error', (error) => fail(`The process that loads it could not be started: ${error.message}.`));
  child.on('exit', () => fail('It ended the process while it was loaded; remove `process.exit`.'));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
