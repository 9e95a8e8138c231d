import type { CodeLanguage } from '../../lib/code-language.ts';
import { literal, type SnippetTarget, singleQuoted } from './snippets.ts';

interface CompatibleInput extends SnippetTarget {
  /** The member that every request must name while allowances are on. Null: requests need none. */
  readonly member: string | null;
}

/** An API that clients of others speak, as the page shows it. */
export interface CompatibleSample {
  /** Its name in the integration's `compatibleApis`. */
  readonly api: string;
  readonly title: string;
  /** The clients that people know it by. */
  readonly clients: string;
  /** What the client is configured with. */
  readonly baseUrl: string;
  readonly code: string;
  readonly language: CodeLanguage;
}

/** All compatible APIs of an integration, the best known first. */
export function compatibleSamples(input: CompatibleInput): CompatibleSample[] {
  const { url, integration } = input;
  const base = `${url}/v2/integrations/${encodeURIComponent(integration)}`;
  return [
    {
      api: 'openai',
      title: 'OpenAI',
      clients: 'openai, @openai/agents, @ai-sdk/openai, LangChain, Open WebUI, LibreChat',
      baseUrl: `${base}/openai/v1`,
      code: openaiSnippet(`${base}/openai/v1`, input),
      language: 'typescript',
    },
    {
      api: 'ai-sdk',
      title: 'AI SDK',
      clients: 'useChat of the AI SDK',
      baseUrl: `${base}/ai-sdk/chat`,
      code: aiSdkSnippet(`${base}/ai-sdk/chat`),
      language: 'typescript',
    },
    {
      api: 'ag-ui',
      title: 'AG-UI',
      clients: 'CopilotKit and other AG-UI clients',
      baseUrl: `${base}/ag-ui`,
      code: agUiSnippet(`${base}/ag-ui`, input),
      language: 'typescript',
    },
    {
      api: 'mcp',
      title: 'MCP',
      clients: 'Claude, Cursor, VS Code and other MCP hosts',
      baseUrl: `${base}/mcp`,
      code: mcpSnippet(`${base}/mcp`, input),
      language: 'json',
    },
    {
      api: 'agency-swarm',
      title: 'agency-swarm',
      clients: "clients of agency-swarm's own server",
      baseUrl: `${base}/agency-swarm`,
      code: agencySwarmSnippet(`${base}/agency-swarm`, input),
      language: 'python',
    },
  ];
}

function openaiSnippet(baseUrl: string, { integration, member }: CompatibleInput): string {
  const user = member === null ? '' : ` safety_identifier: ${singleQuoted(member)},`;
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: ${singleQuoted(baseUrl)},
  apiKey: process.env.RUNWIRE_API_KEY,
});

const response = await client.responses.create({ model: ${singleQuoted(integration)},${user} input: 'Hello' });
console.log(response.output_text);`;
}

function aiSdkSnippet(baseUrl: string): string {
  return `import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';

// Your backend mints \`clientToken\` for one member; a page never gets an API key.
const transport = new DefaultChatTransport({
  api: ${singleQuoted(baseUrl)},
  headers: { Authorization: \`Bearer \${clientToken}\` },
});

const { messages, sendMessage } = useChat({ transport });`;
}

function agUiSnippet(baseUrl: string, { member }: CompatibleInput): string {
  const header = member === null ? '' : `\n    'X-Runwire-Consumer-Id': ${singleQuoted(member)},`;
  return `import { HttpAgent } from '@ag-ui/client';

const agent = new HttpAgent({
  url: ${singleQuoted(baseUrl)},
  headers: {
    Authorization: \`Bearer \${process.env.RUNWIRE_API_KEY}\`,${header}
  },
});

agent.addMessage({ id: '1', role: 'user', content: 'Hello' });
const { newMessages } = await agent.runAgent();`;
}

function mcpSnippet(url: string, { integration, member }: CompatibleInput): string {
  const headers = {
    Authorization: 'Bearer <your key>',
    ...(member === null ? {} : { 'X-Runwire-Consumer-Id': member }),
  };
  return JSON.stringify({ mcpServers: { [integration]: { type: 'http', url, headers } } }, null, 2);
}

function agencySwarmSnippet(baseUrl: string, { member }: CompatibleInput): string {
  const header = member === null ? '' : `\n    "X-Runwire-Consumer-Id": ${literal(member)},`;
  return `import os

import httpx

headers = {
    "Authorization": f"Bearer {os.environ['RUNWIRE_API_KEY']}",${header}
}
answer = httpx.post(
    ${literal(`${baseUrl}/get_response`)},
    headers=headers,
    json={"message": "Hello"},
    timeout=None,
)
print(answer.json()["response"])`;
}
