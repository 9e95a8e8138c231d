import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OtlpReceiver } from '@runwire/test-kit/otlp-receiver.ts';
import { until } from '@runwire/test-kit/shortfall.ts';
import { cites } from '../requirements/cite.ts';
import { ScriptedServer } from './support/scripted-server.ts';
import { WebhookReceiver } from './support/webhook-receiver.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const HOUR_MS = 3_600_000;
const SCHEMA = /^https:\/\/opentelemetry\.io\/schemas\/\d+\.\d+\.\d+$/;

/** A server that exports to a receiver. Both may be closed twice. */
async function startTraced(env: Readonly<Record<string, string>> = {}, clock = Date.now) {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await OtlpReceiver.start());
  const rig = stack.use(
    await ScriptedServer.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...env }, clock }),
  );
  const owned = stack.move();
  return { receiver, rig, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test('a run is one tree of spans by the GenAI conventions', async (t) => {
  cites(t, 'contract-23-trace', 'contract-23-trace-spans', 'contract-23-trace-content', 'contract-23-trace-scope');
  await using traced = await startTraced();
  const { receiver, rig } = traced;
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
  await using traced = await startTraced();
  const { receiver, rig } = traced;
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
  await using traced = await startTraced({ RUNWIRE_TRACE_CONTENT: 'true' });
  const { receiver, rig } = traced;
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
    await using traced = await startTraced();
    const { receiver, rig } = traced;
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

test('contents that wait for their export are bounded', async () => {
  await using traced = await startTraced({ RUNWIRE_TRACE_CONTENT: 'true' });
  const { receiver, rig } = traced;
  receiver.answer = 'hang';
  const message = 'a'.repeat(900_000);
  for (let n = 0; n < 20; n += 1) await rig.answer({ message });
  const dropped = /^runwire_trace_spans_dropped_total (\d+)$/m.exec((await rig.api.get('/metrics')).body)?.[1];
  assert.ok(Number(dropped) > 0);
});

test('traces are off unless an endpoint is set', async (t) => {
  cites(t, 'contract-23-trace-off');
  const receiver = await OtlpReceiver.start();
  await using _receiver = receiver;
  const off = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  for (const env of [{ OTEL_SERVICE_NAME: 'x' }, off]) {
    await using rig = await ScriptedServer.start({ env });
    await rig.answer({});
    // Its shutdown would export.
    await rig[Symbol.asyncDispose]();
  }
  assert.deepEqual(receiver.spans, []);
});

test("a run's webhooks are in the run's trace", async (t) => {
  cites(t, 'contract-23-trace-webhooks');
  await using hooks = await WebhookReceiver.start();
  let shiftMs = 0;
  await using traced = await startTraced({ RUNWIRE_WEBHOOK_ALLOW: hooks.allow }, () => Date.now() + shiftMs);
  const { receiver, rig } = traced;
  const integration = await rig.integration();
  hooks.answers('flaky', (_, earlier) => ({ status: earlier === 0 ? 503 : 204 }));
  const below = `/v2/integrations/${integration}/webhooks`;
  const { endpointId } = (await rig.api.post(below, { url: hooks.url('flaky') })).body;
  const attempts = async () => (await rig.api.get(`${below}/${endpointId}/deliveries`)).body.items[0]?.attempts;
  const reader = await rig.api.complete(
    { apiIntegrationId: integration, message: 'Hi' },
    { traceparent: `00-${TRACE}-${PARENT}-01` },
  );
  await (await rig.controller.nextCall()).end();
  await reader.whole();
  await until('the first attempt', async () => (await attempts()) === 1);
  shiftMs = HOUR_MS;
  await until('the second attempt', async () => (await attempts()) === 2);
  await rig[Symbol.asyncDispose]();
  const posts = receiver.spans.filter(({ name }) => name.startsWith('webhook'));
  const about = {
    'server.address': '127.0.0.1',
    'server.port': hooks.port,
    'http.request.method': 'POST',
    'runwire.run.id': reader.headers['x-run-id'],
  };
  assert.deepEqual(
    posts.map(({ name, kind, traceId, parentId, attributes }) => [name, kind, traceId, parentId, attributes]),
    [
      { ...about, 'runwire.attempt': 1, 'http.response.status_code': 503, 'error.type': 'webhook_failed' },
      { ...about, 'runwire.attempt': 2, 'http.response.status_code': 204 },
    ].map((attributes) => ['webhook run.completed', 'client', TRACE, PARENT, attributes]),
  );
});

test('the collector gets the headers of OTEL_EXPORTER_OTLP_HEADERS', async (t) => {
  cites(t, 'contract-23-trace');
  const key = 'OTEL_EXPORTER_OTLP_HEADERS';
  // The exporter reads the variables of the process.
  process.env[key] = 'x-collector-key=planted-key';
  t.after(() => delete process.env[key]);
  await using traced = await startTraced();
  const { receiver, rig } = traced;
  await rig.answer({});
  await rig[Symbol.asyncDispose]();
  assert.equal(receiver.headers['x-collector-key'], 'planted-key');
});
