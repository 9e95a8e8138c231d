import type { Command } from './commands.ts';

/** `keys create [--name NAME]` */
function synopsis({ name, option, argument }: Command): string {
  if (argument !== undefined) return `${name} ${argument}`;
  if (option === undefined) return name;
  const text = `--${option.name} ${option.placeholder}`;
  return `${name} ${option.isRequired ? text : `[${text}]`}`;
}

/** One line for each command. */
export function usage(commands: readonly Command[]): string {
  const rows = [
    ...commands.map((command) => [synopsis(command), command.summary] as const),
    ['<command> --help', 'explain a command'] as const,
    ['--version', 'print the version'] as const,
  ];
  return `Usage:\n${table(rows, '  runwire ')}\nIn a clone of the repository, write \`npm run runwire --\` instead of \`runwire\`.\n`;
}

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { summary, details, option } = command;
  const rows = [
    ...(option === undefined ? [] : [[`--${option.name} ${option.placeholder}`, option.about] as const]),
    ['--help', 'print this text'] as const,
  ];
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  return `Usage: runwire ${synopsis(command)}\n\n${[sentence, ...details].join('\n')}\n\n${table(rows, '  ')}`;
}

function table(rows: readonly (readonly [string, string])[], before: string): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${before}${left.padEnd(width)}   ${right}\n`).join('');
}
