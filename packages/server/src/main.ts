import { keepOptimisedCode } from '@runwire/lib/keep-optimised-code.ts';
import { compose } from './compose/compose.ts';
import type { Overrides } from './compose/overrides.ts';
import type { RunningServer } from './compose/running-server.ts';
import { serverSentence, startSentences, stoppingSentence } from './compose/start-sentences.ts';
import { startWhenDiskHasSpace } from './compose/start-when-disk-has-space.ts';
import type { Config } from './config/config.ts';
import { type Environment, prepareProcess } from './config/read-config.ts';
import { StartRefused } from './domain/start-refused.ts';
import { StoreUnavailable } from './domain/unavailable.ts';
import { VERSION } from './domain/version.ts';

export interface StartOutput {
  /** True: print one line of JSON in place of the sentences for people. */
  readonly isJson?: boolean;
  /** The file with the line `RUNWIRE_API_KEY=…`. Absent if the key is a variable of the caller's shell. */
  readonly keyFile?: string | undefined;
}

/** Starts the server with the settings in `env`. Resolves when a signal has stopped it. */
export async function serve(
  env: Environment,
  overrides?: Overrides,
  { isJson = false, keyFile }: StartOutput = {},
): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    // The operator does not want to wait. The next start resumes the runs.
    if (signals > 1) process.exit(0);
    resolve();
  };
  let dataDir = '';
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    keepOptimisedCode();
    const { config, secrets } = prepareProcess(env);
    dataDir = config.dataDir;
    const print = (text: string) => void process.stdout.write(`${text}\n`);
    const say = isJson ? () => {} : print;
    await using server = await startWhenDiskHasSpace({
      config,
      start: (settings) => compose(settings, secrets, exitImmediately, overrides),
      onWaiting: (url) => say(waitingSentence(url, dataDir)),
      signalled,
    });
    if (server === null) return;
    if (isJson) print(startLine(server, config));
    for (const sentence of startSentences(server, config, keyFile)) say(sentence);
    for (const found of server.mcpProblems)
      void found.then((problem) => problem !== null && say(serverSentence(problem)));
    await signalled;
    const runs = server.probes.activeRuns();
    if (runs > 0) say(stoppingSentence(runs));
    await server.drain();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? startSentence(error, dataDir) : error}\n`);
    process.exitCode = 1;
  } finally {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  }
}

/** What a script needs to know of the start. `apiKey` and `setupLink` are null unless the start created them. */
function startLine({ url, metricsUrl, apiKey, setupLink }: RunningServer, { dataDir }: Config): string {
  return JSON.stringify({ version: VERSION, url, metricsUrl, dataDir, apiKey, setupLink });
}

function waitingSentence(url: string, dataDir: string): string {
  return `The disk of the data folder ${dataDir} is full: ${url} answers 503 until there is space; the server then starts without another command.`;
}

/** Prints an error that the operator can fix as one sentence. Any other error is a bug and is printed with its stack. */
function startSentence(error: Error & { code?: string; syscall?: string; errcode?: number }, dataDir: string): string {
  if (error instanceof StartRefused) return error.message;
  if (error instanceof StoreUnavailable) {
    const reason = error.message.replace(/\.$/, '');
    return `The start failed because the store cannot be used now (${reason}); start again when it is available.`;
  }
  if (error.errcode !== undefined) {
    return `The data folder ${dataDir} cannot be used (${error.message}); fix it, or set RUNWIRE_DATA_DIR to another.`;
  }
  if (error.code === 'EADDRINUSE')
    return `${error.message}; stop the program that listens there, or set PORT to another number.`;
  if (error.syscall === 'listen' || error.syscall === 'getaddrinfo') {
    return `${error.message}; set HOST and PORT to an address of this machine that this user may listen on.`;
  }
  return error.stack ?? error.message;
}

/** After a failed sync the disk's state is unknown to this process. The next start reads it. */
function exitImmediately(error: unknown): void {
  process.stderr.write(`The store failed, so the server exits: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(1);
}
