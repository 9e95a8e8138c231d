import { Argument } from 'commander';
import type { CliCommand } from '../command.ts';
import { completionScript, SHELLS, type Shell } from '../completion-scripts.ts';
import { print } from '../output.ts';

export function addCompletionCommand(program: CliCommand): void {
  program
    .command('completion')
    .explain({
      summary: 'print the completions of a shell: bash, zsh or fish',
      details: ['Load them when the shell starts; the examples show how.'],
      examples: [
        "echo 'source <(runwire completion bash)' >> ~/.bashrc",
        "echo 'source <(runwire completion zsh)' >> ~/.zshrc",
        'runwire completion fish > ~/.config/fish/completions/runwire.fish',
      ],
    })
    .addArgument(new Argument('SHELL').choices(SHELLS))
    .action((shell: Shell) => print(completionScript(shell, program)));
}
