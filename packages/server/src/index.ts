import * as backups from './commands/backup.ts';
import * as agencyChecks from './commands/check-agencies.ts';
import * as keys from './commands/create-key.ts';
import * as links from './commands/create-set-up-link.ts';
import * as doctor from './commands/diagnose.ts';
import * as migration from './commands/migrate.ts';
import * as restores from './commands/restore.ts';
import * as uploads from './commands/rotate-upload-secret.ts';
import * as main from './main.ts';

/* Written out, so that the published declarations do not name the server's inner types. */

type Environment = Readonly<Record<string, string | undefined>>;

interface Report {
  readonly text: string;
  /** False if `text` names something that is missing. */
  readonly isWhole: boolean;
}

interface CheckResult {
  readonly check: 'settings' | 'store' | 'files' | 'providers' | 'model' | 'sandbox' | 'agencies' | 'mcp';
  /** What was checked, for people. */
  readonly about: string;
  /** What is wrong and what to do, in one sentence. Null if nothing is wrong. */
  readonly finding: string | null;
}

/** Checks what a server with these settings would use. It asks the model one short question. */
export const diagnose: (env: Environment) => Promise<CheckResult[]> = doctor.diagnose;

interface StartOutput {
  /** True: the start prints one line of JSON. */
  readonly isJson?: boolean;
  /** The file with the line `RUNWIRE_API_KEY=…`, from which the printed `curl` reads the key. */
  readonly keyFile?: string | undefined;
}

/** Starts the server. Resolves when a signal has ended it. */
export const serve = (env: Environment, output?: StartOutput): Promise<void> => main.serve(env, undefined, output);

/* The commands resolve to the text for the person who runs them. */
export const checkAgencies: (env: Environment, folder: string) => Promise<Report> = agencyChecks.checkAgencies;
export const createKey: (env: Environment, name: string) => Promise<string> = keys.createKey;
export const createOwnerLink: (env: Environment, email: string | null) => Promise<string> = links.createOwnerLink;
export const rotateUploads: (env: Environment) => Promise<string> = uploads.rotateUploads;
export const migrateToPostgres: (env: Environment) => Promise<string> = migration.migrateToPostgres;
export const backup: (env: Environment, to: string) => Promise<Report> = backups.backup;
export const restore: (env: Environment, from: string) => Promise<Report> = restores.restore;
