/** What a program needs to call an integration. */
export interface SnippetInput {
  /** The server's address, without a slash at its end. */
  readonly url: string;
  readonly integration: string;
  /** The member that every request must name while allowances are on. Null: requests need none. */
  readonly member: string | null;
}

/** In single quotes, for POSIX shells. */
const shellText = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** A string of JSON is also a literal of TypeScript and Python. */
export const literal = (text: string) => JSON.stringify(text);
export const singleQuoted = (text: string) =>
  `'${literal(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** Every paste is a new request, because the second of the paste is in its `usageRequestId`. */
export function curlSnippet({ url, integration, member }: SnippetInput): string {
  const body = {
    apiIntegrationId: integration,
    message: 'Hello',
    ...(member === null ? {} : { consumerId: member }),
    usageRequestId: 'hello-',
  };
  const json = JSON.stringify(body).slice(0, -2);
  return `curl -N ${shellText(`${url}/get_completion_v2`)} \\
  -H "Authorization: Bearer $RUNWIRE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shellText(json)}"$(date +%s)"'"}'`;
}

export function typescriptSnippet({ url, integration, member }: SnippetInput): string {
  const consumer = member === null ? '' : `, consumerId: ${singleQuoted(member)}`;
  return `import { Runwire } from '@runwire/client';

const client = new Runwire({
  baseUrl: ${singleQuoted(url)},
  apiKey: process.env.RUNWIRE_API_KEY ?? '',
  integration: ${singleQuoted(integration)},
});

const run = client.run({ message: 'Hello'${consumer} });
for await (const event of run) {
  if (event.type === 'text') process.stdout.write(event.delta);
}`;
}

export function pythonSnippet({ url, integration, member }: SnippetInput): string {
  const consumer = member === null ? '' : `, consumer_id=${literal(member)}`;
  return `import os

from runwire import Runwire

client = Runwire(${literal(url)}, os.environ["RUNWIRE_API_KEY"], integration=${literal(integration)})

for event in client.run("Hello"${consumer}):
    if event.type == "text":
        print(event.delta, end="", flush=True)`;
}
