import { type Command, CommanderError } from 'commander';
import { CliCommand, commandWords } from './command.ts';
import { report, UsageError } from './exit-codes.ts';
import { helpText } from './help.ts';
import { endWithReader } from './output.ts';

/** A program without commands, with our help and our usage errors. */
export const newProgram = (version: string): CliCommand =>
  new CliCommand('runwire')
    .version(`runwire ${version}`, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand(false)
    .configureHelp({ formatHelp: helpText, helpWidth: 80, minWidthToWrap: 20 })
    .configureOutput({ writeErr: () => {} })
    .exitOverride()
    .showSuggestionAfterError(false);

/** Runs one command line. The exit code of the process tells how it ended. */
export async function runProgram(program: CliCommand, args: readonly string[]): Promise<void> {
  endWithReader();
  // A command line that is wrong has no options yet.
  const isJson = args.slice(0, [...args, '--'].indexOf('--')).includes('--json');
  try {
    const words = args[0] === 'help' ? [...args.slice(1), '--help'] : [...args];
    checkWords(program, words);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const { command } = toCommand(program, args);
    report(error instanceof CommanderError ? usageError(error, command) : error, isJson, command);
  }
}

const isHelp = (arg: string) => arg === '-h' || arg === '--help';

/** Refuses words that name no command. Commander would answer `fly --help` with the whole program's help. */
function checkWords(program: Command, args: readonly string[]): void {
  const { command, unknown } = toCommand(program, args);
  const path = commandWords(command);
  if (unknown !== undefined && !unknown.startsWith('-')) {
    throw new UsageError(`There is no command \`${[...path, unknown].join(' ')}\`.`, program.helpInformation());
  }
  if (command.commands.length === 0 || args.some(isHelp)) return;
  if (path.length > 0) throw new UsageError(`\`${path.join(' ')}\` needs a second word.`, command.helpInformation());
  if (args.length === 0) throw new UsageError('A command is missing.', program.helpInformation());
}

/** The command that the first words name, and the first word after it that names none. */
function toCommand(program: Command, args: readonly string[]): { command: Command; unknown: string | undefined } {
  let command = program;
  for (const arg of args) {
    if (command.commands.length === 0) break;
    const next = command.commands.find((one) => one.name() === arg);
    if (next === undefined) return { command, unknown: arg };
    command = next;
  }
  return { command, unknown: undefined };
}

/** Puts Commander's message into our words. */
function usageError({ code, message }: CommanderError, command: Command): UsageError {
  const help = command.helpInformation();
  const sentence = message.replace(/^error: /, '').replaceAll(/[<>]/g, '');
  const [, name = ''] = /'([^']+)'/.exec(sentence) ?? [];
  if (code === 'commander.missingArgument') return new UsageError(`Name ${withArticle(name)}.`, help);
  if (code === 'commander.missingMandatoryOptionValue') {
    const [flag = '', value = ''] = name.split(' ');
    return new UsageError(`Name ${withArticle(value)} with ${flag}.`, help);
  }
  if (code === 'commander.excessArguments') {
    const extra = command.args.slice(command.registeredArguments.length).map((arg) => `'${arg}'`);
    return new UsageError(`The command takes no ${extra.join(', ')}.`, help);
  }
  return new UsageError(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`.replace(/\.\.$/, '.'), help);
}

/** `RUN_ID` → `a run id` */
function withArticle(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ');
  return `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
}
