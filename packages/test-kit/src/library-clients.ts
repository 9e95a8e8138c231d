import type { ReadRequest } from './stream-clients.ts';

/*
 * One client library in its own process, unchanged. Each event that it reports is printed as a line of JSON. It reconnects
 * by itself, and the process ends when the library ends.
 */

function say(id: string, event: string | null, data: string): void {
  process.stdout.write(`${JSON.stringify({ id: Number(id), event, data })}\n`);
}

/** It is written for browsers: it reads whether the page is hidden, and takes timers and `fetch` from the window. */
async function fetchEventSource({ url, headers, body }: ReadRequest): Promise<void> {
  const page = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, { window: globalThis, document: page });
  const library = await import('@microsoft/fetch-event-source');
  await library.fetchEventSource(url, {
    method: body === null ? 'GET' : 'POST',
    headers: { ...headers },
    ...(body === null ? {} : { body }),
    onmessage: ({ id, event, data }) => {
      // It reports a comment as a message without data.
      if (data !== '') say(id, event === '' ? null : event, data);
    },
  });
}

/** It sends only GET; the headers are added by its `fetch`. */
async function eventSource({ url, headers }: ReadRequest): Promise<void> {
  const { EventSource } = await import('eventsource');
  const source = new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...headers } }),
  });
  source.onmessage = ({ lastEventId, data }) => say(lastEventId, null, data);
  for (const name of ['meta', 'messages', 'resumed', 'end']) {
    source.addEventListener(name, ({ lastEventId, data }) => say(lastEventId, name, data));
  }
  await new Promise<void>((resolve, reject) => {
    source.onerror = ({ code, message }) => {
      // It reconnects after every end, until it is answered 204.
      if (code === 204) resolve();
      else if (source.readyState === EventSource.CLOSED) reject(new Error(`${code} ${message}`));
    };
  });
}

const LIBRARIES: Readonly<Record<string, (request: ReadRequest) => Promise<void>>> = {
  'fetch-event-source': fetchEventSource,
  eventsource: eventSource,
};

const [, , name = '', request = ''] = process.argv;
const read = LIBRARIES[name];
if (read === undefined) throw new Error(`There is no client \`${name}\`.`);
await read(JSON.parse(request) as ReadRequest);
