import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  Listener,
  type ModelRequest,
  type Protocol,
  type ProviderCall,
  providerEvents,
  type StreamScript,
  sseText,
} from '@runwire/test-kit';
import { PROTOCOLS } from '@runwire/test-kit/provider-rig.ts';
import { count, plantedFault, scale } from '@runwire/test-kit/scale.ts';
import { expectAtLeast, expectEqual, Shortfall, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import {
  HaltingListener,
  openReaders,
  type ProtocolReaders,
  type Reading,
} from '../../../test/support/protocol-readers.ts';

const MIN_STREAMS = 40;
const MIN_MESSAGES_STREAMS = 45;
const USAGE = { requestCount: 1, inputTokens: 120, cachedTokens: 64, outputTokens: 33, reasoningTokens: 7 };
const says = (...deltas: string[]): StreamScript => ({ parts: [{ kind: 'text', deltas }], usage: USAGE });
const getData = (name: string) => JSON.parse(readFileSync(new URL(`testing/${name}.json`, import.meta.url), 'utf8'));

type Events = ReturnType<typeof providerEvents>;
/** `scriptText` is the text that the script contains; null if the stream was written as events. */
interface Stream {
  readonly events: Events;
  readonly scriptText: string | null;
}

/** The provider answers, by name. Those of the Messages protocol are written as events, because it has more kinds. */
const SCRIPTS: Readonly<Record<string, StreamScript>> = getData('provider-streams');
const MESSAGES: Readonly<Record<string, Events>> = getData('messages-streams');
/** The streams that `@ai-sdk/anthropic` reads differently from the provider's own client, with the difference. */
const AI_SDK_DIFFERS: Readonly<Record<string, string>> = getData('messages-differs');
const MANY_DELTAS = says(...Array.from({ length: 500 }, (_, i) => `w${i} `));
const MULTI_BYTE = SCRIPTS['multi-byte'] as StreamScript;
const TEN_MEGABYTES = says('x', 'é'.repeat(5 * 1024 * 1024), 'y');
const WIRES = { LF: ['\n', null], CRLF: ['\r\n', null], 'LF with comments': ['\n', 'processing'] } as const;
type Wire = keyof typeof WIRES;
const REASONING: readonly NonNullable<ModelRequest['reasoning']>[] = [
  { effort: 'minimal' },
  { effort: 'high' },
  { effort: 'low', summary: 'auto' },
  { effort: 'medium', summary: 'detailed' },
];

function scripted(protocol: Protocol, script: StreamScript): Stream {
  const scriptText = script.parts.map((part) =>
    'deltas' in part && part.kind !== 'reasoning' ? part.deltas.join('') : '',
  );
  return { events: providerEvents(protocol, script), scriptText: scriptText.join('') };
}

function getStreams(protocol: Protocol): [string, Stream][] {
  const own: [string, Stream][] =
    protocol === 'messages'
      ? Object.entries(MESSAGES).map(([name, events]) => [name, { events, scriptText: null }])
      : Object.entries(SCRIPTS).map(([name, script]) => [name, scripted(protocol, script)]);
  return [...own, ['many deltas', scripted(protocol, MANY_DELTAS)]];
}

/** What reaches our decoder. A fault removes what a decoder with this fault would lose. */
const DAMAGE: Readonly<Record<string, (events: Events) => Events>> = {
  'drop-last-event': (events) => events.slice(0, -1),
  'drop-signature': (events) => events.filter((event) => !JSON.stringify(event).includes('"signature_delta"')),
};

class Comparison {
  readonly #protocol: Protocol;
  readonly #readers: ProtocolReaders;
  readonly #damage: ((events: Events) => Events) | null;
  readonly figures = { streams: 0, cuts: 0, halts: 0, asked: 0, ai_sdk_alike: 0, ai_sdk_differ: 0 };

  constructor(protocol: Protocol, readers: ProtocolReaders, fault: string | null) {
    this.#protocol = protocol;
    this.#readers = readers;
    this.#damage = DAMAGE[fault ?? ''] ?? null;
  }

  #play(bytes: Buffer, cuts: readonly number[], read: () => Promise<Reading>, what: string) {
    this.#readers.provider.onCall = (call) => void call.pieces(bytes, cuts).then(() => call.end());
    return within(what, WAIT_MS, read());
  }

  /** The same bytes, cut at the same places, to both clients; to ours once more with pauses. */
  async compare(name: string, stream: Stream, wire: Wire = 'LF', { as = name, cuts = [] as readonly number[] } = {}) {
    const { official, ours } = this.#readers;
    const { events, scriptText } = stream;
    const what = `${this.#protocol}, ${as}`;
    const sent = toBytes(events, wire);
    const received = this.#damage === null ? sent : toBytes(this.#damage(events), wire);
    const theirs = await this.#play(sent, cuts, () => official(name), what);
    const own = await this.#play(received, cuts, () => ours(name, new Listener()), what);
    for (const field of Object.keys(theirs)) expectEqual(`${what}: ${field}`, own[field], theirs[field]);
    if (scriptText !== null && 'text' in own) expectEqual(`${what}: text as it was written`, own.text, scriptText);
    const halting = new HaltingListener();
    const paused = await this.#play(received, cuts, () => ours(name, halting), what);
    expectEqual(`${what}: read with pauses`, paused, own);
    this.figures.halts += halting.halts;
    return theirs;
  }

  async allWires(): Promise<void> {
    for (const wire of Object.keys(WIRES) as Wire[]) {
      for (const [name, stream] of getStreams(this.#protocol)) {
        const theirs = await this.compare(name, stream, wire, { as: `${name} by ${wire}` });
        this.figures.streams += 1;
        if (wire === 'LF') await this.#byAiSdk(name, stream, theirs);
      }
    }
    await this.compare('10 MB delta', scripted(this.#protocol, TEN_MEGABYTES));
    this.figures.streams += 1;
  }

  async #byAiSdk(name: string, { events }: Stream, theirs: Reading): Promise<void> {
    const { aiSdk } = this.#readers;
    if (aiSdk === null) return;
    const what = `AI SDK, ${name}`;
    const read = await this.#play(toBytes(events), [], () => aiSdk(name, new Listener()), what);
    if (!(name in AI_SDK_DIFFERS)) {
      for (const field of Object.keys(theirs)) expectEqual(`${what}: ${field}`, read[field], theirs[field]);
      this.figures.ai_sdk_alike += 1;
      return;
    }
    // If the list named streams that are read alike, it would hide a later difference.
    const differs = JSON.stringify(read) !== JSON.stringify(theirs);
    if (!differs) throw new Shortfall(`${what}: expected a difference (${AI_SDK_DIFFERS[name]}), found none.`);
    this.figures.ai_sdk_differ += 1;
  }

  /** At every byte around the text itself, and elsewhere as often as asked; these streams in single bytes. */
  async cutAnywhere(everyByte: number, streams: readonly string[]): Promise<void> {
    const multiByte = scripted(this.#protocol, MULTI_BYTE);
    const bytes = toBytes(multiByte.events);
    const isNearText = (at: number) => bytes.subarray(at - 2, at + 2).some((byte) => byte >= 0x80);
    for (const at of allCuts(bytes).filter((place) => place % everyByte === 0 || isNearText(place))) {
      const as = `multi-byte text cut at byte ${at}`;
      await this.compare('multi-byte', multiByte, 'LF', { as, cuts: [at] });
      this.figures.cuts += 1;
    }
    const { ours } = this.#readers;
    for (const [name, { events }] of getStreams(this.#protocol)) {
      if (!streams.includes(name)) continue;
      const what = `${this.#protocol}, ${name} in single bytes`;
      const whole = toBytes(events);
      const read = (cuts: readonly number[]) => this.#play(whole, cuts, () => ours(name, new Listener()), what);
      expectEqual(what, await read(allCuts(whole)), await read([]));
      this.figures.cuts += whole.length - 1;
    }
  }

  /** What an agent asks of reasoning is sent as the official client sends it. */
  async reasoning(): Promise<void> {
    const { provider, askForReasoning } = this.#readers;
    if (askForReasoning === null) return;
    for (const reasoning of REASONING) {
      const bodies: ProviderCall['body'][] = [];
      provider.onCall = (call) => {
        bodies.push(call.body);
        void call.stream(sseText(providerEvents(this.#protocol, says('Hello'))));
      };
      await askForReasoning(reasoning);
      const [ours, theirs] = bodies.map((body) => [body.reasoning ?? null, body.reasoning_effort ?? null]);
      expectEqual(`${this.#protocol}, reasoning asked for by ${JSON.stringify(reasoning)}`, ours, theirs);
      this.figures.asked += 1;
    }
  }
}

function toBytes(events: Events, wire: Wire = 'LF'): Buffer {
  const [lineEnd, comment] = WIRES[wire];
  return Buffer.from(sseText(events, lineEnd, comment));
}

const allCuts = (bytes: Buffer) => Array.from({ length: bytes.length - 1 }, (_, i) => i + 1);
/** The short form cuts these at every byte, and the full form all. */
const CUT_SHORT = ['multi-byte', 'interleaved thinking'];

test('our adapters read what the official clients read', async () => {
  const fault = plantedFault();
  const figures: Record<string, number> = { streams: 0 };
  for (const protocol of PROTOCOLS) {
    await using readers = await openReaders(protocol);
    const comparison = new Comparison(protocol, readers, fault);
    await comparison.allWires();
    const all = getStreams(protocol).map(([name]) => name);
    await comparison.cutAnywhere(
      scale(25, 1),
      scale(
        CUT_SHORT,
        all.filter((name) => name !== 'many deltas'),
      ),
    );
    await comparison.reasoning();
    const { streams, cuts, halts, asked, ...aiSdk } = comparison.figures;
    figures.streams = (figures.streams ?? 0) + streams;
    expectAtLeast(`${protocol}: halts`, halts, MIN_STREAMS);
    Object.assign(figures, { [`${protocol}_cuts`]: cuts, [`${protocol}_halts`]: halts });
    if (readers.askForReasoning !== null) figures[`${protocol}_reasoning_asked`] = asked;
    if (readers.aiSdk !== null) Object.assign(figures, aiSdk);
  }
  expectAtLeast('streams of the Messages protocol', Object.keys(MESSAGES).length, MIN_MESSAGES_STREAMS);
  expectAtLeast('streams read alike', figures.streams ?? 0, MIN_STREAMS);
  count(figures);
});
