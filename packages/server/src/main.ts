import { type BackupOverrides, backUpHere } from './commands/backup.ts';
import { moveHere } from './commands/migrate.ts';
import { type Restored, restoreHere } from './commands/restore.ts';
import { createKeyHere, rotateUploadsHere } from './commands/rotate-secrets.ts';
import { compose } from './compose/compose.ts';
import type { Overrides } from './compose/overrides.ts';
import { startWhenDiskHasSpace } from './compose/start-when-disk-has-space.ts';
import type { Config } from './config/config.ts';
import { dataFolder } from './config/data-folder.ts';
import { readConfig } from './config/read-config.ts';
import { StartRefused } from './domain/start-refused.ts';
import { StoreUnavailable } from './domain/unavailable.ts';
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
    const { config, secrets } = prepareProcess(env);
    dataDir = config.dataDir;
    const say = (text: string) => process.stdout.write(`${text}\n`);
    await using server = await startWhenDiskHasSpace({
      config,
      start: (settings) => compose(settings, secrets, endAtOnce, overrides),
      onWaiting: (url) => say(waitingSentence(url, dataDir)),
      signalled,
    });
    if (server === null) return;
    say(`Runwire ${VERSION} listens on ${server.url}`);
    say(`API reference: ${server.url}/docs`);
    if (server.metricsUrl !== null) say(`Metrics, without a key: ${server.metricsUrl}/metrics`);
    if (config.database !== null) say(`Database: PostgreSQL at ${config.database.place}`);
    say(`Data folder: ${config.dataDir}`);
    say(filesSentence(config));
    const allowed = config.fetchAllow.entries;
    if (allowed.length > 0) say(`Files are also fetched from: ${allowed.join(', ')}`);
    for (const sentence of modelSentences(config)) say(sentence);
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

/**
 * Reads the settings. Sets the umask, so that no other user of the machine can read what this process writes, even in a
 * folder that others may enter (`contract-1-umask`).
 */
function prepareProcess(env: Readonly<Record<string, string | undefined>>): ReturnType<typeof readConfig> {
  process.umask(0o077);
  return readConfig(env);
}

function waitingSentence(url: string, dataDir: string): string {
  return `The disk of the data folder ${dataDir} is full: ${url} answers 503 until there is space, and the server then starts by itself.`;
}

function filesSentence({ s3 }: Config): string {
  if (s3 === null) return 'Files: in the data folder';
  const uploads = s3.uploads === 'direct' ? 'uploads go there directly' : 'uploads go through this server';
  return `Files: in the bucket ${s3.bucket} at ${s3.endpoint ?? `Amazon S3 in ${s3.region}`}; ${uploads}`;
}

