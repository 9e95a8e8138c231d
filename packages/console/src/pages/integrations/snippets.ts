/** What a program needs to call an integration. */
export interface SnippetTarget {
  /** The server's address, without a slash at its end. */
  readonly url: string;
  readonly integration: string;
}

/** The fields of a request by their names in the API. */
export interface SampleRequest {
  readonly message: string;
  readonly consumerId?: string | undefined;
  readonly agent?: string | undefined;
  readonly chatId?: string | undefined;
  readonly user_context?: unknown;
  readonly sandboxFiles?: readonly unknown[] | undefined;
}

export interface SnippetInput extends SnippetTarget {
  readonly request: SampleRequest;
}

/** In single quotes, for POSIX shells. */
const shellText = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A string of JSON is also a literal of TypeScript and Python. */
export const literal = (text: string) => JSON.stringify(text);
export const singleQuoted = (text: string) =>
  `'${literal(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** Every paste is a new request, because the second of the paste is in its `usageRequestId`. */
export function curlSnippet({ url, integration, request }: SnippetInput): string {
  const body = { apiIntegrationId: integration, ...request, usageRequestId: 'hello-' };
  const json = JSON.stringify(body).slice(0, -2);
  return `curl -N ${shellText(`${url}/get_completion_v2`)} \\
  -H "Authorization: Bearer $RUNWIRE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shellText(json)}"$(date +%s)"'"}'`;
}

/** More characters do not fit into a line. */
const MAX_LINE = 80;

/** Fields in one line, or each in a line of its own. */
function joinFields(fields: readonly string[], indent: string): string {
  const line = fields.join(', ');
  if (line.length <= MAX_LINE) return line;
  return `\n${fields.map((field) => `${indent}${field},\n`).join('')}`;
}

const listFields = (request: Partial<SampleRequest>) =>
  Object.entries(request).filter(([, value]) => value !== undefined);

export function typescriptSnippet({ url, integration, request }: SnippetInput): string {
  const fields = listFields(request).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? singleQuoted(value) : JSON.stringify(value)}`,
  );
  const joined = joinFields(fields, '  ');
  return `import { Runwire } from '@runwire/client';

const client = new Runwire({
  baseUrl: ${singleQuoted(url)},
  apiKey: process.env.RUNWIRE_API_KEY ?? '',
  integration: ${singleQuoted(integration)},
});

const run = client.run({${joined.startsWith('\n') ? joined : ` ${joined} `}});
for await (const event of run) {
  if (event.type === 'text') process.stdout.write(event.delta);
}`;
}

/** A value of JSON as Python has it. */
function pythonLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${literal(name)}: ${pythonLiteral(member)}`);
    return `{${members.join(', ')}}`;
  }
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

const toSnakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function pythonSnippet({ url, integration, request: { message, ...rest } }: SnippetInput): string {
  const named = listFields(rest).map(([name, value]) => `${toSnakeCase(name)}=${pythonLiteral(value)}`);
  const fields = [literal(message), ...named];
  return `import os

from runwire import Runwire

client = Runwire(${literal(url)}, os.environ["RUNWIRE_API_KEY"], integration=${literal(integration)})

for event in client.run(${joinFields(fields, '    ')}):
    if event.type == "text":
        print(event.delta, end="", flush=True)`;
}
