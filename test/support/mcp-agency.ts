import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { SCRIPTED_MCP } from '@runwire/test-kit/scripted-mcp-program.ts';
import { AgenciesFolder } from './agencies-folder.ts';
import { type HeldRun, messagesFrame, ScriptedServer } from './scripted-server.ts';

/* An agency with MCP servers, on a server whose model the test controls. */

const quoted = (path: string) => JSON.stringify(resolve(import.meta.dirname, '../..', path));

const NODE = JSON.stringify(process.execPath);
const EVERYTHING = quoted('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const FILESYSTEM = quoted('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js');
const SCRIPTED = JSON.stringify(SCRIPTED_MCP);

/** `command` and `args` of programs that are MCP servers. */
export const everything = `command: ${NODE}, args: [${EVERYTHING}]`;
export const filesystem = (folder: string) => `command: ${NODE}, args: [${FILESYSTEM}, ${JSON.stringify(folder)}]`;
export const scripted = (...args: readonly string[]) =>
  `command: ${NODE}, args: [${[SCRIPTED, ...args.map((arg) => JSON.stringify(arg))].join(', ')}]`;
/** The server as a child of a shell that does not pass signals on. */
export const scriptedBelowShell = (...args: readonly string[]) =>
  `command: sh, args: [-c, ${JSON.stringify(`${process.execPath} ${JSON.parse(SCRIPTED)} ${args.join(' ')}; exit`)}]`;

export const mcpAgency = (servers: Readonly<Record<string, string>>, ofAgent = '') => `name: Mine
mcp:
${Object.entries(servers)
  .map(([name, fields]) => `  ${name}: { ${fields} }`)
  .join('\n')}
agents:
  - name: A
    instructions: Be A.
    files: false
${ofAgent}`;

export interface McpState {
  readonly server: string;
  readonly state: string;
  readonly tools: number;
  readonly error: string | null;
  readonly since: string;
}

/** The agency `mine` on a server of its own. */
export class McpRig implements AsyncDisposable {
  readonly folder: AgenciesFolder;
  readonly rig: ScriptedServer;

  private constructor(folder: AgenciesFolder, rig: ScriptedServer) {
    this.folder = folder;
    this.rig = rig;
  }

  static async start(
    agency: string | Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
    links: Readonly<Record<string, string>> = {},
    overrides: Pick<NonNullable<Parameters<typeof ScriptedServer.start>[0]>, 'network'> = {},
  ): Promise<McpRig> {
    const folder = new AgenciesFolder(
      typeof agency === 'string'
        ? { 'mine/agency.yaml': agency }
        : Object.fromEntries(Object.entries(agency).map(([name, text]) => [`mine/${name}`, text])),
    );
    for (const [name, target] of Object.entries(links)) folder.link(`mine/${name}`, target);
    const { PATH = '', HOME = '' } = process.env;
    const settings = { RUNWIRE_AGENCIES_DIR: folder.path, PATH, HOME, SERVER_SECRET: 'planted-secret', ...env };
    const rig = await ScriptedServer.start({ env: settings, agencies: {}, ...overrides });
    await rig.api.post('/v2/integrations', { apiIntegrationId: 'own', agency: 'mine' });
    return new McpRig(folder, rig);
  }

  hold(body: object = {}): Promise<HeldRun> {
    return this.rig.hold({ apiIntegrationId: 'own', message: 'Hi', ...body });
  }

  /** Lets the model make these calls, and resolves to the output of each in its next prompt. */
  async outputs(held: HeldRun, ...calls: readonly (readonly [string, object])[]): Promise<readonly string[]> {
    for (const [place, [name, input]] of calls.entries()) {
      await held.call.toolCall(`call_${place}`, name, JSON.stringify(input));
    }
    await held.call.end();
    const next = await this.rig.controller.nextCall();
    const told = next.request.prompt.flatMap((item) => (item.kind === 'tool_output' ? [item.output] : []));
    await next.end();
    await held.reader.whole();
    assert.equal(messagesFrame(held.reader).status, 'completed');
    return told;
  }

  /** One run with these calls. */
  async run(...calls: readonly (readonly [string, object])[]): Promise<readonly string[]> {
    return this.outputs(await this.hold(), ...calls);
  }

  async states(): Promise<readonly McpState[]> {
    const { items } = (await this.rig.api.get('/v2/agencies')).body;
    return items.find(({ agency }: { readonly agency: string }) => agency === 'mine').mcp;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

/** The items of the stream that report a failed server. */
export const failedServers = (frames: readonly { readonly data: string }[]) =>
  frames
    .filter(({ data }) => data.includes('"name":"mcp_server_failed"'))
    .map(({ data }): Readonly<Record<string, string>> => JSON.parse(data).data.item.raw_item);

export const toolNames = ({ call }: HeldRun) => call.request.tools.map(({ name }) => name);
