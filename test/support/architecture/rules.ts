/** The architecture rules as data: which folder and which package may import which other. */

export const serverRoot = 'packages/server/src/';

/** Name of a package in an import → its entry file. */
export const packageEntries: Readonly<Record<string, string>> = {
  '@runwire/contract': 'packages/contract/src/index.ts',
  '@runwire/contract/routes': 'packages/contract/src/routes.gen.ts',
  '@runwire/contract/schemas': 'packages/contract/src/schemas/index.ts',
  '@runwire/agency': 'packages/agency/src/index.ts',
  '@runwire/documents': 'packages/documents/src/index.ts',
  '@runwire/guarded-fetch': 'packages/guarded-fetch/src/index.ts',
  '@runwire/guarded-fetch/url-rules': 'packages/guarded-fetch/src/url-rules/index.ts',
  '@runwire/models': 'packages/models/src/index.ts',
  '@runwire/models/ai-sdk': 'packages/models/src/ai-sdk.ts',
  '@runwire/models/offline-model': 'packages/models/src/offline-model.ts',
  '@runwire/models/provider-models': 'packages/models/src/provider-models.ts',
  '@runwire/sandbox': 'packages/sandbox/src/index.ts',
  '@runwire/mcp-sessions': 'packages/mcp-sessions/src/index.ts',
  '@runwire/client': 'packages/client/src/index.ts',
  '@runwire/server': 'packages/server/src/index.ts',
  '@runwire/server/testing': 'packages/server/src/testing/index.ts',
  '@runwire/cli/init': 'packages/cli/src/create-runwire.ts',
  '@runwire/test-kit': 'packages/test-kit/src/index.ts',
};

/** Prefix of an import → the folder that the rest of it is in. The test kit reaches into packages by `src`. */
export const packageFolders: Readonly<Record<string, string>> = {
  '@runwire/lib/': 'packages/lib/src/',
  '@runwire/guarded-fetch/src/': 'packages/guarded-fetch/src/',
  '@runwire/mcp-sessions/src/': 'packages/mcp-sessions/src/',
  '@runwire/models/src/': 'packages/models/src/',
  '@runwire/sandbox/src/': 'packages/sandbox/src/',
  '@runwire/server/src/': 'packages/server/src/',
  '@runwire/test-kit/': 'packages/test-kit/src/',
};

/** In all patterns, `*` stands for a part of one name, and `**` for any path. */
const base = ['domain', 'telemetry'];
const everything = ['**'];

const enginePort = ['engine/port.ts'];
const agentPorts = [
  'agent/ports.ts',
  'agent/files-port.ts',
  'agent/mcp-port.ts',
  'agent/workspace-port.ts',
  'agent/publication.ts',
];

/**
 * Folder or file directly under the server's source → the other folders and files that it may import. A folder that is
 * not listed here must not exist.
 */
export const serverImports: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['compose', 'config', ...base],
  'index.ts': everything,
  compose: everything,
  commands: ['compose', 'config', 'accounts', 'agencies', 'files', 'storage', 'store', ...base],
  testing: everything,
  config: ['domain'],
  http: [
    'admission',
    'audit',
    'runs',
    'chats',
    'accounts',
    'agencies',
    'files',
    'attachments',
    'erasure',
    'schedules',
    'nodes',
    'eventlog',
    'webhooks',
    ...base,
  ],
  admission: [
    ...enginePort,
    'audit',
    'runs',
    'chats',
    'accounts',
    'agencies',
    'files',
    'attachments',
    'eventlog',
    'store',
    ...base,
  ],
  engine: [
    'agent',
    'agencies',
    'runs',
    'chats',
    'files',
    'attachments',
    'nodes',
    'eventlog',
    'webhooks',
    'store',
    ...base,
  ],
  nodes: ['store', ...base],
  runs: ['chats', 'accounts', 'eventlog', 'search', 'webhooks', 'store', ...base],
  accounts: ['agencies', 'audit', 'webhooks', 'store', ...base],
  audit: ['store', ...base],
  webhooks: ['audit', 'store', ...base],
  // The process of an agency reports progress, and a call that outlives its time ends it.
  agencies: [...agentPorts, 'agent/call-limit.ts', 'agent/call-state.ts', 'agent/tool-progress.ts', ...base],
  chats: ['audit', 'search', 'store', ...base],
  attachments: ['files', 'storage/*.ts', 'store', ...base],
  files: ['audit', 'storage', 'webhooks', 'store', ...base],
  search: ['store', ...base],
  storage: base,
  workspace: [...agentPorts, 'files', ...base],
  mcp: [...agentPorts, ...base],
  erasure: ['accounts', 'audit', 'runs', 'chats', 'attachments', 'files', 'search', 'store', ...base],
  schedules: ['admission', 'audit', 'store', ...base],
  agent: base,
  eventlog: ['store', ...base],
  store: base,
  domain: [],
  telemetry: [],
};

