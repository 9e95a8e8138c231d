import { compose, createKeyHere, type Overrides } from './compose.ts';
import type { Config } from './config/config.ts';
import { readConfig } from './config/read-config.ts';
import { StartRefused } from './domain/start-refused.ts';
import { VERSION } from './domain/version.ts';

/** Starts the server from the environment, and resolves when a signal has ended it. */
export async function serve(env: Readonly<Record<string, string | undefined>>, overrides?: Overrides): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let signals = 0;
  const onSignal = () => {
    signals += 1;
    // Nobody waits any more: what runs is left to the next start.
    if (signals > 1) process.exit(0);
    resolve();
  };
  let dataDir = '';
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    const { config, secrets } = readConfig(env);
    dataDir = config.dataDir;
    await using server = await compose(config, secrets, endAtOnce, overrides);
    const say = (text: string) => process.stdout.write(`${text}\n`);
    say(`Runwire ${VERSION} listens on ${server.url}`);
    if (config.database !== null) say(`Database: PostgreSQL at ${config.database.place}`);
    say(`Data folder: ${config.dataDir}`);
    say(modelSentence(config));
    const { resumedRuns, endedRuns } = server;
    if (resumedRuns > 0) say(`Runs left unfinished by the last stop that now go on: ${resumedRuns}`);
    if (endedRuns > 0) say(`Runs left unfinished by the last stop, now ended: ${endedRuns}`);
    if (server.isFirstStart || server.apiKey !== null) sayFirst(say, server.url, server.apiKey);
    await signalled;
    const runs = server.probes.activeRuns();
    if (runs > 0) say(`Ending: runs under way may go on for a while (${runs}); a second signal ends at once.`);
    await server.drain();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? startSentence(error, dataDir) : error}\n`);
    process.exitCode = 1;
  } finally {
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  }
}

/** "the choice is printed" */
function modelSentence({ model, openAi, unusedProviderKeys: unused }: Config): string {
  if (openAi !== null && model.startsWith('openai/')) {
    const protocol = openAi.api === 'chat' ? 'Chat Completions' : 'Responses';
    return `The demo agency uses ${model}, asked by ${protocol} at ${openAi.baseUrl}.`;
  }
  if (unused.length > 0) {
    return `${unused.join(' and ')} is set, but this version does not ask that provider: the offline demo model answers.`;
  }
  return openAi === null
    ? 'No provider is set: the offline demo model answers.'
    : 'No model of a provider is chosen: the offline demo model answers.';
}

function sayFirst(say: (text: string) => void, url: string, apiKey: string | null): void {
  if (apiKey !== null) say(`\nYour API key, shown this once:\n\n  ${apiKey}\n`);
  say(`Try it:\n\n${curl(url, apiKey)}\n`);
}

/** Works as pasted. A key that stands in the environment is not printed. */
function curl(url: string, apiKey: string | null): string {
  const authorization =
    apiKey === null ? '"Authorization: Bearer $RUNWIRE_API_KEY"' : `'Authorization: Bearer ${apiKey}'`;
  const body = JSON.stringify({ apiIntegrationId: 'demo', message: 'Hello' });
  return [
    `  curl -N ${url}/get_completion_v2 \\`,
    `    -H ${authorization} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
  ].join('\n');
}

/** What a person can mend is said in one sentence; the rest is a fault of ours and comes with its stack. */
function startSentence(error: Error & { code?: string; syscall?: string; errcode?: number }, dataDir: string): string {
  if (error instanceof StartRefused) return error.message;
  if (error.errcode !== undefined) {
    return `The data folder ${dataDir} cannot be used (${error.message}); mend it, or set RUNWIRE_DATA_DIR to another.`;
  }
  if (error.code === 'EADDRINUSE') return `${error.message}; stop what listens there, or set PORT to another number.`;
  if (error.syscall === 'listen' || error.syscall === 'getaddrinfo') {
    return `${error.message}; set HOST and PORT to an address of this machine that this user may listen on.`;
  }
  return error.stack ?? error.message;
}

/** A sync failed: nobody knows what is on the disk. The next start reads what is. */
function endAtOnce(error: unknown): void {
  process.stderr.write(`The store failed and the server ends: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(1);
}

/** Makes a key in the installation that the environment names, and resolves to it. */
export async function createKey(env: Readonly<Record<string, string | undefined>>, name: string): Promise<string> {
  const { config, secrets } = readConfig(env);
  return createKeyHere(config, secrets, name);
}
