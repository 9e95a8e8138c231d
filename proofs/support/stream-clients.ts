import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseFrames } from '@runwire/test-kit';

// Under `-C runwire` its name stands for TypeScript inside node_modules, which Node does not run: its build is named.
const parserBuild = new URL('./dist/index.js', import.meta.resolve('eventsource-parser/package.json'));
const { createParser } = (await import(parserBuild.href)) as typeof import('eventsource-parser');

export interface StreamRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: a GET. */
  readonly body: string | null;
}

export interface Seen {
  /** Null: the client does not look at ids. */
  readonly id: number | null;
  readonly event: string | null;
  readonly data: string;
}

/** What one client has made of one stream so far. */
export class Reading {
  readonly seen: Seen[] = [];
  /** The text of the deltas. */
  answer = '';
  readonly #abort = new AbortController();
  #wake: (() => void)[] = [];
  #over: string | null = null;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  push(seen: Seen): void {
    this.seen.push(seen);
    if (seen.data.includes('"response.output_text.delta"')) {
      this.answer += (JSON.parse(seen.data) as { data: { data: { delta: string } } }).data.data.delta;
    }
    this.#wakeAll();
  }

  /** The client says that it is done, and how. */
  finish(how: string): void {
    this.#over ??= how;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }

  async until(condition: (reading: Reading) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#over !== null) throw new Error(`The client was done (${this.#over}) before what was waited for.`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  async over(): Promise<string> {
    while (this.#over === null) await new Promise<void>((resolve) => this.#wake.push(resolve));
    return this.#over;
  }

  cut(): void {
    this.#abort.abort();
  }
}

export interface StreamClient {
  readonly name: string;
  /** `events`: it cannot post, and reads at the resume address from the start. */
  readonly reads: 'completion' | 'events';
  /** Whether it goes on where it was cut: by itself, when it is asked again, or never, because it sees no ids. */
  readonly resumes: 'itself' | 'asked' | 'never';
  read(request: StreamRequest): Reading;
}

async function fetchBody(request: StreamRequest, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { url, headers, body } = request;
  const response = await fetch(url, { method: body === null ? 'GET' : 'POST', headers, body, signal });
  if (response.status !== 200 || response.body === null) throw new Error(`status ${response.status}`);
  return response.body;
}

function reading(work: (reading: Reading) => Promise<void>): Reading {
  const made = new Reading();
  work(made).then(
    () => made.finish('whole'),
    (error: unknown) => made.finish(error instanceof Error ? error.message : String(error)),
  );
  return made;
}

/** Whole frames of a text that grows. */
class FrameText {
  #rest = '';

  add(text: string, into: Reading): void {
    const whole = (this.#rest + text).lastIndexOf('\n\n') + 2;
    const all = this.#rest + text;
    if (whole < 2) {
      this.#rest = all;
      return;
    }
    for (const frame of parseFrames(all.slice(0, whole))) into.push(frame);
    this.#rest = all.slice(whole);
  }
}

/** `curl -N`, as people watch a stream in a terminal. */
const curl: StreamClient = {
  name: 'curl',
  reads: 'completion',
  resumes: 'asked',
  read: (request) =>
    reading(async (made) => {
      const headers = Object.entries(request.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
      const body = request.body === null ? [] : ['-X', 'POST', '--data-binary', request.body];
      const child = spawn('curl', ['-sS', '-N', '--fail', ...headers, ...body, request.url], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      made.signal.addEventListener('abort', () => child.kill('SIGKILL'));
      const frames = new FrameText();
      child.stdout.setEncoding('utf8').on('data', (text: string) => frames.add(text, made));
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
      if (code !== 0) throw new Error(`exit code ${code}`);
    }),
};

/** Node's fetch and nothing else. */
const nodeFetch: StreamClient = {
  name: 'fetch',
  reads: 'completion',
  resumes: 'asked',
  read: (request) =>
    reading(async (made) => {
      const frames = new FrameText();
      const decoder = new TextDecoder();
      for await (const chunk of await fetchBody(request, made.signal)) {
        frames.add(decoder.decode(chunk, { stream: true }), made);
      }
    }),
};

/** The parser that most JavaScript SDKs of this field read streams with. */
const eventsourceParser: StreamClient = {
  name: 'eventsource-parser',
  reads: 'completion',
  resumes: 'asked',
  read: (request) =>
    reading(async (made) => {
      const parser = createParser({
        onEvent: ({ id, event, data }) => made.push({ id: Number(id), event: event ?? null, data }),
      });
      const decoder = new TextDecoder();
      for await (const chunk of await fetchBody(request, made.signal)) {
        parser.feed(decoder.decode(chunk, { stream: true }));
      }
    }),
};

/** Split at line ends of bytes, as Python's `requests` does it: U+2028 is none. */
async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const whole = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = whole.pop() ?? '';
    yield* whole;
  }
}

/**
 * As the clients of agency-swarm do it: line by line, what begins with `data: ` is JSON until `[DONE]`, `event: ` names
 * what follows, and every other line, ids and comments among them, is passed over.
 */
const agencySwarm: StreamClient = {
  name: 'agency-swarm',
  reads: 'completion',
  resumes: 'never',
  read: (request) =>
    reading(async (made) => {
      let event: string | null = null;
      for await (const line of lines(await fetchBody(request, made.signal))) {
        if (line.startsWith('event: ')) event = line.slice(7);
        if (!line.startsWith('data: ')) continue;
        const data = line.slice(6);
        if (data !== '[DONE]') JSON.parse(data);
        made.push({ id: null, event, data });
        event = null;
        if (data === '[DONE]') return;
      }
      throw new Error('the stream ended without [DONE]');
    }),
};

const libraryProcess = fileURLToPath(new URL('./library-clients.ts', import.meta.url));

/** A library with a connection of its own, in a process of its own; it comes back by itself after a cut. */
function library(name: string, reads: StreamClient['reads']): StreamClient {
  return {
    name,
    reads,
    resumes: 'itself',
    read: (request) =>
      reading(async (made) => {
        const child = spawn(process.execPath, ['-C', 'runwire', libraryProcess, name, JSON.stringify(request)], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        made.signal.addEventListener('abort', () => child.kill('SIGKILL'));
        const gone = new Promise<number | null>((resolve) => child.once('close', resolve));
        let rest = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          // Not by `readline`, which ends lines at U+2028 too.
          const whole = (rest + text).split('\n');
          rest = whole.pop() ?? '';
          for (const line of whole) made.push(JSON.parse(line) as Seen);
        });
        const code = await gone;
        if (code !== 0) throw new Error(`exit code ${code}`);
      }),
  };
}

export const STREAM_CLIENTS: readonly StreamClient[] = [
  curl,
  nodeFetch,
  eventsourceParser,
  library('fetch-event-source', 'completion'),
  library('eventsource', 'events'),
  agencySwarm,
];
