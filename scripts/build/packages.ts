/** A package that is published: `dist/` of its folder is what is packed. */
export interface PublishedPackage {
  /** Its folder below `packages/`. */
  readonly folder: string;
  readonly description: string;
  /** File of `dist/`, without extension → its source. */
  readonly files: Readonly<Record<string, string>>;
  /** Import path → file of `dist/`. Files that are not here are threads and processes of their own. */
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  /** Packages of this repository that it imports by name. All other code is part of the bundle. */
  readonly needs: readonly string[];
  /** True if it also runs in browsers: it imports nothing of Node. */
  readonly isPortable?: boolean;
  /** The oldest Node that can load it; by default the Node that the server needs. */
  readonly loadsOn?: string;
  /** Folder of the repository → folder of `dist/` that it is copied to. */
  readonly copies?: Readonly<Record<string, string>>;
  /** Packages of others whose types its declarations name. */
  readonly types?: readonly string[];
}

/** The server looks for its threads and processes beside the file that starts them. */
const serverThreads = (source: string) => ({
  'heartbeat-thread': `${source}store/postgres/heartbeat-thread.ts`,
  'checkpoint-worker': `${source}store/sqlite/checkpoint-worker.ts`,
  'strict-json-thread': `${source}http/body/strict-json-thread.ts`,
  'agency-child': `${source}agencies/agency-child.ts`,
  'bash-child': `${source}../../sandbox/src/just-bash/bash-child.ts`,
});

/** The server looks for the console's pages beside its code. */
const serverCopies = { 'packages/console/built': 'console' };

export const publishedPackages: readonly PublishedPackage[] = [
  {
    folder: 'contract',
    description: "What crosses Runwire's wire: types, error table, event names, and a JSON Schema for every operation.",
    files: { index: 'index.ts', 'routes.gen': 'routes.gen.ts', 'schemas/index': 'schemas/index.ts' },
    exports: { '.': 'index', './routes': 'routes.gen', './schemas': 'schemas/index' },
    needs: [],
    isPortable: true,
    types: ['typebox'],
  },
  {
    folder: 'agency',
    description: 'defineAgency, defineAgent and defineTool for agencies that Runwire runs.',
    files: { index: 'index.ts' },
    exports: { '.': 'index' },
    needs: [],
    isPortable: true,
  },
  {
    folder: 'client',
    description: 'Client for Runwire: streams that recover from every cut, the whole API typed, uploads.',
    files: { index: 'index.ts' },
    exports: { '.': 'index' },
    needs: [],
    isPortable: true,
  },
  {
    folder: 'documents',
    description: 'Converts PDF, DOCX, XLSX, HTML and text files to text, in a child process with limits.',
    files: {
      index: 'index.ts',
      'document-child': 'document-child.ts',
      'document-thread': 'document-thread.ts',
    },
    exports: { '.': 'index' },
    needs: [],
  },
  {
    folder: 'guarded-fetch',
    description: 'Fetches URLs that others name, from public addresses only: no URL reaches a private network.',
    files: { index: 'index.ts', 'url-rules/index': 'url-rules/index.ts' },
    exports: { '.': 'index', './url-rules': 'url-rules/index' },
    needs: [],
  },
  {
    folder: 'models',
    description: 'One port for language models: OpenAI, Anthropic, servers that imitate them, packages of the AI SDK.',
    files: {
      index: 'index.ts',
      'provider-models': 'provider-models.ts',
      'ai-sdk': 'ai-sdk.ts',
      'offline-model': 'offline-model.ts',
    },
    exports: {
      '.': 'index',
      './provider-models': 'provider-models',
      './ai-sdk': 'ai-sdk',
      './offline-model': 'offline-model',
    },
    needs: [],
  },
  {
    folder: 'sandbox',
    description:
      'Runs commands that a model wrote: bubblewrap, or bash in JavaScript if the machine forbids namespaces.',
    files: { index: 'index.ts', 'bash-child': 'just-bash/bash-child.ts' },
    exports: { '.': 'index' },
    needs: [],
  },
  {
    folder: 'mcp-sessions',
    description:
      'Sessions with MCP servers that stay connected: stdio and HTTP, OAuth, renewal, limits for bad servers.',
    files: { index: 'index.ts' },
    exports: { '.': 'index' },
    needs: [],
  },
  {
    folder: 'server',
    description: 'Runs agents for your own backend. Every request runs once, is charged once and is never lost.',
    files: { index: 'index.ts', 'testing/index': 'testing/index.ts', ...serverThreads('') },
    exports: { '.': 'index', './testing': 'testing/index' },
    needs: ['@runwire/documents'],
    types: ['@runwire/agency'],
    copies: serverCopies,
  },
  {
    folder: 'cli',
    description: 'The command `runwire`: starts and operates the server, runs agents, manages files, members and keys.',
    files: { main: 'main.ts' },
    exports: {},
    bin: { runwire: 'main' },
    // An older Node can load it, so that it can report which Node the server needs.
    loadsOn: 'node18',
    needs: ['@runwire/server'],
  },
  {
    folder: 'create-runwire',
    description: '`npm create runwire` makes a project with an agency that runs.',
    files: { main: 'main.ts' },
    exports: {},
    bin: { 'create-runwire': 'main' },
    needs: [],
  },
];

/** What tests and proofs start as processes, see `TEST_BUILD` in the test kit. */
export const testServer: PublishedPackage = {
  folder: 'test-kit',
  description: '',
  files: {
    'server-main': 'server-main.ts',
    'scripted-mcp-main': 'scripted-mcp-main.ts',
    ...serverThreads('../../server/src/'),
  },
  exports: {},
  needs: ['@runwire/documents'],
  copies: serverCopies,
};
