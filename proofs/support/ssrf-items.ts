import { readFileSync } from 'node:fs';
import { httpAnswer, type Names, type Serve } from '@runwire/test-kit';

export interface SsrfItem {
  readonly id: string;
  readonly stage: 'parse' | 'literal' | 'dns' | 'redirect' | 'response' | 'refresh-map';
  readonly expect: 'reject' | 'allow' | 'no-second-request' | 'allow-without-credentials' | 'bounded-failure';
  readonly reason: string;
  readonly url?: string;
  /** The answers of one resolution, or of several. */
  readonly resolves_to?: readonly string[] | readonly (readonly string[])[];
  readonly redirect_chain?: readonly Hop[];
  readonly server_behaviour?: string;
  readonly refresh_key?: string;
  readonly refresh_value?: string;
}

interface Hop {
  readonly status: number;
  readonly location?: string;
  readonly header?: Readonly<Record<string, string>>;
}

export const PUBLIC_ADDRESS = '93.184.216.34';

export const ssrfItems = (
  JSON.parse(readFileSync(new URL('../data/ssrf.json', import.meta.url), 'utf8')) as { readonly items: SsrfItem[] }
).items;

export const shown = ({ id, reason }: SsrfItem) => `${id} (${reason})`;

/** Names whose answers an item leaves out: inside the cloud or the cluster that has them they are these. */
const KNOWN_INSIDE: Names = {
  'metadata.google.internal': [['169.254.169.254']],
  'metadata.amazonaws.com': [['169.254.169.254']],
  'instance-data': [['169.254.169.254']],
  'kubernetes.default.svc': [['10.96.0.1']],
  // Where redirects lead.
  'public2.test': [[PUBLIC_ADDRESS]],
  'private.test': [['10.0.0.5']],
};

/** What names resolve to for an item. One that it says nothing of is public, so that only its text can refuse it. */
export function namesOf({ url = '', resolves_to: answers }: SsrfItem): Names {
  const hostname = URL.parse(url)?.hostname ?? '';
  if (answers === undefined) return { [hostname]: [[PUBLIC_ADDRESS]], ...KNOWN_INSIDE };
  const isSequence = answers.some((answer) => Array.isArray(answer));
  return { ...KNOWN_INSIDE, [hostname]: (isSequence ? answers : [answers]) as readonly (readonly string[])[] };
}

const raw =
  (text: string): Serve =>
  (_, connection) =>
    void connection.end(text);

const BEHAVIOURS: Readonly<Record<string, Serve>> = {
  'Content-Length: 10737418240': (_, connection) =>
    void connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n'),
  'headers of 1 MiB': raw(`HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(1020)}\r\n`.repeat(1024)}\r\n`),
  'Content-Disposition: attachment; filename="../../etc/passwd"': raw(
    httpAnswer(200, { 'content-disposition': 'attachment; filename="../../etc/passwd"' }, 'file'),
  ),
  '401 with WWW-Authenticate: Negotiate': raw(httpAnswer(401, { 'www-authenticate': 'Negotiate' })),
  'closes after headers': raw('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'),
  'HTTP/0.9 style body without headers': raw('<html>a file</html>'),
};

/** The servers of an item: the first request meets what it tells of, others a file. */
export function serverOf({ id, redirect_chain: chain, server_behaviour: behaviour }: SsrfItem): Serve {
  if (behaviour !== undefined) {
    const serve = BEHAVIOURS[behaviour];
    if (serve === undefined) throw new Error(`Nobody has said how a server behaves for ${id}.`);
    return serve;
  }
  let requests = 0;
  return (_, connection) => {
    const hop = chain?.[requests];
    requests += 1;
    const { status = 200, location, header = {} } = hop ?? {};
    // On the wire a line that begins with white space goes on with the header before it.
    const folded = location?.replace('\r\n', '\r\n ');
    connection.end(httpAnswer(status, { ...header, ...(folded === undefined ? {} : { location: folded }) }, 'file'));
  };
}
