import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig, SHORT_LEASE, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import OpenAI, { APIError } from 'openai';
import { cites } from '../requirements/cite.ts';
import { missingService } from './support/services.ts';

/* The node of a run is killed while `openai` reads the run on another node. */

const skip = (await missingService('postgres')) ?? false;

interface Read {
  text: string;
  error: unknown;
}

test('text that became void is never followed by its second version', { skip }, async (t) => {
  cites(t, 'compatible-20-chat-restarted');
  const rounds = scale(1, 12);
  await using rig = await Rig.start({ nodes: 2, limits: SHORT_LEASE });
  await rig.prepare({ apiIntegrationId: 'chat' });
  let reported = 0;
  for (let round = 0; round < rounds; round += 1) {
    const [doomed, other] = [rig.server(0), rig.server(1)];
    const read = await startReaders([doomed.url, other.url], `round-${round}`);
    const call = await rig.model.nextCall();
    // From the second round on, the client has more than one piece.
    for (let piece = 0; piece <= round; piece += 1) await call.text(`first ${piece} `);
    const last = `first ${round} `;
    await within(
      'the first version',
      WAIT_MS,
      read.until(({ text }) => text.endsWith(last)),
    );
    await doomed.kill();
    const again = await rig.model.nextCall();
    await again.text('second');
    await again.end();
    const [cut, followed] = await within('the end of both streams', 2 * WAIT_MS, read.over);
    assert.ok(cut?.error instanceof Error, 'the connection to the killed node broke');
    if (followed?.error instanceof APIError && followed.error.code === 'answer_restarted') reported += 1;
    expectEqual('second versions after the first', followed?.text.includes('second') === true ? 1 : 0, 0);
    const replay = await startReaders([other.url], `round-${round}`);
    const [whole] = await replay.over;
    expectEqual('the text of the replay', whole?.text, 'second');
    rig.servers.splice(0, 1);
    await rig.add();
  }
  expectEqual('restarts that were reported', reported, rounds);
  count({ restarts: reported });
});

/** Reads one answer at several servers. The first one starts the run. */
async function startReaders(urls: readonly string[], key: string) {
  const reads: Read[] = [];
  const ends: Promise<Read>[] = [];
  let changed = Promise.withResolvers<void>();
  for (const url of urls) {
    const openai = new OpenAI({
      baseURL: `${url}/v2/integrations/chat/openai/v1`,
      apiKey: TEST_API_KEY,
      maxRetries: 0,
    });
    const stream = await openai.chat.completions.create(
      { model: 'chat', messages: [{ role: 'user', content: 'Hello' }], stream: true },
      { headers: { 'Idempotency-Key': key } },
    );
    const read: Read = { text: '', error: null };
    reads.push(read);
    const pump = async () => {
      try {
        for await (const chunk of stream) {
          read.text += chunk.choices[0]?.delta.content ?? '';
          changed.resolve();
          changed = Promise.withResolvers();
        }
      } catch (error) {
        read.error = error;
      }
      return read;
    };
    ends.push(pump());
  }
  return {
    over: Promise.all(ends),
    /** Resolves when the condition is true of every reader. */
    async until(condition: (read: Read) => boolean): Promise<void> {
      while (!reads.every(condition)) await changed.promise;
    },
  };
}
