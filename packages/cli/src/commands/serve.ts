import type { CliCommand, Context } from '../command.ts';

export function addServeCommand(program: CliCommand, { env }: Context): void {
  program
    .command('serve')
    .explain({
      summary: 'start the server',
      details: [
        'It listens on http://127.0.0.1:8787 and keeps its data in the folder .runwire.',
        'Settings are environment variables, such as HOST, PORT, RUNWIRE_DATA_DIR and DATABASE_URL; docs/settings.md lists them all. A file runwire.env in the current folder may set them too.',
        'SIGTERM and SIGINT stop it: runs may continue for 30 seconds; a second signal ends it immediately.',
        'The log is JSON lines on standard error.',
      ],
      examples: ['runwire serve', 'PORT=9000 RUNWIRE_DATA_DIR=data runwire serve'],
    })
    .printsJson('print one line of JSON when it listens: version, url, dataDir, a new apiKey')
    .action(async ({ json }: { readonly json?: true }) => {
      const { serve } = await import('@runwire/server');
      await serve(env, { isJson: json === true });
    });
}
