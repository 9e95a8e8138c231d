import { readFileSync } from 'node:fs';
import {
  Listener,
  type ModelRequest,
  type Protocol,
  type ProviderCall,
  providerEvents,
  type StreamScript,
  sseText,
} from '@runwire/test-kit';
import { type ReadAnswer, readByOfficialClient } from '@runwire/test-kit/official-client.ts';
import { KEY, PROTOCOLS, setUp } from '@runwire/test-kit/openai-rig.ts';
import { expectAtLeast, expectEqual, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import OpenAI from 'openai';
import type { Proof } from './support/proof.ts';

const MIN_STREAMS = 40;
const USAGE = { requestCount: 1, inputTokens: 120, cachedTokens: 64, outputTokens: 33, reasoningTokens: 7 };
const says = (...deltas: string[]): StreamScript => ({ parts: [{ kind: 'text', deltas }], usage: USAGE });

/** The answers of providers, by name. Each script is played in both protocols and over every wire. */
const SCRIPTS: Readonly<Record<string, StreamScript>> = {
  ...JSON.parse(readFileSync(new URL('data/provider-streams.json', import.meta.url), 'utf8')),
  'many deltas': says(...Array.from({ length: 500 }, (_, i) => `w${i} `)),
};
const MULTI_BYTE = SCRIPTS['multi-byte'] as StreamScript;
const TEN_MEGABYTES = says('x', 'é'.repeat(5 * 1024 * 1024), 'y');
const WIRES = { LF: ['\n', null], CRLF: ['\r\n', null], 'LF with comments': ['\n', 'processing'] } as const;
const REASONING: readonly NonNullable<ModelRequest['reasoning']>[] = [
  { effort: 'minimal' },
  { effort: 'high' },
  { effort: 'low', summary: 'auto' },
  { effort: 'medium', summary: 'detailed' },
];

/** Is full after each piece, and has room again in the next turn of the event loop. */
class HaltingListener extends Listener {
  halts = 0;
  #taken = 0;
  override get isFull(): boolean {
    return this.heard.length > this.#taken;
  }
  override onceRoom(onRoom: () => void): void {
    this.halts += 1;
    setImmediate(() => {
      this.#taken = this.heard.length;
      onRoom();
    });
  }
}

/** The bytes that a decoder would see that loses the last event. */
function withoutLast(bytes: Buffer): Buffer {
  const text = bytes.toString().trimEnd();
  return Buffer.from(text.slice(0, Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\r\n\r\n')) + 1));
}

async function compareAll(protocol: Protocol, dropLast: boolean, everyByte: number) {
  await using rig = await setUp(protocol);
  const { provider, ask } = rig;
  const client = new OpenAI({ baseURL: provider.baseUrl, apiKey: KEY, maxRetries: 0 });
  const figures = { streams: 0, cuts: 0, halts: 0, asked: 0 };
  const bytesOf = (script: StreamScript, wire: readonly [string, string | null] = WIRES.LF) =>
    Buffer.from(sseText(providerEvents(protocol, script), ...wire));

  const readByUs = async (output: Listener): Promise<ReadAnswer> => {
    let failed = false;
    const result = await ask({}, undefined, output).done.catch((error: Error) => {
      if (error.name !== 'RunFailure') throw error;
      failed = true;
    });
    const usage = result?.usage ?? output.reported;
    return {
      text: output.all('text'),
      reasoning: output.all('reasoning'),
      // A call of a failed response is never made.
      calls: failed ? [] : output.calls,
      usage: usage && [usage.inputTokens, usage.cachedTokens, usage.outputTokens, usage.reasoningTokens],
      failed,
    };
  };

  /** The same bytes, cut at the same places, to both clients; to ours once more with pauses. */
  const compare = async (name: string, script: StreamScript, bytes: Buffer, cuts: readonly number[] = []) => {
    const what = `${protocol}, ${name}`;
    const play = (sent: Buffer, read: () => Promise<ReadAnswer>) => {
      provider.onCall = (call) => void call.pieces(sent, cuts).then(() => call.end());
      return within(what, WAIT_MS, read());
    };
    const theirs = await play(bytes, () => readByOfficialClient(client, protocol));
    const ours = await play(dropLast ? withoutLast(bytes) : bytes, () => readByUs(new Listener()));
    for (const field of ['failed', 'text', 'reasoning', 'calls', 'usage'] as const) {
      expectEqual(`${what}: ${field}`, ours[field], theirs[field]);
    }
    const said = script.parts.map((part) =>
      'deltas' in part && part.kind !== 'reasoning' ? part.deltas.join('') : '',
    );
    expectEqual(`${what}: text as it was written`, ours.text, said.join(''));
    const halting = new HaltingListener();
    expectEqual(`${what}: read with pauses`, await play(bytes, () => readByUs(halting)), ours);
    figures.halts += halting.halts;
  };

  for (const [wire, lines] of Object.entries(WIRES)) {
    for (const [name, script] of Object.entries(SCRIPTS)) {
      await compare(`${name} by ${wire}`, script, bytesOf(script, lines));
      figures.streams += 1;
    }
  }
  await compare('10 MB delta', TEN_MEGABYTES, bytesOf(TEN_MEGABYTES));
  const bytes = bytesOf(MULTI_BYTE);
  const all = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
  await compare('multi-byte text in single bytes', MULTI_BYTE, bytes, all);
  figures.streams += 2;
  // At every byte around the text itself, and elsewhere as often as asked.
  const isNearText = (at: number) => bytes.subarray(at - 2, at + 2).some((byte) => byte >= 0x80);
  for (const at of all.filter((place) => place % everyByte === 0 || isNearText(place))) {
    await compare(`multi-byte text cut at byte ${at}`, MULTI_BYTE, bytes, [at]);
    figures.cuts += 1;
  }
  // What an agent asks of reasoning is sent as the official client sends it.
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  for (const reasoning of REASONING) {
    const bodies: ProviderCall['body'][] = [];
    provider.onCall = (call) => {
      bodies.push(call.body);
      void call.stream(bytesOf(says('Hello')));
    };
    await ask({ reasoning }).done;
    const effort = reasoning.effort ?? null;
    if (protocol === 'responses') await client.responses.stream({ model: 'm', input: 'Hi', reasoning }).finalResponse();
    else await client.chat.completions.stream({ model: 'm', messages, reasoning_effort: effort }).finalChatCompletion();
    const [ours, theirs] = bodies.map((body) => [body.reasoning ?? null, body.reasoning_effort ?? null]);
    expectEqual(`${protocol}, reasoning asked for by ${JSON.stringify(reasoning)}`, ours, theirs);
    figures.asked += 1;
  }
  return figures;
}

export const proof: Proof = {
  name: 'adapters',
  minutes: 1.3,
  faults: { 'drop-last-event': /^responses, plain by LF: failed: expected false, found true\.$/m },
  figures: () => ({ responses_reasoning_asked: 4, chat_reasoning_asked: 4 }),
  async run({ fault, scale }) {
    const figures = { streams: 0 };
    for (const protocol of PROTOCOLS) {
      const { streams, cuts, halts, asked } = await compareAll(protocol, fault !== null, scale(25, 1));
      figures.streams += streams;
      expectAtLeast(`${protocol}: halts`, halts, MIN_STREAMS);
      const own = { [`${protocol}_cuts`]: cuts, [`${protocol}_halts`]: halts, [`${protocol}_reasoning_asked`]: asked };
      Object.assign(figures, own);
    }
    expectAtLeast('streams read alike', figures.streams, MIN_STREAMS);
    return figures;
  },
};
