import { openStream, type StreamReader } from '@runwire/server/testing';
import type { ApiClient } from '@runwire/test-kit';

/* Requests as clients of other APIs send them. Their answers are not described in OpenAPI. */

export type ForeignStream = StreamReader;

export interface ForeignAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The answer's text before it was parsed. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of many shapes.
  readonly body: any;
}

/** Calls below one base path. */
export function foreign(api: ApiClient, base: string) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ForeignAnswer> => {
    const response = await fetch(`${api.url}${base}${path}`, {
      method,
      headers: { ...api.authorization, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : text };
  };
  /** Resolves with the head, while the body still streams. */
  const open = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<StreamReader> =>
    openStream(`${api.url}${base}${path}`, {
      method: 'POST',
      headers: { ...api.authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  return {
    call,
    open,
    get: (path: string, headers: Readonly<Record<string, string>> = {}) => call('GET', path, undefined, headers),
    post: (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      call('POST', path, body, headers),
    /** Reads the stream to its end. */
    stream: async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
      const reader = await open(path, body, headers);
      await reader.over;
      return reader;
    },
  };
}
