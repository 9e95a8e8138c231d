/** What the reader of one answer saw. Times are in milliseconds of the monotonic clock. */
export interface WatchedAnswer {
  readonly path: string;
  readonly sentAt: number;
  headers: Headers | null;
  firstByteAt: number | null;
  lastByteAt: number | null;
  /** When the connection ended, or null while it is open. */
  endedAt: number | null;
  /** The first bytes of the body. */
  start: string;
}

const KEPT_CHARACTERS = 1000;

/** A `fetch` that notes when headers and bytes arrive. The reader gets the same answer. */
export class WatchedFetch {
  readonly answers: WatchedAnswer[] = [];
  readonly #fetch: typeof fetch;

  constructor(fetchBelow: typeof fetch) {
    this.#fetch = fetchBelow;
  }

  /** This path's first answer, also if it has not arrived yet. */
  first(path: RegExp): WatchedAnswer | undefined {
    return this.answers.find((answer) => path.test(answer.path));
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const noted: WatchedAnswer = {
      ...{ path: pathname, sentAt: performance.now(), headers: null },
      ...{ firstByteAt: null, lastByteAt: null, endedAt: null, start: '' },
    };
    this.answers.push(noted);
    const answer = await this.#fetch(input, init);
    noted.headers = answer.headers;
    if (answer.body === null) return answer;
    const { status, statusText, headers } = answer;
    return new Response(note(answer.body, noted), { status, statusText, headers });
  };
}

/** Passes the bytes on. A cut is an end too, and the reader gets its error. */
function note(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  noted: WatchedAnswer,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        const now = performance.now();
        if (done) {
          noted.endedAt = now;
          controller.close();
          return;
        }
        noted.firstByteAt ??= now;
        noted.lastByteAt = now;
        if (noted.start.length < KEPT_CHARACTERS) noted.start += decoder.decode(value, { stream: true });
        controller.enqueue(value);
      } catch (error) {
        noted.endedAt = performance.now();
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
