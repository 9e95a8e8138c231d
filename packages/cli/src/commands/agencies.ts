import type { CliCommand, Context } from '../command.ts';
import { wholeNumber } from '../command.ts';
import { type ConnectionOptions, connect } from '../connection.ts';
import { EXIT } from '../exit-codes.ts';
import { type ListOptions, print, printJson, printList } from '../output.ts';

export function addAgencyCommands(program: CliCommand, { env }: Context): void {
  const agencies = program.command('agencies').explain({ summary: 'check agencies, and list those of a server' });
  agencies
    .command('check')
    .explain({
      summary: 'check an agency, or all agencies in a folder, without a server',
      details: [
        'It prints each fault with file, line, column and what to write instead, as GET /v2/agencies does.',
        'Set the same provider keys as for the server: a model without a key is a fault.',
        `Exit code ${EXIT.failed}: an agency has a fault.`,
      ],
      examples: ['runwire agencies check agencies', 'runwire agencies check agencies/support'],
    })
    .argument('FOLDER')
    .printsJson('print {"report", "complete"} as JSON')
    .action(async (folder: string, { json }: { json?: true }) => {
      const { checkAgencies } = await import('@runwire/server');
      const { text, isWhole } = await checkAgencies(env, folder);
      if (json) printJson({ report: text, complete: isWhole });
      else print(text);
      if (!isWhole) process.exitCode = EXIT.failed;
    });
  agencies
    .command('list')
    .explain({
      summary: 'list the agencies of a server',
      details: ['The last column has the first fault of an agency whose files are broken.'],
      examples: ['runwire agencies list'],
    })
    .option('--limit <N>', 'the largest number of agencies; default: 50', wholeNumber, 50)
    .printsJson('print the agencies as a JSON array, as GET /v2/agencies does')
    .asksServer()
    .action(async (options: ListOptions & ConnectionOptions) => {
      const client = await connect(env, options);
      await printList(client.agencies.list(), options, [
        { title: 'agency', value: ({ agency }) => agency },
        { title: 'agents', value: ({ agents }) => agents.map(({ name }) => name).join(', '), canShrink: true },
        { title: 'source', value: ({ source }) => source },
        { title: 'fault', value: ({ error }) => error?.message, canShrink: true },
      ]);
    });
}
