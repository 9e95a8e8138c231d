import assert from 'node:assert/strict';
import { test, describe, beforeEach } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { TEST_API_KEY } from '@runwire/test-kit';
import { play, say } from './support/play.ts';
import { ScriptedServer } from './support/scripted-server.ts';

describe('smoke', () => {
  const rig = ScriptedServer.shared();
  for (const mode of ['legacy', 'auto'] as const) test(mode, async () => {
    const integration = await rig.integration();
    const url = new URL(`${rig.server.url}/v2/integrations/${integration}/mcp`);
    const client = new Client({ name: 't', version: '1' }, { versionNegotiation: { mode } } as never);
    const logged: typeof fetch = async (u, i) => { const r = await fetch(u, i); console.log(i?.method, String(i?.body).slice(0, 300), r.status, r.headers.get('content-type'), r.headers.get('x-agent-run-admitted'), r.headers.get('mcp-session-id')); return r; };
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization: `Bearer ${TEST_API_KEY}` } }, fetch: logged as never });
    await client.connect(transport);
    console.log(client.getServerVersion(), JSON.stringify(await client.listTools()).slice(0, 600));
    rig.controller.onCall = (call) => { void (async () => { await call.text('Hello'); await new Promise((r) => setTimeout(r, 2500)); await call.end(); })(); };
    const { tools } = await client.listTools();
    const news: unknown[] = [];
    const result = await client.callTool({ name: tools[0]!.name, arguments: { message: 'Hi' } }, { onprogress: (p: unknown) => { news.push(p); } } as never);
    console.log(JSON.stringify(result), JSON.stringify(news));
    const bad = await client.callTool({ name: tools[0]!.name, arguments: { message: 'Hi', files: ['/x'] } });
    console.log(JSON.stringify(bad));
    const none = await client.callTool({ name: 'nope', arguments: { message: 'Hi', files: ['/x'] } }).catch((e: unknown) => e);
    console.log(String(none));
    await client.close();
  });
});
