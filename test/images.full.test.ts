import { hash } from 'node:crypto';
import { test } from 'node:test';
import { type FollowedRun, type Protocol, type ProviderCall, providerEvents, Rig, sseText } from '@runwire/test-kit';
import { makeOnePixelPng } from '@runwire/test-kit/sample-images.ts';
import { count, plantedFault } from '@runwire/test-kit/scale.ts';
import { expectEqual, named, until, WAIT_MS, within } from '@runwire/test-kit/shortfall.ts';
import { ADAPTERS } from './support/adapters-under-test.ts';
import { MODELS, openFourProviders, PROVIDERS } from './support/four-providers.ts';
import { scripted } from './support/mcp-agency.ts';
import { at, upload } from './support/uploads.ts';

const USAGE = { requestCount: 1, inputTokens: 40, cachedTokens: 0, outputTokens: 6, reasoningTokens: 0 };
const SOURCES = ['tool', 'mcp', 'file'] as const;
const COUNTS = [1, 8, 9];
/** The model of each provider that the settings declare to have no images. */
const BLIND = ' without images';

/** The same image as `picture` in the scripted MCP server, and in the agency's tool below. */
const picture = (n: number) => makeOnePixelPng(3000 + n, n);

const TOOLS = `const picture = (n: number) => {
  const bytes = Buffer.alloc(3000 + n, n);
  Buffer.from('89504e470d0a1a0a', 'hex').copy(bytes);
  bytes.writeUInt32BE(1, 16);
  bytes.writeUInt32BE(1, 20);
  return bytes;
};
export const look = {
  description: 'Looks.',
  inputSchema: { type: 'object', properties: { count: { type: 'integer' } } },
  execute: ({ count }: { count: number }) => count,
  toModelOutput: ({ output }: { output: number }) => ({
    type: 'content',
    value: Array.from({ length: output }, (_, n) => ({
      type: 'image-data',
      data: picture(n).toString('base64'),
      mediaType: 'image/png',
    })),
  }),
};
`;

const agencyText = (model: string) => `name: Eyes
model: ${model}
toolFiles: [./tools.ts]
mcp:
  eyes: { ${scripted()} }
agents:
  - name: A
    instructions: Look.
    tools: [look, show_file]
`;

type Source = (typeof SOURCES)[number];

const listCalls = (source: Source, images: number): [string, string, string][] => {
  const given = JSON.stringify({ count: images });
  if (source === 'tool') return [['call_0', 'look', given]];
  if (source === 'mcp') return [['call_0', 'eyes_picture', given]];
  return Array.from({ length: images }, (_, n) => [
    `call_${n}`,
    'show_file',
    JSON.stringify({ path: `/app/mnt/p/${n}.png` }),
  ]);
};

/** The messages of a request. */
const messages = ({ body }: ProviderCall): readonly unknown[] => body.input ?? body.messages;

const digest = (value: unknown) => hash('sha256', JSON.stringify(value)).slice(0, 16);

/** The images of a request, by their bytes and in their order. */
function imagesIn(value: unknown): string[] {
  if (typeof value === 'string') {
    const [, base64] = /^data:image\/png;base64,(.*)$/.exec(value) ?? [];
    return base64 === undefined ? [] : [hash('sha256', Buffer.from(base64, 'base64')).slice(0, 8)];
  }
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && value.type === 'base64' && 'data' in value)
    return imagesIn(`data:image/png;base64,${value.data}`);
  return Object.values(value).flatMap(imagesIn);
}

/** A run of one case, and the provider's calls in their order. */
class Case {
  readonly calls: ProviderCall[] = [];
  readonly label: string;
  readonly provider: string;
  readonly protocol: Protocol;
  readonly source: Source;
  readonly images: number;
  readonly isBlind: boolean;

  constructor(place: number, source: Source, images: number, isBlind: boolean) {
    const { name = '', protocol = 'responses' } = ADAPTERS[place] ?? {};
    this.label = `${name}${isBlind ? BLIND : ''}, ${source} ${images}`;
    this.provider = `${PROVIDERS[place]}${isBlind ? '-blind' : ''}`;
    this.protocol = protocol;
    this.source = source;
    this.images = images;
    this.isBlind = isBlind;
  }

  take(call: ProviderCall): void {
    this.calls.push(call);
    const says = (text: string) => this.#answer(call, [{ kind: 'text', deltas: [text] }]);
    // The second call waits: the server is killed while it is open.
    if (this.calls.length === 1) this.#answer(call, [{ kind: 'calls', calls: listCalls(this.source, this.images) }]);
    else if (this.calls.length === 3) says('Seen.');
    else if (this.calls.length === 4) says('Yes.');
  }

