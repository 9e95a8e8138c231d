import type { CliCommand } from '../command.ts';
import { note, print, printJson } from '../output.ts';

interface InitOptions {
  readonly agency: string;
  readonly json?: true;
}

export function addInitCommand(program: CliCommand, version: string): void {
  program
    .command('init')
    .explain({
      summary: 'make a project: an agency, settings and a README',
      details: [
        'Files that exist are never changed: if one is in the way, nothing is written.',
        'It prints the commands that install and start the project; the README of the project has the rest.',
      ],
      examples: ['runwire init shop', 'runwire init shop --agency shop'],
    })
    .argument('[FOLDER]')
    .option('--agency <NAME>', 'the name of the agency and of its integration; default: helper', 'helper')
    .printsJson('print {"folder", "files", "nextSteps"} as JSON')
    .action(async (folder: string | undefined, { agency, json }: InitOptions) => {
      const { createProject } = await import('../init/create-project.ts');
      const project = createProject(folder ?? '.', { agency, version });
      if (json) return printJson(project);
      for (const file of project.files) print(file);
      note(`\nThe project is in ${project.folder}. Install and start it, then continue with its README.md:\n`);
      note(project.nextSteps.map((line) => `  ${line}`).join('\n'));
    });
}
