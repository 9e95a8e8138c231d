import type { ReadRequest } from './stream-clients.ts';

/*
 * One client library in a process of its own, as it comes from the registry. What it hands to its user leaves as a line
 * of JSON. It reconnects by itself, as it does for its users, and ends when the library says that it is over.
 */

function say(id: string, event: string | null, data: string): void {
  process.stdout.write(`${JSON.stringify({ id: Number(id), event, data })}\n`);
}

/** Written for browsers: it asks whether the page is hidden, and takes timers and `fetch` from the window. */
async function fetchEventSource({ url, headers, body }: ReadRequest): Promise<void> {
  const page = Object.assign(new EventTarget(), { hidden: false });
  Object.assign(globalThis, { window: globalThis, document: page });
  const library = await import('@microsoft/fetch-event-source');
  await library.fetchEventSource(url, {
    method: body === null ? 'GET' : 'POST',
    headers: { ...headers },
    ...(body === null ? {} : { body }),
    onmessage: ({ id, event, data }) => {
      // It hands a comment to its user as a message without data, which its users have to pass over.
      if (data !== '') say(id, event === '' ? null : event, data);
    },
  });
}

/** It only ever asks with GET; what else a request needs is given by way of its `fetch`. */
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
      // It comes back after every end; that there is nothing more is told by 204 alone.
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
