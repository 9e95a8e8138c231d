// From the package, as the server imports them: a bundle would contain other copies.
import { DEFAULT_DOCUMENT_LIMITS, DocumentReader, Unreadable } from '@runwire/documents';
import { FetchFailed, GuardedFetcher } from '@runwire/guarded-fetch';
import type { Overrides } from '@runwire/server/src/compose/overrides.ts';
import { FileTexts } from '@runwire/server/src/files/file-texts.ts';
import { type Params, params, rows, tamper } from './tampered-store.ts';

type Fetch = GuardedFetcher['fetch'];
type Read = DocumentReader['read'];

/** Replaces what a fetch does after it failed. */
function afterFailedFetch(replace: (error: FetchFailed, url: URL) => ReturnType<Fetch>): void {
  const own: Fetch = GuardedFetcher.prototype.fetch;
  GuardedFetcher.prototype.fetch = function fetch(this: GuardedFetcher, url, signal, onSize) {
    return own.call(this, url, signal, onSize).catch((error: unknown) => {
      if (!(error instanceof FetchFailed)) throw error;
      return replace(error, url);
    });
  };
}

/** A file that cannot be fetched or read is left out, and the run continues. */
function skipUnreadable(): Overrides {
  const bytes = () => new TextEncoder().encode('There is nothing here.');
  afterFailedFetch(async (_, url) => ({ bytes: bytes(), contentType: 'text/plain', url }));
  const own: Read = DocumentReader.prototype.read;
  DocumentReader.prototype.read = function read(this: DocumentReader, given, options, signal) {
    return own.call(this, given, options, signal).catch((error: unknown) => {
      if (!(error instanceof Unreadable)) throw error;
      return { form: 'text', mediaType: 'text/plain', bytes: bytes(), pages: null };
    });
  };
  return {};
}

/** The sentence about a failed fetch has the whole URL. */
function leakQuery(): Overrides {
  afterFailedFetch(async (error, url) => {
    const why = error.message.replace('could not be fetched: ', '');
    throw new FetchFailed(error.kind, `${why}; it was asked for as ${url.href}`, { isFinal: error.isFinal });
  });
  return {};
}

/** PDFs are converted on the main thread. */
function convertHere(): Overrides {
  const own: Read = DocumentReader.prototype.read;
  DocumentReader.prototype.read = async function read(this: DocumentReader, given, options, signal) {
    const isPdf = Buffer.from(given.bytes.subarray(0, 5)).toString() === '%PDF-';
    if (!isPdf) return own.call(this, given, options, signal);
    const { convert } = await import('../../../documents/src/convert.ts');
    const work = { ...given, ...options, limits: DEFAULT_DOCUMENT_LIMITS, wholePart: () => {} };
    return convert(work).catch((error: Error) => {
      throw new Unreadable(error.message);
    });
  };
  return {};
}

/** The stored text of a document lacks its last line. */
function loseStoredLine(): Overrides {
  const { store } = FileTexts.prototype;
  FileTexts.prototype.store = function (this: FileTexts, integrationId, file, bytes) {
    const end = bytes.lastIndexOf(10, bytes.length - 2);
    return store.call(this, integrationId, file, bytes.subarray(0, end + 1));
  };
  return {};
}

/** An attachment of any chat counts as an earlier attachment of every chat. */
function takeAnyKey(): Overrides {
  const known: Params[] = [];
  const note = (given: Params) => {
    known.push({ run_id: '', position: 0, url: given.url_key, url_key: given.url_key });
    return given;
  };
  return {
    wrapStore: tamper({
      params: (statement, given) => (statement === 'insert attachments' ? note(given) : given),
      rows: (statement, found) => (statement === 'urls of chat' ? [...found, ...known] : found),
    }),
  };
}

export const ATTACHMENT_FAULTS: Readonly<Record<string, () => Overrides>> = {
  'skip-unreadable': skipUnreadable,
  'leak-query': leakQuery,
  'convert-here': convertHere,
  'lose-stored-line': loseStoredLine,
  // A copy is not found in the turn after the turn that made it.
  'fetch-again': () => rows('history attachments', (found) => found.map((row) => ({ ...row, blob_key: null }))),
  // A fresh link is checked but not stored.
  'forget-refreshes': () => params('refresh url', (given) => ({ ...given, chatKey: '' })),
  'take-any-key': takeAnyKey,
  // The same bytes are one copy for all integrations.
  'share-copies': () => ({
    wrapStore: tamper({
      params: (statement, given) =>
        ['blob by hash', 'insert blobs'].includes(statement)
          ? { ...given, integrationId: 'demo', integration_id: 'demo' }
          : given,
    }),
  }),
};
