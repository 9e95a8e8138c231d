import type { CliCommand, Context } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { print, printJson } from '../output.ts';

/** Loads the server when a command needs it: help and usage errors do not wait for it. */
const server = () => import('@runwire/server');

/** What a command works on; the commands get it from the same environment variables as the server. */
const SAME_SETTINGS = 'It finds the installation by the same environment variables as the server.';
const JSON_REPORT = 'print {"report", "complete"} as JSON';

interface ReportOptions {
  readonly json?: true;
}

/** The commands on an installation, without a server or beside its servers. */
export function addInstallationCommands(program: CliCommand, { env }: Context): void {
  program
    .command('backup')
    .explain({
      summary: 'take a backup',
      details: [
        SAME_SETTINGS,
        'Servers may be running.',
        `Exit code ${EXIT.incomplete}: the backup is usable, but images or files are missing from it; the output names them.`,
      ],
      examples: ['runwire backup --to backups/monday'],
    })
    .requiredOption('--to <FOLDER>', 'an empty or new folder')
    .printsJson(JSON_REPORT)
    .action(async ({ to, ...options }: ReportOptions & { to: string }) => {
      const { text, isWhole } = await (await server()).backup(env, to);
      printReport(text, isWhole, options);
    });
  program
    .command('restore')
    .explain({
      summary: 'restore a backup into an empty data folder or database',
      details: [
        'The target is named by the same environment variables as for the server.',
        `Exit code ${EXIT.incomplete}: everything else is restored, but files could not be written; the output names them.`,
      ],
      examples: ['RUNWIRE_DATA_DIR=restored runwire restore --from backups/monday'],
    })
    .requiredOption('--from <FOLDER>', 'the folder of the backup')
    .printsJson(JSON_REPORT)
    .action(async ({ from, ...options }: ReportOptions & { from: string }) => {
      const { text, isWhole } = await (await server()).restore(env, from);
      printReport(text, isWhole, options);
    });
  program
    .command('move')
    .explain({
      summary: 'copy the embedded installation into the PostgreSQL database of DATABASE_URL',
      details: [
        'It reads the folder of RUNWIRE_DATA_DIR, default .runwire. Stop its server first.',
        'docs/move-to-postgres.md has the steps.',
      ],
      examples: ['DATABASE_URL=postgres://user:secret@db/agents runwire move'],
    })
    .printsJson(JSON_REPORT)
    .action(async (options: ReportOptions) =>
      printReport(await (await server()).migrateToPostgres(env), true, options),
    );
  program
    .command('uploads')
    .explain({ summary: 'the secret that signs upload forms' })
    .command('rotate')
    .explain({
      summary: 'sign upload forms with a new secret',
      details: [SAME_SETTINGS, 'Servers may be running. Forms that were signed before stay valid until they expire.'],
      examples: ['runwire uploads rotate'],
    })
    .printsJson(JSON_REPORT)
    .action(async (options: ReportOptions) => printReport(await (await server()).rotateUploads(env), true, options));
}

function printReport(report: string, isComplete: boolean, { json }: ReportOptions): void {
  if (json) printJson({ report, complete: isComplete });
  else print(report);
  if (!isComplete) process.exitCode = EXIT.incomplete;
}
