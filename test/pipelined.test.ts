import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TEST_API_KEY } from '@runwire/test-kit';
import { until } from './support/eventually.ts';
import { RawConnection } from './support/raw-http.ts';
import { ScriptedServer } from './support/scripted-server.ts';

/** One connection on which requests are sent without waiting for answers. */
class Pipeline extends RawConnection {
  request(line: string, body: object | null = null): void {
    const text = body === null ? '' : JSON.stringify(body);
    const type = body === null ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
    this.send(`${line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TEST_API_KEY}\r\n${type}\r\n${text}`);
  }
}

/** A run under way, and a run that has ended, on a server with these limits. */
async function setUp(limits: {
  readonly slowReaderMs: number;
  readonly heartbeatMs: number;
  readonly drainMs?: number;
}) {
  const server = await ScriptedServer.start({ limits });
  const live = await server.hold({ message: 'First' });
  live.reader.cut();
  const { probes } = server.server.server;
  await until(() => probes.openStreams() === 0);
  const pipeline = new Pipeline(server.api.url);
  const events = (runId: string) => `GET /v2/integrations/demo/runs/${runId}/events`;
  pipeline.request(events(live.runId));
  await until(() => pipeline.text.includes('event: meta'));
  const dispose = async () => {
    pipeline.socket.destroy();
    await server[Symbol.asyncDispose]();
  };
  return { server, live, pipeline, probes, events, [Symbol.asyncDispose]: dispose };
}

test('a stream that waits for another on its connection is not cut', async () => {
  await using set = await setUp({ slowReaderMs: 200, heartbeatMs: 100 });
  const { server, live, pipeline, probes } = set;
  const ended = await server.answer({ message: 'Second' }, 'The second answer');
  await until(() => probes.openStreams() === 1);
  pipeline.request(set.events(ended.runId));
  await until(() => probes.openStreams() === 2);
  // Ten times as long as a reader may be stuck.
  await sleep(2000);
  assert.equal(probes.openStreams(), 2);
  await live.call.text('The first answer');
  await live.call.end();
  await until(() => pipeline.text.split('data: [DONE]').length === 3);
  assert.ok(pipeline.text.indexOf('The first answer') < pipeline.text.indexOf('The second answer'));
  await until(() => probes.openStreams() === 0);
  assert.equal(pipeline.socket.closed, false, 'the connection is good for a next request');
});

test('a stream that breaks off before its turn is closed in its turn', async () => {
  await using set = await setUp({ slowReaderMs: 600_000, heartbeatMs: 100 });
  const { server, live, pipeline, probes } = set;
  const integration = await server.integration({ textOnly: true });
  const body = { apiIntegrationId: integration, message: 'Second', usageRequestId: 'u' };
  const failed = await server.hold(body);
  await failed.call.text('Half an answer');
  await failed.call.fail('model_error', 'It broke.');
  assert.equal(await failed.reader.over, false);
  await until(() => probes.openStreams() === 1);
  pipeline.request('POST /get_completion_v2', body);
  await until(() => probes.openStreams() === 2);
  await live.call.text('The first answer');
  await live.call.end();
  await until(() => pipeline.socket.closed);
  const [first = '', second = ''] = pipeline.text.split(/(?<=\r\n0\r\n\r\n)/);
  assert.match(first, /data: \[DONE\]/);
  assert.match(second, /Half an answer\r\n$/, 'what was said, and no final chunk');
  await until(() => probes.openStreams() === 0);
});

test('a waiting stream is released when its connection closes', async () => {
  await using set = await setUp({ slowReaderMs: 600_000, heartbeatMs: 100, drainMs: 600_000 });
  const { server, live, pipeline, probes } = set;
  const other = await server.hold({ message: 'Second' });
  other.reader.cut();
  await until(() => probes.openStreams() === 1);
  pipeline.request(set.events(other.runId));
  await until(() => probes.openStreams() === 2);
  pipeline.request('GET /healthz');
  pipeline.socket.resetAndDestroy();
  await until(() => probes.openStreams() === 0);
  await live.call.end();
  await other.call.end();
  // Neither they nor the plain answer after them delay a stop.
  await server.server.server.drain();
});
