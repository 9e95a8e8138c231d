/** The backup or the restore is done, but some images or files are not in it; the output names them. */
const NOT_WHOLE = 3;

type Environment = Readonly<Record<string, string | undefined>>;

export interface CommandOption {
  readonly name: string;
  /** Shown in the help in place of the value. */
  readonly placeholder: string;
  readonly isRequired: boolean;
  readonly about: string;
}

export interface Command {
  /** The words that the user types, such as `keys create`. */
  readonly name: string;
  readonly summary: string;
  /** Further lines of `<command> --help`. */
  readonly details: readonly string[];
  readonly option?: CommandOption;
  /** The name of the only argument in the help, such as `FOLDER`. A command has an option or an argument. */
  readonly argument?: string;
  /** `value` is the value of the option, or the argument. */
  readonly run: (env: Environment, value: string | undefined) => Promise<void>;
}

/** Loads the server when a command needs it: help and usage errors do not wait for it. */
const server = () => import('@runwire/server');

/** What a command works on; the commands get it from the same environment variables as the server. */
const SAME_SETTINGS = 'It finds the installation by the same environment variables as the server.';

export const commands: readonly Command[] = [
  {
    name: 'serve',
    summary: 'start the server',
    details: [
      'It listens on http://127.0.0.1:8787 and keeps its data in the folder .runwire.',
      'Settings are environment variables, such as HOST, PORT, RUNWIRE_DATA_DIR and DATABASE_URL; docs/settings.md lists them all.',
      'SIGTERM and SIGINT stop it: runs may continue for 30 seconds; a second signal ends it immediately.',
    ],
    run: async (env) => (await server()).serve(env),
  },
  {
    name: 'agencies check',
    summary: 'check an agency, or all agencies in a folder, without a server',
    details: [
      'It prints each fault with file, line, column and what to write instead, as GET /v2/agencies does.',
      'Set the same provider keys as for the server: a model without a key is a fault.',
      'Exit code 1: an agency has a fault.',
    ],
    argument: 'FOLDER',
    run: async (env, folder = '') => {
      const { text, isWhole } = await (await server()).checkAgencies(env, folder);
      print(text);
      if (!isWhole) process.exitCode = 1;
    },
  },
  {
    name: 'keys create',
    summary: 'create an API key of the first owner and print it once',
    details: [SAME_SETTINGS, 'The server may be running: it accepts the new key immediately.'],
    option: {
      name: 'name',
      placeholder: 'NAME',
      isRequired: false,
      about: 'the name of the key in GET /v2/api_keys; default: command line',
    },
    run: async (env, name = 'command line') => print(await (await server()).createKey(env, name)),
  },
  {
    name: 'uploads rotate',
    summary: 'sign upload forms with a new secret',
    details: [SAME_SETTINGS, 'Servers may be running. Forms that were signed before stay valid until they expire.'],
    run: async (env) => print(await (await server()).rotateUploads(env)),
  },
  {
    name: 'move',
    summary: 'copy the embedded installation into the PostgreSQL database of DATABASE_URL',
    details: [
      'It reads the folder of RUNWIRE_DATA_DIR, default .runwire. Stop its server first.',
      'docs/move-to-postgres.md has the steps.',
    ],
    run: async (env) => print(await (await server()).migrateToPostgres(env)),
  },
  {
    name: 'backup',
    summary: 'take a backup',
    details: [
      SAME_SETTINGS,
      'Servers may be running.',
      `Exit code ${NOT_WHOLE}: the backup is usable, but images or files are missing from it; the output names them.`,
    ],
    option: { name: 'to', placeholder: 'FOLDER', isRequired: true, about: 'an empty or new folder' },
    run: async (env, to = '') => {
      const { text, isWhole } = await (await server()).backup(env, to);
      print(text, isWhole);
    },
  },
  {
    name: 'restore',
    summary: 'restore a backup into an empty data folder or database',
    details: [
      'The target is named by the same environment variables as for the server.',
      `Exit code ${NOT_WHOLE}: everything else is restored, but files could not be written; the output names them.`,
    ],
    option: { name: 'from', placeholder: 'FOLDER', isRequired: true, about: 'the folder of the backup' },
    run: async (env, from = '') => {
      const { text, isWhole } = await (await server()).restore(env, from);
      print(text, isWhole);
    },
  },
];

function print(text: string, isWhole = true): void {
  process.stdout.write(`${text}\n`);
  if (!isWhole) process.exitCode = NOT_WHOLE;
}
