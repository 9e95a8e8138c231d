/** The rules of the house as data: which folder and which package may know which other. */

export const serverRoot = 'packages/server/src/';

/** What a package's name in an import stands for. */
export const packageEntries: Readonly<Record<string, string>> = {
  '@runwire/contract': 'packages/contract/src/index.ts',
  '@runwire/contract/schemas': 'packages/contract/src/schemas/index.ts',
  '@runwire/agency': 'packages/agency/src/index.ts',
  '@runwire/server': 'packages/server/src/index.ts',
  '@runwire/server/testing': 'packages/server/src/testing/index.ts',
  '@runwire/client': 'packages/client/src/index.ts',
};

const base = ['domain', 'telemetry', 'lib'];
const everything = ['**'];

/** `*` stands for a part of one name, `**` for any path. */
const enginePort = ['engine/port.ts', 'engine/*-port.ts', 'engine/run-engine.ts'];
const agentPorts = ['agent/port.ts', 'agent/ports.ts', 'agent/*-port.ts', 'agent/ports/*.ts', 'agent/types.ts'];

/**
 * Folder (or file) directly under the server's source → the folders and files that it may import besides itself.
 * What is not listed here may not exist there.
 */
export const serverImports: Readonly<Record<string, readonly string[]>> = {
  'main.ts': everything,
  'compose.ts': everything,
  'running-server.ts': [],
  'compose-files.ts': everything,
  'compose-attachments.ts': everything,
  'compose-store.ts': everything,
  'compose-secrets.ts': everything,
  'compose-earlier.ts': everything,
  'compose-places.ts': everything,
  'compose-move.ts': everything,
  'compose-backup.ts': everything,
  'compose-restore.ts': everything,
  'compose-waiting.ts': everything,
  'index.ts': everything,
  config: ['domain', 'lib'],
  http: ['admission', 'runs', 'chats', 'accounts', 'agencies', 'files', 'eventlog', 'webhooks', ...base],
  admission: [...enginePort, 'runs', 'chats', 'accounts', 'agencies', 'files', 'eventlog', 'store', ...base],
  engine: ['agent', 'agencies', 'runs', 'chats', 'files', 'eventlog', 'store', ...base],
  runs: ['chats', 'accounts', 'eventlog', 'webhooks', 'store', ...base],
  accounts: ['agencies', 'webhooks', 'store', ...base],
  agencies: [...agentPorts, ...base],
  chats: ['store', ...base],
  files: ['webhooks', 'store', ...base],
  sandbox: [...agentPorts, 'files', ...base],
  agent: base,
  eventlog: ['store', ...base],
  webhooks: ['store', ...base],
  store: base,
  domain: ['lib'],
  telemetry: ['lib'],
  lib: [],
  testing: everything,
};

/** The folders and files of the server that may import a package beside it. */
export const serverMayImportPackage: Readonly<Record<string, readonly string[]>> = {
  contract: ['domain', 'http', 'testing', 'main.ts', 'compose.ts', 'index.ts'],
  agency: ['agencies', 'agent', 'testing', 'main.ts', 'compose.ts', 'index.ts'],
};

/** Adapters: known to the composition root, to `testing/` and to their own folder, tests included. */
export const adapters = [
  'store/sqlite/**',
  'store/postgres/**',
  'agent/models/**',
  'files/disk/**',
  'files/s3/**',
  'sandbox/*/**',
];
export const adapterUsers = [
  'compose.ts',
  'compose-files.ts',
  'compose-store.ts',
  'compose-move.ts',
  'compose-backup.ts',
  'compose-restore.ts',
  'testing/**',
];

export interface PackageRule {
  /** Packages of this repository, by their import names. */
  readonly own: readonly string[];
  /** Own packages that are loaded when first needed: by `import()`, or for their types alone. */
  readonly lazily?: readonly string[];
  /** Whether modules of Node and of others may be imported; a list names the only ones. */
  readonly others: boolean | readonly string[];
  /** Those that may be imported for their types alone. */
  readonly types?: readonly string[];
}

/** Path prefix → what the files below it may import; the longest prefix counts. Tests are free. */
export const packageRules: Readonly<Record<string, PackageRule>> = {
  'packages/contract/src/': { own: [], others: false },
  'packages/contract/src/schemas/': { own: [], others: false, types: ['typebox'] },
  'packages/agency/src/': { own: [], others: false },
  'packages/server/src/': { own: ['@runwire/contract', '@runwire/contract/schemas', '@runwire/agency'], others: true },
  'packages/client/src/': { own: ['@runwire/contract'], others: false },
  'packages/cli/src/': { own: ['@runwire/client'], lazily: ['@runwire/server'], others: true },
  'packages/console/src/': { own: ['@runwire/client'], others: true },
};

/** Within one package, a part that another part must not reach by a relative path. */
export const closedParts = [{ from: 'packages/contract/src/', except: 'packages/contract/src/schemas/' }];

export const environmentReaders = [
  'packages/server/src/config/**',
  'packages/server/src/testing/**',
  'packages/cli/src/main.ts',
];

export const testingUsers = ['packages/server/src/testing/**', 'test/**', 'proofs/**', 'bench/**', '**.test.ts'];

export const packageEntryFiles = [...new Set(Object.values(packageEntries))];

/** Module → the only files of the server that may import it. */
export const databaseModules: Readonly<Record<string, readonly string[]>> = {
  kysely: ['store/**', 'compose.ts'],
  pg: ['store/**', 'compose.ts', 'testing/**'],
  'node:sqlite': ['store/**', 'compose.ts', 'testing/**'],
};

/** Outgoing requests: the guarded fetcher for what callers name, and the adapters of models and of S3 for what the operator set. */
export const outgoingUsers = ['agent/models/**', 'lib/guarded-fetch/**', 'files/s3/**', 'testing/**', '**.test.ts'];
export const clientModules = ['undici', '@aws-sdk/**', '@smithy/**', 'node:dns', 'node:dns/promises', 'node:dgram'];
export const socketModules = ['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls'];
/** `http/` has the listening half alone; the store's connection to PostgreSQL stands on a socket that gathers writes. */
export const socketUsers = [...outgoingUsers, 'http/**', 'lib/gathering-socket.ts'];

export const maxLines = 500;
export const aimedLines = 250;
