import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineAgency, defineAgent } from '@runwire/agency';
import {
  FakeProvider,
  providerEvents,
  SCRIPTED_USAGE,
  ScriptedMcpHttp,
  sseText,
  startTestServer,
} from '@runwire/test-kit';
import { OtlpReceiver } from '@runwire/test-kit/otlp-receiver.ts';
import { cites } from '../requirements/cite.ts';
import { McpRig, mcpAgency } from './support/mcp-agency.ts';

/* What other servers and tools get of a trace. */

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

const agency = (propagateTrace: boolean) =>
  defineAgency({
    name: 'Mine',
    propagateTrace,
    agents: [defineAgent({ name: 'A', description: 'Answers.', instructions: 'Be A.', files: false })],
  });

for (const protocol of ['responses', 'chat', 'messages'] as const) {
  test(`a provider gets traceparent if the agency wants it: ${protocol}`, async (t) => {
    cites(t, 'contract-23-trace-propagation');
    await using provider = await FakeProvider.start();
    await using receiver = await OtlpReceiver.start();
    await using server = await startTestServer({
      env: { ...provider.env(protocol), OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      agencies: { on: agency(true), off: agency(false) },
    });
    const hello = { parts: [{ kind: 'text', deltas: ['Hi'] }], usage: SCRIPTED_USAGE } as const;
    provider.onCall = (call) => void call.stream(sseText(providerEvents(protocol, hello)));
    for (const name of ['on', 'off']) {
      await server.api.post('/v2/integrations', { apiIntegrationId: name, agency: name });
      await (
        await server.api.complete({ apiIntegrationId: name, message: 'Hi' }, { traceparent: TRACEPARENT })
      ).whole();
    }
    await server[Symbol.asyncDispose]();
    const [chat] = receiver.spans.filter(({ name }) => name.startsWith('chat'));
    assert.deepEqual(
      provider.calls.map(({ headers }) => headers.traceparent),
      [`00-${TRACE}-${chat?.spanId}-01`, undefined],
    );
    assert.equal(chat?.attributes['server.address'], '127.0.0.1');
  });
}

test('an MCP server gets traceparent in _meta if the agency wants it', async (t) => {
  cites(t, 'contract-23-trace-propagation');
  await using mcp = await ScriptedMcpHttp.start();
  for (const field of ['propagateTrace: true\n', '']) {
    await using receiver = await OtlpReceiver.start();
    await using rig = await McpRig.start(field + mcpAgency({ one: `url: "${mcp.url}"` }), {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    const [about = ''] = await rig.run(['one_about', {}]);
    await rig.rig[Symbol.asyncDispose]();
    const tool = receiver.spans.find(({ name }) => name === 'execute_tool one_about');
    const { meta } = JSON.parse(about);
    assert.equal(meta?.traceparent, field === '' ? undefined : `00-${tool?.traceId}-${tool?.spanId}-01`);
  }
});
