const LF = 0x0a;
const CR = 0x0d;

/**
 * A `fetch` whose answers fail if a message is longer than `maxBytes`: the client of the SDK reads bodies of any length
 * into memory. In a stream of events each event is a message, otherwise the whole body.
 */
export function boundedFetch(maxBytes: number): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request);
    const { body } = response;
    if (body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const bounded = new Response(body.pipeThrough(limit(maxBytes, isStream)), response);
    // A response that is made from another one has no address.
    return Object.defineProperty(bounded, 'url', { value: response.url });
  };
}

function limit(maxBytes: number, isStream: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let messageBytes = 0;
  let lineBytes = 0;
  let lastByte = 0;
  /** Counts the chunk's bytes. An empty line ends an event. */
  const count = (chunk: Uint8Array) => {
    let from = 0;
    for (let end = isStream ? chunk.indexOf(LF) : -1; end !== -1; end = chunk.indexOf(LF, from)) {
      lineBytes += end - from;
      const isEmpty = lineBytes === 0 || (lineBytes === 1 && (chunk[end - 1] ?? lastByte) === CR);
      messageBytes = isEmpty ? 0 : messageBytes + end + 1 - from;
      lineBytes = 0;
      from = end + 1;
    }
    lineBytes += chunk.length - from;
    messageBytes += chunk.length - from;
    lastByte = chunk.at(-1) ?? lastByte;
  };
  return new TransformStream({
    transform(chunk, controller) {
      count(chunk);
      if (messageBytes <= maxBytes) controller.enqueue(chunk);
      else controller.error(new Error(`The server sent a message of more than ${maxBytes} bytes.`));
    },
  });
}
