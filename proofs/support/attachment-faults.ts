import type { Overrides } from '@runwire/test-kit';
import { DEFAULT_DOCUMENT_LIMITS } from '../../packages/documents/src/document-limits.ts';
import { DocumentReader } from '../../packages/documents/src/document-reader.ts';
import { Unreadable } from '../../packages/documents/src/unreadable.ts';
import { FetchFailed, GuardedFetcher } from '../../packages/server/src/guarded-fetch/guarded-fetch.ts';
import { tamper } from './tampered-store.ts';

type Fetch = GuardedFetcher['fetch'];
type Read = DocumentReader['read'];

const ownFetch: Fetch = GuardedFetcher.prototype.fetch;
const ownRead: Read = DocumentReader.prototype.read;

const LEFT_OUT = () => new TextEncoder().encode('There is nothing here.');

/** What cannot be had or read is left out, and nobody is told. */
export function skipUnreadable(): Overrides {
  GuardedFetcher.prototype.fetch = async function fetch(this: GuardedFetcher, url, signal, onSize) {
    try {
      return await ownFetch.call(this, url, signal, onSize);
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error;
      return { bytes: LEFT_OUT(), contentType: 'text/plain', url };
    }
  };
  DocumentReader.prototype.read = async function read(this: DocumentReader, given, options, signal) {
    try {
      return await ownRead.call(this, given, options, signal);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { form: 'text', mediaType: 'text/plain', pages: null, bytes: LEFT_OUT() };
    }
  };
  return {};
}

/** Whoever reads why a file could not be had also reads the key to it. */
export function leakQuery(): Overrides {
  GuardedFetcher.prototype.fetch = async function fetch(this: GuardedFetcher, url, signal, onSize) {
    try {
      return await ownFetch.call(this, url, signal, onSize);
    } catch (error) {
      if (!(error instanceof FetchFailed)) throw error;
      const why = error.message.replace('could not be fetched: ', '');
      throw new FetchFailed(error.kind, `${why}; it was asked for as ${url.href}`, { isFinal: error.isFinal });
    }
  };
  return {};
}

/** PDFs are converted where everything else is done. */
export function convertHere(): Overrides {
  DocumentReader.prototype.read = async function read(this: DocumentReader, given, options, signal) {
    if (Buffer.from(given.bytes.subarray(0, 5)).toString() !== '%PDF-')
      return ownRead.call(this, given, options, signal);
    const { convert } = await import('../../packages/documents/src/convert.ts');
    return convert({ ...given, ...options, limits: DEFAULT_DOCUMENT_LIMITS, wholePart: () => {} });
  };
  return {};
}

/** No copy is known by the turn after the one that made it. */
export function fetchAgain(): Overrides {
  return {
    wrapStore: tamper({
      rows: (statement, rows) =>
        statement === 'history attachments' ? rows.map((row) => ({ ...row, blob_key: null })) : rows,
    }),
  };
}

/** A fresh link is checked, and the old one stays. */
export function forgetRefreshes(): Overrides {
  return {
    wrapStore: tamper({
      params: (statement, params) => (statement === 'refresh url' ? { ...params, chatKey: '' } : params),
    }),
  };
}

/** What any chat attaches is an earlier attachment of every chat. */
export function takeAnyKey(): Overrides {
  const keys = new Set<string>();
  return {
    wrapStore: tamper({
      params: (statement, params) => {
        if (statement === 'insert attachment') keys.add(String(params.urlKey));
        return params;
      },
      rows: (statement, rows) =>
        statement === 'urls of chat'
          ? [...rows, ...[...keys].map((key) => ({ run_id: '', position: 0, url: key, url_key: key }))]
          : rows,
    }),
  };
}

/** The same bytes are one copy for all integrations. */
export function shareCopies(): Overrides {
  const ofBlobs = ['blob by hash', 'insert blob'];
  return {
    wrapStore: tamper({
      params: (statement, params) => (ofBlobs.includes(statement) ? { ...params, integrationId: 'demo' } : params),
    }),
  };
}