/**
 * Package beside the server, or one of its entries → the folders and files of the server that may import it. Every part may
 * import `packages/lib`.
 */
export const serverMayImport: Readonly<Record<string, readonly string[]>> = {
  '@runwire/contract': ['domain', 'agencies', 'http', 'main.ts', 'compose', 'commands', 'index.ts', 'testing'],
  '@runwire/agency': ['agencies', 'agent', 'main.ts', 'compose', 'commands', 'index.ts', 'testing'],
  '@runwire/documents': ['http', 'attachments', 'workspace', 'compose'],
  '@runwire/guarded-fetch': ['attachments', 'webhooks', 'compose'],
  '@runwire/guarded-fetch/url-rules': ['config', 'domain', 'http', 'webhooks', 'compose'],
  '@runwire/models': [
    'domain',
    'config',
    'agencies',
    'agent',
    'engine',
    'attachments',
    'chats',
    'admission',
    'compose',
    'testing',
  ],
  '@runwire/models/ai-sdk': ['compose'],
  '@runwire/models/offline-model': ['compose'],
  '@runwire/models/provider-models': ['compose'],
  '@runwire/sandbox': ['agent', 'workspace', 'compose'],
  '@runwire/mcp-sessions': ['agent', 'agencies', 'mcp', 'compose'],
};

/** Adapters: imported only by `compose/`, `commands/`, the test kit and their own folder, tests included. */
export const adapters = [
  'store/sqlite/**',
  'store/postgres/**',
  'storage/disk/**',
  'storage/s3/**',
  'files/disk/**',
  'files/s3/**',
];
export const adapterUsers = ['compose/**', 'commands/**', 'files/disk/**', 'files/s3/**'];

export interface PackageRule {
  /** This repository's packages, by their import names. */
  readonly own: readonly string[];
  /** Own packages that are loaded when first needed: by `import()`, or for their types alone. */
  readonly lazily?: readonly string[];
  /** True if modules of Node and third parties may be imported. A list names the allowed modules. */
  readonly others: boolean | readonly string[];
  /** Modules from which only types may be imported. */
  readonly types?: readonly string[];
}

