import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OtlpReceiver } from '@runwire/test-kit/otlp-receiver.ts';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer } from './support/scripted-server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SCHEMA = /^https:\/\/opentelemetry\.io\/schemas\/\d+\.\d+\.\d+$/;

async function startTraced(env: Readonly<Record<string, string>> = {}) {
  const receiver = await OtlpReceiver.start();
  const rig = await ScriptedServer.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env } });
  return { receiver, rig };
}

test('a run is one tree of spans by the GenAI conventions', async (t) => {
  cites(t, 'contract-23-trace', 'contract-23-trace-spans', 'contract-23-trace-content', 'contract-23-trace-scope');
  const { receiver, rig } = await startTraced();
  await using _receiver = receiver;
  const integration = await rig.integration({ agency: 'test' });
  const body = {
    apiIntegrationId: integration,
    chatId: 'c1',
    message: 'A planted text',
    user_context: { secret: 'planted-context' },
  };
  const reader = await rig.api.complete(body, { traceparent: `00-${TRACE}-${PARENT}-01` });
  const call = await rig.controller.nextCall();
  await call.text('Another planted text');
  await call.toolCall('call_1', 'echo', '{"planted":"arguments"}');
  await call.toolCall('call_2', 'break', '{}');
  await call.end();
  const last = await rig.controller.nextCall();
  await last.text('Done');
  await last.end();
  await reader.whole();
  const runId = String(reader.headers['x-run-id']);
  const { usage } = (await rig.api.get(`/v2/integrations/${integration}/runs/${runId}`)).body;
  // The last spans are exported by the shutdown.
  await rig[Symbol.asyncDispose]();

  const spans = receiver.trace(TRACE);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const rows = spans.map(({ name, kind, parentId, hasFailed, attributes }) => [
    name,
    kind,
    parentId === PARENT ? 'the caller' : byId.get(parentId)?.name,
    hasFailed ? attributes['error.type'] : null,
  ]);
  assert.deepEqual(rows.sort(), [
    ['POST /get_completion_v2', 'server', 'the caller', null],
    ['chat model', 'client', 'invoke_agent Clerk', null],
    ['chat model', 'client', 'invoke_agent Clerk', null],
    ['execute_tool break', 'internal', 'invoke_agent Clerk', 'tool_failed'],
    ['execute_tool echo', 'internal', 'invoke_agent Clerk', null],
    ['invoke_agent Clerk', 'internal', 'the caller', null],
  ]);
  const chats = spans.filter(({ name }) => name.startsWith('chat'));
  for (const { attributes, events, scope, schemaUrl, service } of chats) {
    assert.deepEqual([scope, service, events], ['runwire', 'runwire', ['gen_ai.first_token']]);
    assert.match(schemaUrl, SCHEMA);
    assert.deepEqual(
      ['operation.name', 'provider.name', 'request.model', 'agent.name', 'conversation.id'].map(
        (name) => attributes[`gen_ai.${name}`],
      ),
      ['chat', 'scripted', 'model', 'Clerk', 'c1'],
    );
    assert.deepEqual(
      ['run.id', 'integration.id', 'attempt', 'replayed'].map((name) => attributes[`runwire.${name}`]),
      [runId, integration, 1, false],
    );
  }
  const agent = spans.filter(({ name }) => name.startsWith('invoke_agent'));
  for (const some of [chats, agent]) {
    const sum = (name: string) =>
      some.reduce((total, { attributes }) => total + Number(attributes[`gen_ai.usage.${name}`]), 0);
    assert.deepEqual([sum('input_tokens'), sum('output_tokens')], [usage.input_tokens, usage.output_tokens]);
  }
  const [server] = spans.filter(({ kind }) => kind === 'server');
  assert.deepEqual(server?.attributes, {
    'http.request.method': 'POST',
    'http.route': '/get_completion_v2',
    'url.scheme': 'http',
    'http.response.status_code': 200,
  });
  assert.ok(!receiver.raw.includes('planted'));
});

test('without a traceparent, or with an invalid one, the request begins the trace', async (t) => {
  cites(t, 'contract-23-trace-invalid');
  const { receiver, rig } = await startTraced();
  await using _receiver = receiver;
  const reader = await rig.api.complete({ message: 'Hi' }, { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` });
  await (await rig.controller.nextCall()).end();
  await reader.whole();
  await rig[Symbol.asyncDispose]();
  const server = receiver.spans.find(({ kind }) => kind === 'server');
  const agent = receiver.spans.find(({ name }) => name.startsWith('invoke_agent'));
  assert.equal(server?.parentId, '');
  assert.deepEqual([agent?.traceId, agent?.parentId], [server?.traceId, server?.spanId]);
});

test('contents are exported only with RUNWIRE_TRACE_CONTENT=true', async (t) => {
  cites(t, 'contract-23-trace-content');
  const { receiver, rig } = await startTraced({ RUNWIRE_TRACE_CONTENT: 'true' });
  await using _receiver = receiver;
  const integration = await rig.integration({ agency: 'test' });
  const body = {
    apiIntegrationId: integration,
    message: 'planted-question',
  };
  const reader = await rig.api.complete(body);
  const call = await rig.controller.nextCall();
  await call.toolCall('call_1', 'echo', '{"text":"planted-argument"}');
  await call.end();
  const last = await rig.controller.nextCall();
  await last.text('planted-answer');
  await last.end();
  await reader.whole();
  await rig[Symbol.asyncDispose]();
  for (const word of ['question', 'argument', 'answer']) assert.ok(receiver.raw.includes(`planted-${word}`), word);
});

test('a receiver that hangs or refuses costs spans, not runs', async (t) => {
  cites(t, 'contract-23-trace-exporter');
  for (const answer of ['hang', 400] as const) {
    const { receiver, rig } = await startTraced();
    await using _receiver = receiver;
    receiver.answer = answer;
    for (let n = 0; n < 3; n += 1) await rig.answer({});
    if (answer === 400) {
      const dropped = async () =>
        Number(/^runwire_trace_spans_dropped_total (\d+)$/m.exec((await rig.api.get('/metrics')).body)?.[1]);
      while ((await dropped()) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const begun = performance.now();
    await rig[Symbol.asyncDispose]();
    assert.ok(performance.now() - begun < 10_000);
    assert.deepEqual(receiver.spans, []);
  }
});

test('traces are off unless an endpoint is set', async (t) => {
  cites(t, 'contract-23-trace-off');
  const receiver = await OtlpReceiver.start();
  await using _receiver = receiver;
  const off = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  for (const env of [{ OTEL_SERVICE_NAME: 'x' }, off]) {
    const rig = await ScriptedServer.start({ env });
    await rig.answer({});
    await rig[Symbol.asyncDispose]();
  }
  assert.deepEqual(receiver.spans, []);
});
