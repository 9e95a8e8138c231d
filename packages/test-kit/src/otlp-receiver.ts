import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'other';
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
  readonly scope: string;
  readonly schemaUrl: string;
  readonly service: string;
}

/** What the receiver answers; `hang` answers nothing. */
export type OtlpAnswer = number | 'hang';

/** Receives traces by OTLP over HTTP, as a collector does, and decodes the protobuf messages without a library. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** Everything that arrived, as text: tests look in it for secrets. */
  raw = '';
  answer: OtlpAnswer = 200;
  headers: Readonly<Record<string, unknown>> = {};
  readonly #server: Server;
  readonly #hanging: ServerResponse[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on('request', async (request, response) => {
      const sent = await buffer(request);
      const { answer } = receiver;
      if (answer === 'hang') {
        receiver.#hanging.push(response);
        return;
      }
      if (answer === 200) {
        receiver.headers = request.headers;
        receiver.#take(request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent);
      }
      response.writeHead(answer, { 'content-type': 'application/x-protobuf' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #take(body: Buffer): void {
    this.raw += body.toString('latin1');
    for (const resourceSpans of messages(body, 1)) {
      const resource = toAttributes(messages(messages(resourceSpans, 1)[0] ?? EMPTY, 1));
      for (const scopeSpans of messages(resourceSpans, 2)) {
        const scope = text(messages(scopeSpans, 1)[0] ?? EMPTY, 1);
        const about = { scope, schemaUrl: text(scopeSpans, 3), service: String(resource['service.name']) };
        for (const span of messages(scopeSpans, 2)) this.spans.push({ ...toSpan(span), ...about });
      }
    }
  }

  /** The spans of a trace, in the order of their starts. */
  trace(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId).sort((a, b) => a.startMs - b.startMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const response of this.#hanging) response.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const EMPTY = Buffer.alloc(0);
const KINDS = ['other', 'internal', 'server', 'client'] as const;

type Field = bigint | Buffer;

/** The fields of a protobuf message, by their numbers. */
function readFields(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at] ?? 0;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const readBytes = (length: number): Buffer => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = Number(readVarint());
    const wire = tag & 7;
    const value =
      wire === 0
        ? readVarint()
        : wire === 1
          ? readBytes(8)
          : wire === 5
            ? readBytes(4)
            : readBytes(Number(readVarint()));
    const known = fields.get(tag >> 3);
    if (known === undefined) fields.set(tag >> 3, [value]);
    else known.push(value);
  }
  return fields;
}

const messages = (message: Buffer, field: number) => (readFields(message).get(field) ?? []) as Buffer[];
const bytes = (message: Buffer, field: number) => messages(message, field)[0] ?? EMPTY;
const text = (message: Buffer, field: number) => bytes(message, field).toString('utf8');
const varint = (message: Buffer, field: number) => (readFields(message).get(field)?.[0] ?? 0n) as bigint;
const timeMs = (message: Buffer, field: number) => Number(bytes(message, field).readBigUInt64LE()) / 1e6;

function toSpan(span: Buffer): Omit<ReceivedSpan, 'scope' | 'schemaUrl' | 'service'> {
  return {
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentId: bytes(span, 4).toString('hex'),
    name: text(span, 5),
    kind: KINDS[Number(varint(span, 6))] ?? 'other',
    startMs: timeMs(span, 7),
    endMs: timeMs(span, 8),
    attributes: toAttributes(messages(span, 9)),
    events: messages(span, 11).map((event) => text(event, 2)),
    hasFailed: varint(bytes(span, 15), 3) === 2n,
  };
}

const toAttributes = (pairs: readonly Buffer[]) =>
  Object.fromEntries(pairs.map((pair) => [text(pair, 1), toValue(bytes(pair, 2))]));

function toValue(value: Buffer): unknown {
  for (const [field, [first]] of readFields(value)) {
    if (field === 1) return String(first);
    if (field === 2) return first === 1n;
    if (field === 3) return Number(first);
    if (field === 4) return (first as Buffer).readDoubleLE();
    if (field === 5) return messages(first as Buffer, 1).map(toValue);
  }
  return null;
}
