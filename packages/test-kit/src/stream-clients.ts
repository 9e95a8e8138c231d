import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseFrames, withoutComments } from '@runwire/server/testing';

// Under `-C runwire` the package's name leads to TypeScript in node_modules, which Node does not run.
const parserBuild = new URL('./dist/index.js', import.meta.resolve('eventsource-parser/package.json'));
const { createParser } = (await import(parserBuild.href)) as typeof import('eventsource-parser');

export interface ReadRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for a GET. */
  readonly body: string | null;
}

/** Reads an answer piece by piece; true if it ended normally. */
export type Transport = (
  request: ReadRequest,
  onText: (text: string) => void,
  signal?: AbortSignal,
) => Promise<boolean>;

/** curl's exit codes for an answer that ends early and for a connection that is reset. */
const CURL_CUT = [18, 56];

export const byCurl: Transport = async ({ url, headers, body }, onText, signal) => {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const data = body === null ? [] : ['--data-binary', body];
  const code = await lines('curl', ['-sN', '--fail', ...given, ...data, url], onText, signal);
  if (code !== 0 && code !== null && !CURL_CUT.includes(code)) throw new Error(`curl ended with ${code}.`);
  return code === 0;
};

export const byFetch: Transport = async ({ url, headers, body }, onText, signal) => {
  const method = body === null ? 'GET' : 'POST';
  const answer = await fetch(url, { method, headers, body, ...(signal === undefined ? {} : { signal }) });
  if (answer.status !== 200) throw new Error(`fetch was answered ${answer.status}.`);
  const decoder = new TextDecoder();
  try {
    for await (const chunk of answer.body ?? []) onText(decoder.decode(chunk, { stream: true }));
    return true;
  } catch {
    return false;
  }
};

/** Runs a program; resolves to its exit code, or null if it was killed. */
function lines(program: string, args: readonly string[], onText: (text: string) => void, signal?: AbortSignal) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  signal?.addEventListener('abort', () => child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8').on('data', onText);
  return new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
}

export interface ReceivedEvent {
  /** Null if the client does not look at ids. */
  readonly id: number | null;
  readonly event: string | null;
  readonly data: string;
}

/** What one client has read of one stream so far. */
export class Reading {
  readonly seen: ReceivedEvent[] = [];
  /** The deltas' text. */
  answer = '';
  readonly over: Promise<string>;
  readonly #abort = new AbortController();
  #end: string | null = null;
  #news = Promise.withResolvers<void>();

  constructor(read: (reading: Reading, signal: AbortSignal) => Promise<boolean>) {
    const finish = (end: string) => {
      this.#end = end;
      this.#news.resolve();
      return end;
    };
    const done = read(this, this.#abort.signal);
    this.over = done.then(
      (isWhole) => finish(isWhole ? 'whole' : 'cut'),
      (error) => finish(String(error)),
    );
  }

  push(...all: readonly ReceivedEvent[]): void {
    this.seen.push(...all);
    for (const { data } of all) {
      if (data.includes('"response.output_text.delta"')) this.answer += JSON.parse(data).data.data.delta;
    }
    this.#news.resolve();
  }

  async until(condition: (reading: Reading) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#end !== null) throw new Error(`The client stopped (${this.#end}) too early.`);
      this.#news = Promise.withResolvers();
      await this.#news.promise;
    }
  }

  cut(): void {
    this.#abort.abort();
  }
}

/** Takes a stream's text as it arrives. */
type Parser = (into: Reading) => (text: string) => void;

const wholeBlocks = (end: string, take: (blocks: string) => void) => {
  let rest = '';
  return (text: string) => {
    rest += text;
    const whole = rest.lastIndexOf(end) + end.length;
    if (whole < end.length) return;
    take(rest.slice(0, whole));
    rest = rest.slice(whole);
  };
};
const frames: Parser = (into) => wholeBlocks('\n\n', (blocks) => into.push(...parseFrames(blocks)));
/** The parser that most JavaScript SDKs use. */
const eventsourceParser: Parser = (into) => {
  const parser = createParser({
    onEvent: ({ id, event, data }) => into.push({ id: Number(id), event: event ?? null, data }),
  });
  return (text) => parser.feed(text);
};
/** As the clients of agency-swarm: `data: ` is JSON until `[DONE]`, `event: ` names it, every other line is skipped. */
const agencySwarm: Parser = (into) => {
  let event: string | null = null;
  return wholeBlocks('\n', (blocks) => {
    for (const line of blocks.split('\n')) {
      if (line.startsWith('event: ')) event = line.slice(7);
      if (!line.startsWith('data: ')) continue;
      const data = line.slice(6);
      if (data !== '[DONE]') JSON.parse(data);
      into.push({ id: null, event, data });
      event = null;
    }
  });
};

export interface StreamClient {
  readonly name: string;
  /** `events`: it cannot post, and reads the resume address from the start. */
  readonly reads: 'completion' | 'events';
  /** How it continues after a cut: by itself, if it is asked again, or never, because it sees no ids. */
  readonly resumes: 'itself' | 'asked' | 'never';
  read(request: ReadRequest): Reading;
}

const client = (name: string, transport: Transport, parser: Parser, resumes: StreamClient['resumes'] = 'asked') => ({
  name,
  reads: 'completion' as const,
  resumes,
  read: (request: ReadRequest) => new Reading((into, signal) => transport(request, parser(into), signal)),
});

const libraryProcess = fileURLToPath(new URL('./library-clients.ts', import.meta.url));

/** A library in a process of its own, which prints what it reads as lines of JSON and reconnects by itself. */
const library = (name: string, reads: StreamClient['reads']): StreamClient => ({
  name,
  reads,
  resumes: 'itself',
  read: (request) =>
    new Reading(async (into, signal) => {
      const args = ['-C', 'runwire', libraryProcess, name, JSON.stringify(request)];
      // Not by `readline`, for which U+2028 ends a line.
      const take = wholeBlocks('\n', (all) =>
        into.push(
          ...all
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as ReceivedEvent),
        ),
      );
      return (await lines(process.execPath, args, take, signal)) === 0;
    }),
});

export const STREAM_CLIENTS: readonly StreamClient[] = [
  client('curl', byCurl, frames),
  client('fetch', byFetch, frames),
  client('eventsource-parser', byFetch, eventsourceParser),
  library('fetch-event-source', 'completion'),
  library('eventsource', 'events'),
  client('agency-swarm', byFetch, agencySwarm, 'never'),
];

/** A stream's whole frames as text, without comments and without what a `resumed` frame made void. */
export function keptFrames(...texts: readonly string[]): string[] {
  let kept: string[] = [];
  for (const text of texts) {
    const whole = withoutComments(text.slice(0, text.lastIndexOf('\n\n') + 2));
    for (const frame of whole === '' ? [] : whole.split(/(?<=\n\n)/)) {
      const [parsed] = parseFrames(frame);
      if (parsed?.event === 'resumed') {
        const { discard_after: last } = JSON.parse(parsed.data) as { discard_after: number };
        kept = kept.filter((other) => (parseFrames(other)[0]?.id ?? 0) <= last);
      }
      kept.push(frame);
    }
  }
  return kept;
}
