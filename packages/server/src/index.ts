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
export const diagnose: (env: Environment) => Promise<CheckResult[]> = async (env) =>
  (await import('./commands/diagnose.ts')).diagnose(env);

interface StartOutput {
  /** True: the start prints one line of JSON. */
  readonly isJson?: boolean;
  /** The file with the line `RUNWIRE_API_KEY=…`, from which the printed `curl` reads the key. */
  readonly keyFile?: string | undefined;
}

/** Starts the server. Resolves when a signal has ended it. */
export const serve = (env: Environment, output?: StartOutput): Promise<void> => main.serve(env, undefined, output);

/* The commands resolve to the text for the person who runs them. A start of the server loads none of them. */
export const checkAgencies: (env: Environment, folder: string) => Promise<Report> = async (env, folder) =>
  (await import('./commands/check-agencies.ts')).checkAgencies(env, folder);
export const createKey: (env: Environment, name: string) => Promise<string> = async (env, name) =>
  (await import('./commands/create-key.ts')).createKey(env, name);
export const createOwnerLink: (env: Environment, email: string | null) => Promise<string> = async (env, email) =>
  (await import('./commands/create-set-up-link.ts')).createOwnerLink(env, email);
export const rotateUploads: (env: Environment) => Promise<string> = async (env) =>
  (await import('./commands/rotate-upload-secret.ts')).rotateUploads(env);
export const migrateToPostgres: (env: Environment) => Promise<string> = async (env) =>
  (await import('./commands/migrate.ts')).migrateToPostgres(env);
export const backup: (env: Environment, to: string) => Promise<Report> = async (env, to) =>
  (await import('./commands/backup.ts')).backup(env, to);
export const restore: (env: Environment, from: string) => Promise<Report> = async (env, from) =>
  (await import('./commands/restore.ts')).restore(env, from);
