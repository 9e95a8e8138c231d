import { hash } from 'node:crypto';

/*
 * Two bodies are equal if their parsed fields are equal, in any order, with null equal to absent at the top level.
 * `attachmentUrlRefreshes`, the query strings of attachment URLs, and a chat id or alias of the run's own chat do not
 * count (`contract-4-same-body`). The last one is compared separately, when the run's chat is known.
 */

const LEFT_OUT: ReadonlySet<string> = new Set(['attachmentUrlRefreshes', 'chatId', 'aliasChatId']);

export function fingerprint(body: Readonly<Record<string, unknown>>): string {
  const fields: string[] = [];
  for (const key of Object.keys(body).sort()) {
    const value = body[key];
    if (value === null || value === undefined || LEFT_OUT.has(key)) continue;
    const compared = key === 'attachments' ? withoutQueries(value) : value;
    fields.push(`${JSON.stringify(key)}:${canonical(compared)}`);
  }
  return hash('sha256', fields.join(','), 'base64url');
}

function withoutQueries(attachments: unknown): unknown {
  if (!Array.isArray(attachments)) return attachments;
  return attachments.map((attachment: unknown) => {
    if (attachment === null || typeof attachment !== 'object') return attachment;
    const copy: Record<string, unknown> = { ...attachment };
    for (const field of ['file_url', 'image_url']) {
      const url = copy[field];
      if (typeof url === 'string' && !url.startsWith('data:')) copy[field] = withoutQuery(url);
    }
    return copy;
  });
}

/** A question mark in the fragment begins no query. */
const withoutQuery = (url: string) => url.replace(/^([^?#]*)\?[^#]*/, '$1');

function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonical(entry)}`).join(',')}}`;
}
