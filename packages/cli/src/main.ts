#!/usr/bin/env node
import { parseArgs } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { type Command, commands } from './commands.ts';
import { commandHelp, usage } from './help.ts';

/** The command line is wrong: exit code 2. The help follows the sentence. */
class UsageError extends Error {
  readonly help: string;

  constructor(sentence: string, help: string) {
    super(sentence);
    this.help = help;
  }
}

/** The server uses SQLite and syntax that older versions of Node do not have. */
const NODE_MAJOR = 26;

async function main(args: readonly string[]): Promise<void> {
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < NODE_MAJOR) {
    throw new Error(`Runwire needs Node ${NODE_MAJOR} or newer, and this is Node ${node}; install a newer one.`);
  }
  const [first] = args;
  if (first === '--version' || first === '-v') return print(`runwire ${packageJson.version}\n`);
  const asksForHelp = first === 'help' || args.some(isHelp);
  const words = (first === 'help' ? args.slice(1) : args).filter((arg) => !isHelp(arg));
  const command = commands.find(({ name }) => beginsWith(words, name));
  if (command !== undefined) {
    if (asksForHelp) return print(commandHelp(command));
    return command.run(process.env, optionOf(command, words.slice(command.name.split(' ').length)));
  }
  // For `keys` alone: the commands that begin with this word.
  const below = commands.filter(({ name }) => words.length === 1 && name.startsWith(`${words[0]} `));
  const help = usage(below.length > 0 ? below : commands);
  if (asksForHelp && (words.length === 0 || below.length > 0)) return print(help);
  if (words.length === 0) throw new UsageError('A command is missing.', help);
  if (below.length > 0) throw new UsageError(`\`${words[0]}\` needs a second word.`, help);
  throw new UsageError(`There is no command \`${words.join(' ')}\`.`, help);
}

const isHelp = (arg: string) => arg === '-h' || arg === '--help';

function beginsWith(words: readonly string[], name: string): boolean {
  return name.split(' ').every((word, index) => words[index] === word);
}

/** The value of the only option or argument that a command can have. */
function optionOf(command: Command, args: readonly string[]): string | undefined {
  const { option, argument } = command;
  const value = parseOption(command, args);
  if (argument !== undefined && !value) {
    throw new UsageError('Name a folder.', commandHelp(command));
  }
  if (option?.isRequired === true && !value) {
    throw new UsageError(`Name a folder with --${option.name}.`, commandHelp(command));
  }
  return value;
}

function parseOption(command: Command, args: readonly string[]): string | undefined {
  const name = command.option?.name;
  const options = name === undefined ? {} : { [name]: { type: 'string' } as const };
  try {
    const takesArgument = command.argument !== undefined;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: takesArgument });
    if (positionals.length > 1) throw new Error('Name one folder.');
    return takesArgument ? positionals[0] : values[name ?? ''];
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), commandHelp(command));
  }
}

function print(text: string): void {
  process.stdout.write(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof UsageError ? `${text}\n\n${error.help}` : `${text}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
