import type { Command } from 'commander';
import { commandWords, getLeaves } from './command.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

interface Completion {
  /** The words before, such as `keys`; empty for the first word. */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

/** Writes the script with which a shell completes commands and options. Everything else completes to files. */
export function completionScript(shell: Shell, program: Command): string {
  const completions = getCompletions(program);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](completions);
}

function getCompletions(program: Command): Completion[] {
  const groups = [program, ...program.commands.filter(({ commands }) => commands.length > 0)];
  const below = groups.map((group) => ({
    path: commandWords(group).join(' '),
    words: group.commands.map((command) => ({ word: command.name(), about: command.summary() })),
  }));
  const leaves = getLeaves(program).map((leaf) => ({
    path: commandWords(leaf).join(' '),
    words: leaf
      .createHelp()
      .visibleOptions(leaf)
      .map(({ long, description }) => ({ word: long ?? '', about: description })),
  }));
  return [...below, ...leaves];
}

/** Single quotes keep everything but themselves. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function bashScript(completions: readonly Completion[]): string {
  const cases = completions.map(
    ({ path, words }) => `    ${quoted(path)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`,
  );
  return `_runwire() {
  local path='' words='' word index
  for ((index = 1; index < COMP_CWORD && index < 3; index++)); do
    word=\${COMP_WORDS[index]}
    [[ $word == [a-z]* ]] || break
    path="\${path:+$path }$word"
  done
  # A first word that has no second one, as in \`runwire run Hello\`.
  case " ${completions.map(({ path }) => path).join('|')}|" in
    *"|$path|"* | *" $path|"*) ;;
    *) path=\${path%% *} ;;
  esac
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _runwire runwire`;
}

function zshScript(completions: readonly Completion[]): string {
  const cases = completions.map(({ path, words }) => {
    const items = words.map(({ word, about }) => quoted(`${word}:${about}`)).join(' ');
    return `    ${quoted(path)}) items=(${items}) ;;`;
  });
  return `#compdef runwire
_runwire() {
  local -a items
  local found=''
  if (( CURRENT > 2 )) && [[ $words[2] == [a-z]* ]]; then
    found=$words[2]
    case $found in
      ${completions
        .filter(({ path }) => path.includes(' '))
        .map(({ path }) => path.split(' ')[0] ?? '')
        .filter((word, index, all) => all.indexOf(word) === index)
        .join('|')})
        (( CURRENT > 3 )) && found="$found $words[3]" ;;
    esac
  fi
  case $found in
${cases.join('\n')}
  esac
  _describe runwire items
  [[ -n $found ]] && _files
}
if [[ $funcstack[1] == _runwire ]]; then _runwire; else compdef _runwire runwire; fi`;
}

function fishScript(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const isOption = word.startsWith('--');
      const condition = `${isOption ? '__runwire_in' : '__runwire_is'} ${path}`.trim();
      const offer = isOption ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c runwire -n ${quoted(condition)} ${offer} -d ${quoted(about)}`;
    }),
  );
  return `function __runwire_words
  string match -v -- '-*' (commandline -opc)[2..-1]
end
function __runwire_is
  set -l given (__runwire_words)
  test "$given" = "$argv"
end
function __runwire_in
  set -l given (__runwire_words)
  string match -q -- "$argv *" "$given "
end
${lines.join('\n')}`;
}
