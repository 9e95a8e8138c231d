#!/usr/bin/env node
import { parseArgs } from 'node:util';

const USAGE = `Usage:
  runwire serve                       start the server
  runwire keys create [--name NAME]   make an API key of the first owner and print it, once
  runwire uploads rotate              sign upload forms with another secret, beside running servers
  runwire move                        copy the embedded installation into the PostgreSQL database of DATABASE_URL
  runwire backup --to FOLDER          take a back-up, beside running servers
  runwire restore --from FOLDER       put a back-up into an empty data folder or database
`;

/** The back-up is there, but images were lost before it was taken, or files could not be taken as they were. */
const NOT_WHOLE = 3;

async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === 'serve' && rest.length === 0) {
    const { serve } = await import('@runwire/server');
    return serve(process.env);
  }
  if (command === 'keys' && rest[0] === 'create') return createKey(rest.slice(1));
  if (command === 'uploads' && rest[0] === 'rotate' && rest.length === 1) {
    const { rotateUploads } = await import('@runwire/server');
    return say(await rotateUploads(process.env));
  }
  if (command === 'move' && rest.length === 0) {
    const { move } = await import('@runwire/server');
    return say(await move(process.env));
  }
  if (command === 'backup') {
    const to = folderOption(rest, 'to');
    const { backup } = await import('@runwire/server');
    const { said, isWhole } = await backup(process.env, to);
    if (!isWhole) process.exitCode = NOT_WHOLE;
    return say(said);
  }
  if (command === 'restore') {
    const from = folderOption(rest, 'from');
    const { restore } = await import('@runwire/server');
    const { said, isWhole } = await restore(process.env, from);
    if (!isWhole) process.exitCode = NOT_WHOLE;
    return say(said);
  }
  if (command === 'help' || command === '--help') {
    process.stdout.write(USAGE);
    return;
  }
  throw new UsageError(command === undefined ? 'Say what to do.' : `There is no command \`${args.join(' ')}\`.`);
}

class UsageError extends Error {}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The value of the only option that a command has. */
function option(args: readonly string[], name: string): string | undefined {
  try {
    const value = parseArgs({ args: [...args], options: { [name]: { type: 'string' } } }).values[name];
    return typeof value === 'string' ? value : undefined;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function folderOption(args: readonly string[], name: 'to' | 'from'): string {
  const folder = option(args, name);
  if (folder === undefined || folder === '') throw new UsageError(`Name a folder with --${name}.`);
  return folder;
}

async function createKey(args: readonly string[]): Promise<void> {
  const name = option(args, 'name') ?? 'command line';
  const server = await import('@runwire/server');
  say(await server.createKey(process.env, name));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof UsageError ? `${text}\n\n${USAGE}` : `${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
