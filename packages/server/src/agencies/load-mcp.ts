import { join } from 'node:path';
import type { AboutRun } from '@runwire/agency';
import type { AgencyFile } from '@runwire/contract/schemas';
import type { McpAddress } from '@runwire/mcp-sessions';
import type { McpServer } from '../agent/mcp-port.ts';
import type { AgencyDraft, AgentDraft } from './agency-draft.ts';
import type { AgencyFolder } from './agency-folder.ts';
import { expandVariables, type ReadVariable } from './expand-variables.ts';
import { type Faults, inWords, type Location, type Path } from './fault.ts';
import { fillIn, PLACEHOLDER, unknownPlaceholder } from './instructions.ts';

type ServerFile = NonNullable<AgencyFile['mcp']>[string];

/** How long a call may be without a sign of life if the agency does not say it. */
const SILENCE_SECONDS = 60;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a header can contain: no line breaks and no characters beyond Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

interface ServerLocation {
  readonly location: Location;
  readonly faults: Faults;
  readonly variable: ReadVariable;
}

/** A text with the values of variables, and of a run. */
interface Template {
  readonly isFilled: boolean;
  readonly fill: (about: AboutRun) => string;
}

/** Loads the MCP servers that the agency names. The values of variables are not in any fault. */
export function loadServers(
  { value, location }: AgencyDraft,
  folder: AgencyFolder | null,
  variable: ReadVariable,
  faults: Faults,
): readonly McpServer[] {
  const at = { location, faults, variable };
  return Object.entries(value.mcp ?? {}).map(([name, server]) => loadServer(name, server, folder, at));
}

function loadServer(name: string, file: ServerFile, folder: AgencyFolder | null, given: ServerLocation): McpServer {
  const { location, faults } = given;
  const secrets = new Set<string>();
  const variable: ReadVariable = (one) => {
    const value = given.variable(one);
    if (value !== null) secrets.add(value);
    return value;
  };
  const at = { ...given, variable };
  const path = ['mcp', name];
  const headers = templates(file.headers ?? {}, [...path, 'headers'], at);
  const env = templates(file.env ?? {}, [...path, 'env'], at);
  const isFilled = [...headers.values(), ...env.values()].some((template) => template.isFilled);
  if (isFilled && file.session === 'shared') {
    const sentence = '`session` is `shared`, but the server gets values of the run; remove `session`.';
    faults.add(location, [...path, 'session'], sentence);
  }
  if (file.command !== undefined && file.oauth !== undefined) {
    faults.add(location, [...path, 'oauth'], 'A server with `command` has no `oauth`; remove one of them.', 'key');
  }
  for (const [header, { fill, isFilled: hasPlaceholder }] of headers) {
    const isValid = HEADER_NAME.test(header) && (hasPlaceholder || HEADER_VALUE.test(fill(NO_RUN)));
    const sentence = `\`${header}\` cannot be a header: its name or its value has a character that headers cannot have.`;
    if (!isValid) faults.add(location, [...path, 'headers', header], `${sentence} Change it.`);
  }
  return {
    name,
    prefix: file.prefix ?? name,
    tools: file.tools ?? null,
    repeatable: file.repeatable ?? [],
    approval: getApproval(file),
    isPerRun: isFilled || file.session === 'run',
    isFilled,
    silenceMs: (file.timeoutSeconds ?? SILENCE_SECONDS) * 1000,
    address: getAddress(file, { headers, env, secrets }, folder, { ...at, path }),
  };
}

function getApproval({ approval = 'never' }: ServerFile): McpServer['approval'] {
  if (typeof approval !== 'string') return approval;
  return approval === 'always' ? 'always' : [];
}

const NO_RUN: AboutRun = { date: '', member: null, userContext: undefined, state: {} };

interface Templates {
  readonly headers: ReadonlyMap<string, Template>;
  readonly env: ReadonlyMap<string, Template>;
  /** The values of the variables of all fields, complete when the server is loaded. */
  readonly secrets: ReadonlySet<string>;
}

