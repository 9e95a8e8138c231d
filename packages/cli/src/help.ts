import type { Command, Help, Option } from 'commander';
import { type CliCommand, COMMON_OPTIONS, commandWords, getLeaves } from './command.ts';

const WIDTH = 80;

/** `keys create [--name NAME]` */
export function synopsis(command: Command): string {
  const own = command.options.filter(({ helpGroupHeading }) => helpGroupHeading !== COMMON_OPTIONS);
  const optional = own.filter(({ mandatory }) => !mandatory);
  return [
    ...commandWords(command),
    ...own.filter(({ mandatory }) => mandatory).map(longForm),
    ...(optional.length === 1 ? optional.map((option) => `[${longForm(option)}]`) : []),
    ...(optional.length > 1 ? ['[options]'] : []),
    ...toArguments(command),
  ].join(' ');
}

const toArguments = (command: Command): string[] =>
  command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`;
    return argument.required ? name : `[${name}]`;
  });

/** `--name NAME`: Commander writes `<NAME>`. */
const shownFlags = ({ flags }: Option) => flags.replaceAll(/[<>]/g, '');

/** The same without the short form. */
const longForm = (option: Option) => shownFlags(option).replace(/^-\w, /, '');

/** The text that `--help` prints. */
export function helpText(command: Command, helper: Help): string {
  return command.commands.length === 0 ? leafHelp(command as CliCommand, helper) : usage(command as CliCommand, helper);
}

/** One line for each command below, under its groups' headings. */
function usage(command: CliCommand, helper: Help): string {
  const leaves = getLeaves(command);
  const term = (leaf: Command) => ['runwire', ...commandWords(leaf), ...toArguments(leaf)].join(' ');
  const more = [
    ['runwire <command> --help', 'explain a command'],
    ['runwire --version', 'print the version'],
  ] as const;
  const width = Math.max(...leaves.map((leaf) => term(leaf).length), ...more.map(([left]) => left.length));
  const lines = ['Usage:'];
  let heading = '';
  for (const leaf of leaves) {
    const group = command.parent === null ? topLevel(leaf).helpGroup() : '';
    if (group !== heading && group !== '') lines.push('', group);
    heading = group;
    lines.push(item(term(leaf), width, leaf.summary(), helper));
  }
  if (command.parent === null) lines.push('');
  lines.push(...more.map(([left, right]) => item(left, width, right, helper)));
  const clone = 'In a clone of the repository, write `bin/runwire` instead of `runwire`.';
  // A group shows one example of each of its commands.
  const examples = command.parent === null ? command.examples : leaves.flatMap((leaf) => leaf.examples.slice(0, 1));
  return `${[...lines, '', ...exampleLines(examples), clone].join('\n')}\n`;
}

const topLevel = (command: Command): Command => (command.parent?.parent == null ? command : topLevel(command.parent));

/** One command's help. */
function leafHelp(command: CliCommand, helper: Help): string {
  const summary = command.summary();
  const sentences = [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...command.details];
  const options = helper.visibleOptions(command);
  const isCommon = (option: Option) => option.helpGroupHeading === COMMON_OPTIONS || option.long === '--help';
  const width = Math.max(...options.map((option) => shownFlags(option).length));
  const list = (found: readonly Option[]) =>
    found.map((option) => item(shownFlags(option), width, option.description, helper));
  const own = list(options.filter((option) => !isCommon(option)));
  return `${[
    `Usage: runwire ${synopsis(command)}`,
    '',
    ...sentences.map((sentence) => helper.boxWrap(sentence, WIDTH)),
    '',
    ...(own.length === 0 ? [] : [...own, '']),
    ...list(options.filter(isCommon)),
    '',
    ...exampleLines(command.examples),
  ]
    .join('\n')
    .trimEnd()}\n`;
}

function exampleLines(examples: readonly string[]): string[] {
  if (examples.length === 0) return [];
  return [examples.length === 1 ? 'Example:' : 'Examples:', ...examples.map((example) => `  ${example}`), ''];
}

function item(left: string, width: number, right: string, helper: Help): string {
  const before = 2 + width + 3;
  const wrapped = helper.boxWrap(right, WIDTH - before).replaceAll('\n', `\n${' '.repeat(before)}`);
  return `  ${left.padEnd(width)}   ${wrapped}`;
}