/** Returns lines that name the model, and what to set if a provider is set up but not used. */
function modelSentences({ model, openAi, unusedProviderKeys }: Config): string[] {
  if (openAi !== null && model.startsWith('openai/')) {
    const protocol = openAi.api === 'chat' ? 'Chat Completions' : 'Responses';
    return [`The demo agency uses ${model}, asked by ${protocol} at ${openAi.baseUrl}.`];
  }
  const offline = 'the offline demo model answers';
  const unused = unusedProviderKeys.map(
    (name) => `${name} is set, but this version cannot use that provider: ${offline}.`,
  );
  if (openAi !== null) {
    const remedy = `To use ${openAi.baseUrl}, set RUNWIRE_MODEL to openai/ and the name of one of its models.`;
    unused.push(`A provider is set up, but no model of it is chosen: ${offline}. ${remedy}`);
  }
  return unused.length > 0 ? unused : [`No provider is set: ${offline}.`];
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

/** An error that the operator can fix is printed as one sentence. Any other is our fault and is printed with its stack. */
function startSentence(error: Error & { code?: string; syscall?: string; errcode?: number }, dataDir: string): string {
  if (error instanceof StartRefused) return error.message;
  if (error instanceof StoreUnavailable) {
    const reason = error.message.replace(/\.$/, '');
    return `The start was given up because the store cannot be used now (${reason}); start again when it is back.`;
  }
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
  const { config, secrets } = prepareProcess(env);
  return createKeyHere(config, secrets, name);
}

/** Retires the secret that signs upload forms; resolves to what there is to say. */
export async function rotateUploads(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  const number = await rotateUploadsHere(config, secrets);
  if (config.s3?.uploads === 'direct') {
    return (
      'With S3_UPLOADS=direct upload forms are signed with the AWS credentials of the servers, and those stay as they are: to change ' +
      'them make another access key at your S3, start all servers with it and delete the old one, which ends its forms at once. ' +
      `Forms that are sent to this server itself would be signed with secret number ${number} from now on.`
    );
  }
  return `Upload forms are signed with secret number ${number} from now on; those signed before stay valid to their end, 15 minutes at most.`;
}

/** Copies the embedded installation of the environment into its PostgreSQL database; resolves to what there is to say. */
export async function move(env: Readonly<Record<string, string | undefined>>): Promise<string> {
  const { config, secrets } = prepareProcess(env);
  const { tables, wasDone } = await moveHere(config, secrets);
  const place = config.database?.place ?? '';
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const copied = wasDone
    ? `An earlier move had copied everything to PostgreSQL at ${place}; it is finished now.`
    : `Copied ${tables.length} tables with ${rows} rows from ${config.dataDir} to PostgreSQL at ${place} and read them back: counts and checksums are equal.`;
  return [
    copied,
    ...tables.map((table) => `  ${table.table}: ${table.rows}`),
    config.s3 === null
      ? `Images and files stay in ${config.dataDir}: start all servers with this DATABASE_URL and with that folder as RUNWIRE_DATA_DIR, and more than one with RUNWIRE_SHARED_DISK=true.`
      : `Images and files stay in the bucket ${config.s3.bucket}: start all servers with this DATABASE_URL and with that S3_BUCKET.`,
    `The embedded database is as it was; ${dataFolder(config.dataDir).movedMark} keeps servers from starting on it.`,
  ].join('\n');
}

/** Of the missing images, how many are said at once. */
const NAMED = 10;
const NO_SECRET = 'The secret that signs keys is not in it: RUNWIRE_SECRET is what it was, keep it with the back-up.';

/** Takes a back-up of the installation that the environment names, beside its servers; `isWhole`: with all its images and files. */
export async function backup(
  env: Readonly<Record<string, string | undefined>>,
  to: string,
  overrides?: BackupOverrides,
): Promise<{ readonly said: string; readonly isWhole: boolean }> {
  const { config, secrets } = prepareProcess(env);
  const done = await backUpHere(config, secrets, to, overrides);
  const { rows, images, files, bytes, missing, unread, unsteady, hasSecret } = done;
  const lines = [`Backed up ${rows} rows, ${images} images and ${files} files, ${bytes} bytes, to ${to}.`];
  if (missing.length > 0) {
    lines.push(
      `Images that messages refer to but that are missing or damaged here, and not in the back-up: ${missing.length}. ${to}/missing-images.jsonl names them all; the first:`,
      ...missing.slice(0, NAMED).map((key) => `  ${key}`),
    );
  }
  if (unread.length > 0) {
    lines.push(
      `Files that could not be read, and are not in the back-up: ${unread.length}. ${to}/odd-files.jsonl names them all; the first:`,
      ...named(unread),
    );
  }
  if (unsteady.length > 0) {
    lines.push(
      `Files that changed whenever they were read, and are in the back-up as they were read last: ${unsteady.length}. ${to}/odd-files.jsonl names them all; the first:`,
      ...named(unsteady),
    );
  }
  lines.push(hasSecret ? 'The secret that signs keys is in it: keep it where nobody else can read it.' : NO_SECRET);
  return { said: lines.join('\n'), isWhole: missing.length + unread.length + unsteady.length === 0 };
}

const named = (odd: Restored['unplaced']) =>
  odd.slice(0, NAMED).map(({ integration, path, reason }) => `  ${integration}: ${path} (${reason})`);

/** Puts a back-up into the empty place that the environment names; `isWhole`: with all its files. */
export async function restore(
  env: Readonly<Record<string, string | undefined>>,
  from: string,
): Promise<{ readonly said: string; readonly isWhole: boolean }> {
  const { config, secrets } = prepareProcess(env);
  const done = await restoreHere(config, secrets, from);
  const { rows, images, files, bytes, hasSecret, hasOtherSecret, wasDone, leftMark, unplaced } = done;
  const place = config.database === null ? config.dataDir : `PostgreSQL at ${config.database.place}`;
  const lines = [
    wasDone
      ? `An earlier restore had put everything into ${place}; it is finished now. For another back-up use an empty place.`
      : `Restored ${rows} rows, ${images} images and ${files} files, ${bytes} bytes, to ${place}.`,
  ];
  if (config.s3 !== null) lines.push(`The images and files are in the bucket ${config.s3.bucket}.`);
  else if (config.database !== null) {
    lines.push(`The images and files are in ${config.dataDir}, which all servers must share.`);
  }
  if (unplaced.length > 0) {
    lines.push(
      `Files that could not be put in their place, and that the back-up alone has: ${unplaced.length}. ${from}/mount.jsonl says under which hash each lies in ${from}/mount; the first:`,
      ...named(unplaced),
    );
  }
  if (leftMark !== null) {
    lines.push(
      `A restore that was interrupted may have left objects in the bucket under ${leftMark}/: delete them, unless a database has that mark in its table blob_folder.`,
    );
  }
  if (!hasSecret) lines.push('The back-up holds no secret: set RUNWIRE_SECRET to what it was when it was taken.');
  if (hasOtherSecret) {
    lines.push(
      "RUNWIRE_SECRET is not the secret of the back-up: none of the back-up's keys is valid while it is set. Leave it unset to use them.",
    );
  }
  return { said: lines.join('\n'), isWhole: unplaced.length === 0 };
}
