import type { CreateAgencyUploadResponse, SandboxFile } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { InvalidRequestError, UploadError } from './errors.ts';
import { sleep } from './timing.ts';
import type { Transport } from './transport.ts';

export interface UploadProgress {
  readonly loadedBytes: number;
  readonly totalBytes: number;
}

export interface UploadOptions {
  /** The folder, for example that of a member: `/app/mnt/members/user-42`. */
  readonly folder: string;
  /** The name of the file. By default that of a `File`. */
  readonly name?: string;
  readonly apiIntegrationId?: string;
  readonly signal?: AbortSignal;
  /** Called while bytes are sent, and with all bytes at the end. */
  readonly onProgress?: (progress: UploadProgress) => void;
}

interface UploadAnswer {
  readonly status: number;
  readonly text: string;
}

/**
 * Signs a form for the file, and posts it. The same upload twice leaves the same file: if the form has expired, the
 * connection breaks or the storage fails, another form is signed, once.
 */
export async function upload(transport: Transport, file: Blob, options: UploadOptions): Promise<SandboxFile> {
  const { folder, signal, apiIntegrationId, name = (file as Partial<File>).name } = options;
  if (name === undefined) {
    throw new InvalidRequestError({ code: 'invalid_request', message: 'The file has no name; set `name`.' });
  }
  const typed = new File([file], name, { type: file.type || 'application/octet-stream' });
  const request = {
    ...{ apiIntegrationId: await transport.integration(apiIntegrationId), folder, filename: name },
    ...{ contentType: typed.type, sizeBytes: file.size },
  };
  for (let isAgain = false; ; isAgain = true) {
    const form = await transport.json(routes.createAgencyUpload, request, options);
    const answer = await postForm(transport, form, typed, options).catch((error: unknown) => {
      if (isAgain || signal?.aborted) throw error;
      return null;
    });
    if (answer !== null && answer.status < 300) {
      options.onProgress?.({ loadedBytes: file.size, totalBytes: file.size });
      return { name, path: form.resource };
    }
    if (answer !== null && (isAgain || !isWorthAnother(answer))) throw uploadError(answer);
    await sleep(transport.timing.minPauseMs, signal);
  }
}

/** Posts the signed fields in their order, then the file: the storage ignores what follows the file. */
async function postForm(
  { fetch }: Transport,
  { uploadUrl, uploadFields }: CreateAgencyUploadResponse,
  file: File,
  { signal, onProgress }: UploadOptions,
): Promise<UploadAnswer> {
  const form = new FormData();
  for (const [field, value] of Object.entries(uploadFields)) form.append(field, value);
  const report = (bytes: number) => onProgress?.({ loadedBytes: Math.min(bytes, file.size), totalBytes: file.size });
  if (onProgress !== undefined && 'XMLHttpRequest' in globalThis) {
    form.append('file', file);
    return await postByPage(uploadUrl, form, report, signal);
  }
  form.append('file', counted(file, report));
  const answer = await fetch(uploadUrl, { method: 'POST', body: form, ...(signal && { signal }) });
  return { status: answer.status, text: await answer.text() };
}

/** Counts the bytes that `fetch` takes. A runtime that reads files by another way reports only the end. */
function counted(file: File, report: (bytes: number) => void): File {
  const stream = () => {
    let sent = 0;
    const count = new TransformStream({
      transform(chunk: Uint8Array, controller) {
        sent += chunk.byteLength;
        report(sent);
        controller.enqueue(chunk);
      },
    });
    return file.stream().pipeThrough(count);
  };
  return Object.assign(new File([file], file.name, { type: file.type }), { stream });
}

/** The part of `XMLHttpRequest` that is used: only it reports the progress of an upload in a page. */
interface PageRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  open(method: string, url: string): void;
  send(body: FormData): void;
  abort(): void;
}

function postByPage(
  url: string,
  form: FormData,
  report: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<UploadAnswer> {
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => PageRequest };
  return new Promise<UploadAnswer>((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    signal?.addEventListener('abort', () => {
      request.abort();
      reject(signal.reason);
    });
    request.upload.onprogress = ({ loaded }) => report(loaded);
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = () => reject(new TypeError('The upload broke.'));
    request.open('POST', url);
    request.send(form);
  });
}

const isWorthAnother = ({ status, text }: UploadAnswer) => status >= 500 || (status === 403 && /expired/i.test(text));

const uploadError = ({ status, text }: UploadAnswer) =>
  new UploadError({
    code: 'upload_failed',
    message: `The storage refused the file: ${status}${text.slice(0, 500).replace(/<[^>]*>/g, ' ')}`,
    status,
  });