function getAddress(
  file: ServerFile,
  { headers, env, secrets }: Templates,
  folder: AgencyFolder | null,
  { path, ...at }: ServerLocation & { readonly path: Path },
): (about: AboutRun) => McpAddress {
  const fixed = (text: string, ...field: Path) => fixedText(text, [...path, ...field], at);
  if (file.url !== undefined) {
    const url = fixed(file.url, 'url');
    if (url !== '' && URL.parse(url) === null) {
      at.faults.add(at.location, [...path, 'url'], '`url` is not an address; write one such as `https://host/mcp`.');
    }
    const { clientId = '', clientSecret = '', scope, issuer } = file.oauth ?? {};
    const oauth =
      file.oauth === undefined
        ? null
        : {
            clientId: fixed(clientId, 'oauth', 'clientId'),
            clientSecret: fixed(clientSecret, 'oauth', 'clientSecret'),
            scope: scope === undefined ? null : fixed(scope, 'oauth', 'scope'),
            issuer: issuer === undefined ? null : fixed(issuer, 'oauth', 'issuer'),
          };
    const named = oauth?.issuer ?? '';
    if (named !== '' && !isIssuer(named, url)) {
      const sentence = '`issuer` is not an https address; write one such as `https://login.example.com`.';
      at.faults.add(at.location, [...path, 'oauth', 'issuer'], sentence);
    }
    return (about) => ({ kind: 'http', url, headers: filledHeaders(headers, about), oauth, secrets: [...secrets] });
  }
  const command = fixed(file.command ?? '', 'command');
  const args = (file.args ?? []).map((arg, index) => fixed(arg, 'args', index));
  const below = file.cwd === undefined ? '' : fixed(file.cwd, 'cwd');
  const cwd = folder === null ? (below === '' ? null : below) : join(folder.path, below);
  return (about) => ({ kind: 'stdio', command, args, env: filled(env, about), cwd, secrets: [...secrets] });
}

/** Only the MCP server itself can be an authorization server without https. */
function isIssuer(issuer: string, url: string): boolean {
  const address = URL.parse(issuer);
  return address !== null && (address.protocol === 'https:' || address.origin === URL.parse(url)?.origin);
}

function filled(templates: ReadonlyMap<string, Template>, about: AboutRun): Readonly<Record<string, string>> {
  // A variable of the environment cannot contain NUL.
  return Object.fromEntries([...templates].map(([name, { fill }]) => [name, fill(about).replaceAll('\0', '')]));
}

/** What a header cannot contain is left out of values of the run: errors of the HTTP client would repeat the value. */
function filledHeaders(templates: ReadonlyMap<string, Template>, about: AboutRun): Readonly<Record<string, string>> {
  const headerText = (text: string) => [...text].filter((character) => HEADER_VALUE.test(character)).join('');
  return Object.fromEntries([...templates].map(([name, { fill }]) => [name, headerText(fill(about)).trim()]));
}

function templates(
  texts: Readonly<Record<string, string>>,
  path: Path,
  at: ServerLocation,
): ReadonlyMap<string, Template> {
  return new Map(Object.entries(texts).map(([name, text]) => [name, getTemplate(text, [...path, name], at)]));
}

/** Variables are replaced only in what the author wrote, never in a value of the run. */
function getTemplate(text: string, path: Path, { location, faults, variable }: ServerLocation): Template {
  const unknown = unknownPlaceholder(text);
  if (unknown !== null) faults.addPiece(location, path, unknown.written, unknown.message);
  const report = (problem: string) => faults.add(location, path, problem);
  const placeholders = [...text.matchAll(PLACEHOLDER)].map(([written]) => written);
  const between = text.split(PLACEHOLDER_WITHOUT_GROUP).map((piece) => expandVariables(piece, variable, report) ?? '');
  return {
    isFilled: placeholders.length > 0,
    fill: (about) => between.map((piece, index) => piece + fillIn(placeholders[index] ?? '', about)).join(''),
  };
}

const PLACEHOLDER_WITHOUT_GROUP = /\{\{[^{}]*\}\}/g;

function fixedText(text: string, path: Path, { location, faults, variable }: ServerLocation): string {
  const [written] = text.match(PLACEHOLDER_WITHOUT_GROUP) ?? [];
  if (written !== undefined) {
    const sentence = `\`${written}\` is allowed only in \`headers\` and \`env\` of a server; write a fixed value.`;
    faults.addPiece(location, path, written, sentence);
  }
  return expandVariables(text, variable, (problem) => faults.add(location, path, problem)) ?? '';
}

/** Returns the servers that the agent names, or all of the agency if it names none. */
export function getServers(
  { value, location, path }: AgentDraft,
  servers: readonly McpServer[],
  faults: Faults,
): readonly McpServer[] {
  const { mcp } = value;
  // A list of its own: the tool names are kept by the list.
  if (mcp === undefined) return [...servers];
  return mcp.flatMap((name, index) => {
    const server = servers.find((one) => one.name === name);
    if (server !== undefined) return [server];
    const known = servers.map((one) => one.name);
    const remedy = known.length === 0 ? 'add it to `mcp` of the agency' : `write ${inWords(known)}`;
    faults.add(location, [...path, 'mcp', index], `There is no MCP server \`${name}\`; ${remedy}.`);
    return [];
  });
}
