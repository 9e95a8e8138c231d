import { DEMO_INTEGRATION } from './accounts/first-start.ts';
import { compose } from './compose/compose.ts';
import type { Overrides } from './compose/overrides.ts';
import type { RunningServer } from './compose/running-server.ts';
import { startWhenDiskHasSpace } from './compose/start-when-disk-has-space.ts';
import type { Config } from './config/config.ts';
import { type Environment, prepareProcess } from './config/read-config.ts';
import { OFFLINE_MODEL } from './domain/providers.ts';
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
    say(`Runwire ${VERSION} listens on ${server.url}`);
    say(`Console: ${config.publicUrl ?? server.url}/console/`);
    say(`API reference: ${server.url}/docs`);
    if (server.metricsUrl !== null) say(`Metrics, without a key: ${server.metricsUrl}/metrics`);
    if (config.database !== null) say(`Database: PostgreSQL at ${config.database.place}`);
    say(`Data folder: ${config.dataDir}`);
    say(filesSentence(config));
    const allowed = config.fetchAllow.entries;
    if (allowed.length > 0) say(`Files are also fetched from: ${allowed.join(', ')}`);
    say(sandboxSentence(server.sandbox));
    for (const sentence of modelSentences(config, server.modelPlace)) say(sentence);
    for (const sentence of agencySentences(config, server)) say(sentence);
    const { resumedRuns, endedRuns } = server;
    if (resumedRuns > 0) say(`Runs left unfinished by the last stop, now resumed: ${resumedRuns}`);
    if (endedRuns > 0) say(`Runs left unfinished by the last stop, now ended: ${endedRuns}`);
    if (server.awaitsSetUp && server.setupLink === null)
      say('The console is not set up yet; `runwire owners link` prints a new link for it.');
    const first = firstParagraphs(server, keyFile);
    if (first.length > 0) say(`\n${first.join('\n\n')}\n`);
    await signalled;
    const runs = server.probes.activeRuns();
    if (runs > 0)
      say(`Stopping: ${runs} active runs may continue for a while; a second signal ends the process immediately.`);
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

function filesSentence({ s3 }: Config): string {
  if (s3 === null) return 'Files: in the data folder';
  const uploads = s3.uploads === 'direct' ? 'uploads go there directly' : 'uploads go through this server';
  return `Files: in the bucket ${s3.bucket} at ${s3.endpoint ?? `Amazon S3 in ${s3.region}`}; ${uploads}`;
}

function sandboxSentence({ info, reason }: RunningServer['sandbox']): string {
  const because = reason === null ? '' : `; ${reason}`;
  switch (info.kind) {
    case 'bubblewrap':
      return `Sandbox: bubblewrap${info.proc ? '' : ', without /proc'}`;
    case 'just-bash':
      return `Sandbox: just-bash, which runs no programs of this machine${because}`;
    case 'exec':
      return 'Sandbox: the program that RUNWIRE_SANDBOX names';
    case 'off':
      return `Sandbox: off${because}`;
  }
}

/** Returns lines that name the model, and what to set if a provider is set up but not used. */
function modelSentences({ model, providers }: Config, place: RunningServer['modelPlace']): string[] {
  if (place !== null) return [`The demo agency uses ${model} (${place}).`];
  if (model !== OFFLINE_MODEL) return [`${model} cannot be used: providers.yaml is broken; the log has its faults.`];
  const offline = 'the offline demo model answers';
  const unused = providers
    .filter(({ isSet }) => isSet)
    .map(({ name, baseUrl }) => {
      const remedy = `To use ${baseUrl}, set RUNWIRE_MODEL to ${name}/ and the name of one of its models.`;
      return `A provider is set up, but none of its models is chosen: ${offline}. ${remedy}`;
    });
  return unused.length > 0 ? unused : [`No provider key and no RUNWIRE_MODEL is set: ${offline}.`];
}

/** Returns lines that name your agencies, and what is wrong with broken ones. */
function agencySentences({ agenciesDir }: Config, { agencies }: Pick<RunningServer, 'agencies'>): string[] {
  if (agenciesDir === null) return [];
  const advice = 'none; make a folder with an agency.yaml in it, see docs/first-agency.md';
  const broken = agencies.flatMap(({ id, problem }) =>
    problem === null ? [] : [`The agency ${id} is broken: ${id}/${problem}`],
  );
  return [`Agencies in ${agenciesDir}: ${agencies.map(({ id }) => id).join(', ') || advice}`, ...broken];
}

/** What a person needs to begin. Empty at later starts. */
function firstParagraphs({ url, setupLink, apiKey, firstIntegration }: RunningServer, keyFile?: string): string[] {
  const integration = firstIntegration ?? (apiKey === null ? null : DEMO_INTEGRATION);
  return [
    ...(setupLink === null ? [] : [`Your link to set up the console, shown this once:\n\n  ${setupLink}`]),
    ...(apiKey === null ? [] : [`Your API key, shown this once:\n\n  ${apiKey}`]),
    ...(integration === null ? [] : [`Try it:\n\n${curl(url, authorization(apiKey, keyFile), integration)}`]),
  ];
}

/** Returns the header as a word of a shell. A key that the operator chose is not printed. */
function authorization(apiKey: string | null, keyFile?: string): string {
  if (apiKey !== null) return `'Authorization: Bearer ${apiKey}'`;
  if (keyFile === undefined) return '"Authorization: Bearer $RUNWIRE_API_KEY"';
  const file = `'${keyFile.replaceAll("'", "'\\''")}'`;
  return `"Authorization: Bearer $(sed -n s/^RUNWIRE_API_KEY=//p ${file})"`;
}

/** Returns a command that works as pasted. */
function curl(url: string, header: string, apiIntegrationId: string): string {
  const body = JSON.stringify({ apiIntegrationId, message: 'Hello' });
  return [
    `  curl -N ${url}/get_completion_v2 \\`,
    `    -H ${header} \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '${body}'`,
  ].join('\n');
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

/** After a failed sync the state of the disk is unknown to this process. The next start reads it. */
function exitImmediately(error: unknown): void {
  process.stderr.write(`The store failed, so the server exits: ${error instanceof Error ? error.stack : error}\n`);
  process.exit(1);
}
