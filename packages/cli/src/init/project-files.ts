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

/** The files of a new project, by path. */
export function projectFiles(fields: ProjectFields): Readonly<Record<string, ProjectFile>> {
  const { agency } = fields;
  return {
    'package.json': { text: packageFile(fields) },
    'runwire.env': { text: settingsFile(fields), isSecret: true },
    '.gitignore': { text: 'node_modules/\n.runwire/\nrunwire.env\n' },
    [`agencies/${agency}/agency.yaml`]: { text: agencyFile(agency) },
    [`agencies/${agency}/tools.ts`]: { text: TOOLS_FILE },
    'README.md': { text: readmeFile(fields) },
  };
}

const packageFile = ({ name, version }: ProjectFields): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: 'module',
      scripts: { start: 'runwire serve', check: 'runwire agencies check agencies', chat: 'runwire chat' },
      dependencies: { '@runwire/cli': version },
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

const readmeFile = ({ name, agency }: ProjectFields): string => `# ${name}

Agents that run on Runwire. You need Node 26 or newer.

Install and start the server:

\`\`\`sh
npm install
npm start
\`\`\`

It listens on http://127.0.0.1:8787 and keeps its data in \`.runwire\`. In a second terminal, create the integration that
backends call, once, and send a message:

\`\`\`sh
npx runwire integrations create ${agency} --agency ${agency}
npx runwire run "Hello"
npx runwire run '/tool local_time {"timeZone":"Europe/Rome"}'
\`\`\`

\`npm run chat\` talks to the agent. The offline demo model answers until \`runwire.env\` has a key of a provider; it calls a
tool if the message begins with \`/tool\`.

Edit \`agencies/${agency}/agency.yaml\`: the server loads it again by itself. Check it:

\`\`\`sh
npm run check
\`\`\`

| file | what it is |
|---|---|
| \`agencies/${agency}/agency.yaml\` | the agents: instructions, tools, who asks whom |
| \`agencies/${agency}/tools.ts\` | tools: functions that the model may call |
| \`runwire.env\` | settings and the API key; not in Git |

Your backend uses \`@runwire/client\` with the key of \`runwire.env\`. \`npx runwire --help\` lists all commands.
`;