/** Path prefix → what the files below it may import; the longest prefix counts. Tests are free. */
export const packageRules: Readonly<Record<string, PackageRule>> = {
  'packages/contract/src/': { own: [], others: false },
  'packages/contract/src/schemas/': { own: [], others: false, types: ['typebox'] },
  'packages/agency/src/': { own: [], others: false },
  'packages/documents/src/': { own: ['@runwire/lib/**'], others: true },
  'packages/lib/src/': { own: [], others: true },
  'packages/guarded-fetch/src/': { own: ['@runwire/lib/**'], others: ['node:**'] },
  // The guarded fetcher is passed to it: it knows only its type.
  'packages/mcp-sessions/src/': {
    own: ['@runwire/lib/**'],
    lazily: ['@runwire/guarded-fetch'],
    others: ['node:**', '@modelcontextprotocol/**'],
  },
  'packages/sandbox/src/': { own: ['@runwire/lib/**'], others: ['node:**', 'just-bash'] },
  'packages/models/src/': { own: ['@runwire/agency', '@runwire/lib/**'], others: ['node:**', 'undici'] },
  'packages/client/src/': { own: ['@runwire/contract', '@runwire/contract/routes'], others: false },
  'packages/server/src/': {
    own: [
      '@runwire/contract',
      '@runwire/contract/schemas',
      '@runwire/agency',
      '@runwire/documents',
      '@runwire/guarded-fetch',
      '@runwire/guarded-fetch/url-rules',
      '@runwire/lib/**',
      '@runwire/mcp-sessions',
      '@runwire/models',
      '@runwire/models/ai-sdk',
      '@runwire/models/offline-model',
      '@runwire/models/provider-models',
      '@runwire/sandbox',
    ],
    others: true,
  },
  // It is built into files for browsers. Only the public API connects it with the server. It checks values as the server does.
  'packages/console/src/': {
    own: ['@runwire/client', '@runwire/lib/linear-check.ts'],
    others: ['react', 'react-dom', '@tanstack/**', 'radix-ui', 'uplot', 'marked', 'highlight.js/**'],
  },
  'packages/cli/src/': { own: [], lazily: ['@runwire/server', '@runwire/client'], others: true },
  'packages/create-runwire/src/': { own: ['@runwire/cli/init'], others: false },
  'packages/test-kit/src/': { own: ['@runwire/**'], others: true },
};

/** Within one package, a part that another part must not reach by a relative path. */
export const closedParts = [{ from: 'packages/contract/src/', except: 'packages/contract/src/schemas/' }];

/** An agency's process has no settings; it watches what people's code reads. */
export const environmentReaders = [
  'packages/server/src/config/**',
  'packages/server/src/agencies/process/withheld-variables.ts',
  'packages/test-kit/src/**',
  'packages/cli/src/main.ts',
];

/** The files that may import the test kit and the server's `testing/`. */
export const testingUsers = [
  'packages/test-kit/src/**',
  'packages/server/src/testing/**',
  'test/**',
  'proofs/**',
  'bench/**',
  'scripts/check-full.ts',
  '**.test.ts',
];

export const packageEntryFiles = [...new Set(Object.values(packageEntries))];

/** Module → the only files of the server that may import it. */
export const databaseModules: Readonly<Record<string, readonly string[]>> = {
  kysely: ['store/**', 'compose/**'],
  pg: ['store/**', 'compose/**'],
  'node:sqlite': ['store/**', 'compose/**'],
};

/** The packages whose requests are checked. Patterns for the server are relative to its source. */
export const packagesWithRequests = ['server', 'lib', 'guarded-fetch', 'models', 'sandbox', 'mcp-sessions'];

/**
 * Outgoing requests: the guarded fetcher for what callers name, and the adapters of models, S3, MCP and the exporter of traces for
 * what the operator set.
 */
export const outgoingUsers = [
  'packages/guarded-fetch/src/**',
  'packages/models/src/**',
  'storage/s3/**',
  'files/s3/**',
  'packages/mcp-sessions/src/**',
  'telemetry/open-tracing.ts',
  'testing/**',
  '**.test.ts',
];
export const clientModules = [
  'undici',
  '@aws-sdk/**',
  '@smithy/**',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/client/**',
  '@opentelemetry/exporter-*',
  'node:dns',
  'node:dns/promises',
  'node:dgram',
];
export const socketModules = ['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls'];
/** `http/` only listens. The sandbox and the process of an agency read a pipe by the class that reads sockets. The store's connection to PostgreSQL uses a socket that combines writes. */
export const socketUsers = [
  ...outgoingUsers,
  'http/**',
  'store/postgres/gathering-socket.ts',
  'packages/sandbox/src/bubblewrap/output-pipe.ts',
  'agencies/process/serve-code.ts',
];

export const maxLines = 500;
export const aimedLines = 250;
