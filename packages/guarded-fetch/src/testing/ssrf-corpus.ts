import { readFileSync } from 'node:fs';
import { httpAnswer, type Names, type Serve } from './watched-network.ts';

/** See `meta` of the data. `resolves_to`: one resolution's addresses, or of several. */
export interface SsrfItem {
  readonly id: string;
  readonly stage: 'parse' | 'literal' | 'dns' | 'redirect' | 'response' | 'refresh-map';
  readonly expect: 'reject' | 'allow' | 'no-second-request' | 'allow-without-credentials' | 'bounded-failure';
  readonly reason: string;
  readonly url?: string;
  readonly resolves_to?: readonly string[] | readonly (readonly string[])[];
  readonly redirect_chain?: readonly { status: number; location?: string; header?: Record<string, string> }[];
  readonly server_behaviour?: string;
  readonly refresh_key?: string;
  readonly refresh_value?: string;
}

/** Fetches one after the other: names that change their addresses in between, or addresses of this machine. */
export interface SsrfSequence {
  readonly what: string;
  readonly names: Names;
  readonly own?: readonly string[];
  /** The first answer redirects to it. */
  readonly location?: string;
  readonly fetches: readonly (readonly [url: string, end: string, dials: number])[];
}

/** Each item has its group's fields, unless it has its own. */
interface SsrfGroup extends Omit<SsrfItem, 'id'> {
  readonly items: readonly SsrfItem[];
}

const { groups, names, answers, sequences } = JSON.parse(
  readFileSync(new URL('./ssrf-corpus.json', import.meta.url), 'utf8'),
) as { groups: SsrfGroup[]; names: Names; answers: Record<string, string>; sequences: SsrfSequence[] };

export { sequences };
export const items: readonly SsrfItem[] = groups.flatMap(({ items, ...shared }) =>
  items.map((item) => ({ ...shared, ...item })),
);
export const PUBLIC = '93.184.216.34';

/** A name that the item does not mention is public, so that only its text can refuse it. */
export function getNames({ url = '', resolves_to: found }: SsrfItem): Names {
  const hostname = URL.parse(url)?.hostname ?? '';
  if (found === undefined) return { [hostname]: [[PUBLIC]], ...names };
  return { ...names, [hostname]: (Array.isArray(found[0]) ? found : [found]) as string[][] };
}

/** The first request gets what the item describes, every other one a file. */
export function getServer({ id, redirect_chain: chain, server_behaviour: behaviour }: Partial<SsrfItem>): Serve {
  const raw = answers[behaviour ?? '']?.replace('{1 MiB of headers}', `X: ${'y'.repeat(1020)}\r\n`.repeat(1024));
  if (behaviour !== undefined && raw === undefined) throw new Error(`${id}: unknown behaviour of a server.`);
  let requests = 0;
  return (_, connection) => {
    const { status = 200, location, header = {} } = chain?.[requests] ?? {};
    requests += 1;
    // On the wire, a line that begins with white space continues the header before it.
    const folded = location === undefined ? {} : { location: location.replace('\r\n', '\r\n ') };
    const answer = raw ?? httpAnswer(status, { ...header, ...folded }, 'file');
    if (behaviour?.startsWith('Content-Length')) connection.write(answer);
    else connection.end(answer);
  };
}