  #answer(call: ProviderCall, parts: Parameters<typeof providerEvents>[1]['parts']): void {
    void call.stream(sseText(providerEvents(this.protocol, { parts, usage: USAGE })));
  }

  /** What the model was shown after the calls, and that it was shown the same later. */
  check(): number {
    const [, shown, again, later] = this.calls;
    if (shown === undefined || again === undefined || later === undefined) throw new Error('A call is missing.');
    const isNamed = this.source !== 'file' && this.images > 8;
    const expected = Array.from({ length: isNamed ? 8 : this.images }, (_, n) =>
      hash('sha256', picture(n)).slice(0, 8),
    );
    expectEqual(`${this.label}: images`, imagesIn(messages(shown)), this.isBlind ? [] : expected);
    const named = shown.text.split('[image, image/png, ').length - 1;
    expectEqual(`${this.label}: names in brackets`, named, this.isBlind ? this.images : Number(isNamed));
    expectEqual(`${this.label}: prompt after kill -9`, digest(messages(again)), digest(messages(shown)));
    const known = messages(shown).length;
    expectEqual(
      `${this.label}: prompt of the next turn`,
      digest(messages(later).slice(0, known)),
      digest(messages(shown)),
    );
    return this.isBlind ? 0 : expected.length;
  }
}

const isEnded = ({ frames }: FollowedRun) =>
  frames.find(({ event }) => event === 'messages')?.data.includes('"completed"');

test('images from tools reach the models by all protocols, in every turn and attempt', async () => {
  const fault = plantedFault();
  await using stack = new AsyncDisposableStack();
  const cases = ADAPTERS.flatMap((_, place) => [
    ...SOURCES.flatMap((source) => COUNTS.map((images) => new Case(place, source, images, false))),
    new Case(place, 'tool', 9, true),
  ]);
  const files: Record<string, string> = {};
  for (const [place, model] of MODELS.entries()) {
    const provider = PROVIDERS[place] ?? '';
    for (const [name, asked] of [
      [provider, model],
      [`${provider}-blind`, model.replace(/[^/]*$/, 'blind')],
    ] as const) {
      files[`${name}/agency.yaml`] = agencyText(asked);
      files[`${name}/tools.ts`] = TOOLS;
    }
  }
  const env = await openFourProviders(
    stack,
    files,
    (_, call) => {
      const one = cases.find(({ label }) => call.text.includes(`<${label}>`));
      if (one === undefined) throw new Error('A call of no run.');
      one.take(call);
    },
    '{ blind: { images: false } }',
  );
  await using rig = await Rig.start({ fault, env, scripted: false });
  for (const provider of new Set(cases.map((one) => one.provider))) {
    await rig.prepare({ apiIntegrationId: provider, agency: provider, fileAccess: 'all' });
    for (let n = 0; n < 9; n += 1) {
      await upload(rig.api(), picture(n), {
        apiIntegrationId: provider,
        ...at(`/app/mnt/p/${n}.png`),
        contentType: 'image/png',
      });
    }
  }
  await until('connection of the MCP servers', async () => {
    const { body } = await rig.api().get('/metrics');
    return (String(body).match(/^runwire_mcp_connected\{.*\} 1$/gm) ?? []).length === 2 * PROVIDERS.length;
  });
  const ask = ({ provider, label }: Case, message: string) =>
    rig.api().complete({ apiIntegrationId: provider, chatId: label.replaceAll(/\W/g, '-'), message });
  const runs = await Promise.all(cases.map(async (one) => ({ one, reader: await ask(one, `<${one.label}>`) })));
  await until('second call of each run', async () => cases.every(({ calls }) => calls.length === 2));
  await rig.server().kill();
  await Promise.all(runs.map(({ reader }) => reader.over));
  rig.servers.length = 0;
  await rig.add({ fault });
  for (const { one, reader } of runs) {
    const run = await named(one.label, rig.follow(reader, { integration: one.provider }));
    expectEqual(`${one.label}: end`, isEnded(run), true);
    const next = await ask(one, 'And?');
    await within(`${one.label}: the next turn`, WAIT_MS, next.over);
    expectEqual(`${one.label}: answer of the next turn`, next.answer, 'Yes.');
  }
  let images = 0;
  for (const one of cases) images += one.check();
  count({ adapters: ADAPTERS.length, cases: cases.length, images });
});
