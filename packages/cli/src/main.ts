#!/usr/bin/env node
import { parseArgs } from 'node:util';

const USAGE = `Usage:
  runwire serve                       start the server
  runwire keys create [--name NAME]   make an API key of the first owner and print it, once
`;

async function main(args: readonly string[]): Promise<void> {
  const [command, ...rest] = args;
  if (command === 'serve' && rest.length === 0) {
    const { serve } = await import('@runwire/server');
    return serve(process.env);
  }
  if (command === 'keys' && rest[0] === 'create') return createKey(rest.slice(1));
  if (command === 'help' || command === '--help') {
    process.stdout.write(USAGE);
    return;
  }
  throw new UsageError(command === undefined ? 'Say what to do.' : `There is no command \`${args.join(' ')}\`.`);
}

class UsageError extends Error {}

async function createKey(args: readonly string[]): Promise<void> {
  let name = 'command line';
  try {
    name = parseArgs({ args: [...args], options: { name: { type: 'string' } } }).values.name ?? name;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const server = await import('@runwire/server');
  process.stdout.write(`${await server.createKey(process.env, name)}\n`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof UsageError ? `${text}\n\n${USAGE}` : `${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
