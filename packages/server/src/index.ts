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

/** A file of evals. The shape of its cases is that of `/evals.schema.json`, with `repeat`, `atLeast` and `recorded` filled in. */
interface EvalFile {
  readonly agency: string;
  /** The path from the agency's folder. */
  readonly file: string;
  readonly name: string;
  readonly cases: readonly object[];
}

interface FoundEvals {
  readonly suites: readonly EvalFile[];
  /** One line each, with file, line and column. */
  readonly faults: readonly string[];
  /** The folder that contains the agencies. Null for the demo agency. */
  readonly agenciesDir: string | null;
}

interface EvalsOptions {
  /** An agency of `RUNWIRE_AGENCIES_DIR`, or the path of a folder. Null: all of `RUNWIRE_AGENCIES_DIR`. */
  readonly folder: string | null;
  /** False if the agencies run on another server: here their models may have no keys. */
  readonly loadsAgencies: boolean;
}

interface EvalServer extends AsyncDisposable {
  readonly url: string;
  readonly apiKey: string;
  readonly integration: string;
}

/** Reads and checks the evals of agencies. */
export const findEvals: (env: Environment, options: EvalsOptions) => Promise<FoundEvals> = async (env, options) =>
  (await import('./commands/find-evals.ts')).findEvals(env, options);

/** Starts a server for evals in this process, with temporary data. */
export const startEvalServer: (env: Environment) => Promise<EvalServer> = async (env) =>
  (await import('./commands/eval-server.ts')).startEvalServer(env);

type JsonSchema = Readonly<Record<string, unknown>>;

/** Resolves to a function that returns why a schema refuses a value, or null. */
export const loadSchemaCheck: () => Promise<(schema: JsonSchema, value: unknown) => string | null> = async () => {
  const { compileJsonSchema } = await import('@runwire/lib/json-schema.ts');
  return (schema, value) => {
    const checked = compileJsonSchema(schema)(value);
    return 'problem' in checked ? checked.problem : null;
  };
};

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
