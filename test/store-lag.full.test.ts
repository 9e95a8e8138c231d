import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FakeProvider, hookStore, providerEvents, StoreUnavailable, sseText, startTestServer } from '@runwire/test-kit';
import { until } from '@runwire/test-kit/shortfall.ts';

const MEBIBYTE = 1024 * 1024;
const DELTAS = 5000;
const PIECE = 'four words and more '.repeat(50);
/** OpenAI pads its events like this: the wire has ten times the text's bytes. */
const PADDING = 'x'.repeat(9000);
const SILENCE_MS = 10_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function memoryBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** A store that accepts no events until the test allows it: it hangs, or reports that it is unavailable. */
function laggingStore(how: 'hangs' | 'is away') {
  let back = Promise.withResolvers<void>();
  back.resolve();
  const state = { lags: false };
  const wrapStore = hookStore({
    transact: async (name, transact) => {
      if (state.lags && (name === 'flush' || name === 'step' || name === 'end')) {
        if (how === 'is away') throw new StoreUnavailable('The store is away.');
        await back.promise;
      }
      return transact();
    },
  });
  const comeBack = () => {
    state.lags = false;
    back.resolve();
  };
  return {
    wrapStore,
    leave() {
      state.lags = true;
      back = Promise.withResolvers<void>();
    },
    comeBack,
    /** If a test fails, the server can still stop. */
    [Symbol.dispose]: comeBack,
  };
}

for (const how of ['hangs', 'is away'] as const) {
  test(`while the store ${how} a provider is not read past the bound, its run lives, and then nothing is lost`, async () => {
    const store = laggingStore(how);
    await using provider = await FakeProvider.start();
    const env = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: provider.baseUrl, RUNWIRE_MODEL: 'openai/m' };
    const limits = { modelSilenceMs: SILENCE_MS, heartbeatMs: 200 };
    await using server = await startTestServer({ env, limits, wrapStore: store.wrapStore });
    using _ = store;
    const { probes } = server.server;
    const reader = await server.api.complete({});
    const call = await provider.nextCall();

    const before = memoryBytes();
    store.leave();
    const parts = [{ kind: 'text' as const, deltas: [PIECE] }];
    const events = providerEvents('responses', { parts }) as Readonly<Record<string, unknown>>[];
    const at = events.findIndex(({ type }) => type === 'response.output_text.delta');
    const delta = sseText([{ ...events[at], obfuscation: PADDING }]);
    let sentBytes = 0;
    const sending = (async () => {
      await call.bytes(sseText(events.slice(0, at)));
      for (let i = 0; i < DELTAS; i += 1) {
        await call.bytes(delta);
        sentBytes += delta.length;
      }
      await call.stream(sseText(events.slice(-1)));
    })();

    await until('unstored bytes up to the bound', () => probes.unstoredBytes() >= MEBIBYTE);
    // Longer than a provider may be silent, while its kernel accepts no more bytes: the server is not reading.
    const heldUntil = performance.now() + 1.2 * SILENCE_MS;
    for (let seen = -1; seen !== sentBytes || performance.now() < heldUntil; ) {
      seen = sentBytes;
      await new Promise((resolve) => setTimeout(resolve, 2000));
    }
    assert.ok(DELTAS * delta.length > 47 * MEBIBYTE);
    assert.ok(sentBytes < 35 * MEBIBYTE, `the provider could send ${sentBytes} bytes`);
    // The bytes of one read of the connection are added to the limit.
    assert.ok(probes.unstoredBytes() < MEBIBYTE + 256 * 1024, `unstored: ${probes.unstoredBytes()}`);
    const grown = memoryBytes() - before;
    assert.ok(grown < 40 * MEBIBYTE, `memory grew by ${grown} bytes`);
    const heard = reader.text.length;
    await reader.until(
      ({ text }) =>
        text
          .slice(heard)
          .split('\n')
          .filter((line) => line.startsWith(':')).length >= 3,
    );
    assert.equal(reader.frames.at(-1)?.event, null, 'the run has not ended');

    store.comeBack();
    await sending;
    const frames = await reader.whole();
    assert.equal(frames.at(-1)?.event, 'end');
    assert.equal(reader.answer === PIECE.repeat(DELTAS), true);
    assert.equal(probes.unstoredBytes(), 0);
    const replay = await server.api.events(String(reader.headers['x-run-id']), null);
    await replay.whole();
    assert.equal(replay.answer === reader.answer, true, 'and it is stored whole');
  });
}

test('the bound over all runs pauses each of them, and then they continue', async () => {
  const store = laggingStore('hangs');
  await using provider = await FakeProvider.start();
  const env = {
    OPENAI_API_KEY: 'sk-1',
    OPENAI_BASE_URL: provider.baseUrl,
    RUNWIRE_MODEL: 'openai/m',
    RUNWIRE_OPENAI_API: 'chat',
  };
  const unstoredBytes = 300 * 1024;
  await using server = await startTestServer({ env, limits: { unstoredBytes }, wrapStore: store.wrapStore });
  using _ = store;
  const { probes } = server.server;
  store.leave();
  const text = Array.from({ length: 1000 }, (_, i) => `${i} ${'y'.repeat(1000)}`);
  const wire = sseText(providerEvents('chat', { parts: [{ kind: 'text', deltas: text }] }));
  provider.onCall = (call) => void call.stream(wire);
  const readers = await Promise.all(Array.from({ length: 4 }, () => server.api.complete({})));
  await until('unstored bytes up to the bound', () => probes.unstoredBytes() >= unstoredBytes);
  await new Promise((resolve) => setTimeout(resolve, 500));
  // Each run adds at most what it had read when the bound was reached.
  assert.ok(probes.unstoredBytes() < unstoredBytes + 4 * 128 * 1024, `unstored: ${probes.unstoredBytes()}`);
  store.comeBack();
  for (const reader of readers) {
    await reader.whole();
    assert.equal(reader.answer === text.join(''), true);
  }
});
