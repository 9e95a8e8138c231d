import { Command, InvalidArgumentError, Option } from 'commander';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command gets beside its arguments and options. */
export interface Context {
  readonly env: Environment;
}

export interface Explanation {
  /** One line of the list of commands; begins in lower case, without a full stop. */
  readonly summary: string;
  /** Further sentences of `<command> --help`. */
  readonly details?: readonly string[];
  /** Whole command lines. */
  readonly examples?: readonly string[];
}

/** The heading of options that many commands have. They are not part of the usage line. */
export const COMMON_OPTIONS = 'Common options:';

/** A command with its help's texts. */
export class CliCommand extends Command {
  details: readonly string[] = [];
  examples: readonly string[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  explain({ summary, details = [], examples = [] }: Explanation): this {
    this.details = details;
    this.examples = examples;
    return this.summary(summary);
  }

  /** Adds `--json`. Without it the command prints text for people. */
  printsJson(about: string): this {
    return this.addOption(new Option('--json', about).helpGroup(COMMON_OPTIONS));
  }

  /** Adds the options of commands that ask a server. */
  asksServer(): this {
    const url = new Option('--url <URL>', 'the address of the server; default: RUNWIRE_URL, or http://127.0.0.1:8787');
    return this.addOption(url.helpGroup(COMMON_OPTIONS));
  }

  /** Adds the options of commands that ask a server about one integration. */
  asksIntegration(): this {
    const about = 'the integration; default: RUNWIRE_INTEGRATION, or the only one';
    return this.addOption(new Option('-i, --integration <ID>', about).helpGroup(COMMON_OPTIONS)).asksServer();
  }
}

/** The words that the user types, such as `keys create`. */
export function commandWords(command: Command): string[] {
  return command.parent === null ? [] : [...commandWords(command.parent), command.name()];
}

/** The command and all below it that do something. */
export function getLeaves(command: Command): CliCommand[] {
  return command.commands.length === 0 ? [command as CliCommand] : command.commands.flatMap(getLeaves);
}

/** Reads an option that is a number. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Write a whole number.');
  return Number(text);
}

/** Gathers the values of an option that may be repeated. */
export const repeated = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];
