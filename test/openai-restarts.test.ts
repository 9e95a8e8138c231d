import { test } from 'node:test';
import { Rig, SHORT_LEASE, TEST_API_KEY } from '@runwire/test-kit';
import { count, scale } from '@runwire/test-kit/scale.ts';
import { expectEqual, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { APIError } from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { cites } from '../requirements/cite.ts';
import { clientAt, readAll, shownItems } from './support/openai-team.ts';
import { missingService } from './support/services.ts';

/* The node of a run is killed while `openai` reads the response on another node. */

const skip = (await missingService('postgres')) ?? false;

const openClient = ({ url }: { readonly url: string }) =>
  clientAt(`${url}/v2/integrations/responses/openai/v1`, TEST_API_KEY);

/** `sequence_number` is twice the event id, and an attempt's events begin above a multiple of this. */
const ATTEMPT = 2 * 10 ** 9;

const isOfVoidItem = (event: ResponseStreamEvent) => 'output_index' in event && event.output_index === 2;
/** The first attempt's events of the void item. The takeover closed it. */
const isVoid = (event: ResponseStreamEvent) => isOfVoidItem(event) && event.sequence_number < ATTEMPT;

async function* noting(stream: AsyncIterable<ResponseStreamEvent>, seen: ResponseStreamEvent[]) {
  for await (const event of stream) {
    seen.push(event);
    yield event;
  }
}

test('text that became void is closed as incomplete and missing in the final object', { skip }, async (t) => {
  cites(t, 'compatible-20-responses-void', 'compatible-20-responses-resume');
  const rounds = scale(1, 12);
  await using rig = await Rig.start({ nodes: 2, limits: SHORT_LEASE });
  await rig.prepare({ apiIntegrationId: 'responses', agency: 'test' });
  for (let round = 0; round < rounds; round += 1) {
    const [doomed, other] = [rig.server(0), openClient(rig.server(1))];
    const { id } = await openClient(doomed).responses.create({ input: 'Hi', background: true });
    const seen: ResponseStreamEvent[] = [];
    const whole = readAll(noting(await other.responses.retrieve(id, { stream: true }), seen));
    const first = await rig.model.nextCall();
    await first.text('Kept.');
    await first.toolCall('call_1', 'echo', '{"n":1}');
    await first.end();
    const second = await rig.model.nextCall();
    // From the second round on, the void item has more than one piece.
    for (let piece = 0; piece <= round; piece += 1) await second.text(`void ${piece} `);
    const isLast = (event: ResponseStreamEvent) =>
      event.type === 'response.output_text.delta' && event.delta.includes(`void ${round} `);
    await until('the void text', () => seen.some(isLast));
    await doomed.kill();
    const third = await rig.model.nextCall();
    await third.text('Second.');
    await third.end();
    const { events, response } = await within('the end of the stream', 2 * WAIT_MS, whole);

    const kinds = response.output.map((item) => item.type);
    expectEqual('the final items', kinds, ['message', 'mcp_call', 'message']);
    expectEqual('the final text', shownItems(response).at(-1), ['message', 'completed', 'Second.']);
    const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event] : []));
    const closed = done.map(({ item, output_index: index }) => [index, 'status' in item ? item.status : '']);
    expectEqual('closed items', closed, [
      [0, 'completed'],
      [1, 'completed'],
      [2, 'incomplete'],
      [3, 'completed'],
    ]);
    expectEqual('the stored response', shownItems(await other.responses.retrieve(id)), shownItems(response));
    for (const [index, event] of events.entries()) {
      const query = { stream: true, starting_after: event.sequence_number } as const;
      const continued: string | ResponseStreamEvent[] = await other.responses.retrieve(id, query).then(
        (stream) => Array.fromAsync(stream),
        (error: unknown) => String(error instanceof APIError ? error.code : error),
      );
      const rest = events.slice(index + 1);
      const what = `events after ${event.sequence_number}`;
      if (isVoid(event)) expectEqual(what, continued, 'cursor_void');
      else if (event.sequence_number > ATTEMPT || typeof continued === 'string') expectEqual(what, continued, rest);
      else {
        // The void text is not sent again. Its item is, so that each item has the same `output_index` for every reader.
        const shortly = ['response.output_item.added', 'response.output_item.done'];
        const ofVoid = continued.filter(isOfVoidItem).map(({ type }) => type);
        expectEqual(`${what}, of the void item`, ofVoid, shortly);
        const isOther = (one: ResponseStreamEvent) => !isOfVoidItem(one);
        expectEqual(what, continued.filter(isOther), rest.filter(isOther));
        const numbers = continued.map(({ sequence_number: number }) => number);
        expectEqual(
          `${what}: numbers grow`,
          numbers,
          [...new Set(numbers)].sort((one, two) => one - two),
        );
      }
    }
    rig.servers.splice(0, 1);
    await rig.add();
  }
  count({ takeovers: rounds });
});
