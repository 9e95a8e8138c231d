import type { CreateAgencyUploadResponse, SandboxFile } from '@runwire/contract';
import * as routes from '@runwire/contract/routes';
import { invalidRequest, UploadError } from './errors.ts';
import { sleep, Watchdog, watched } from './timing.ts';
import type { Transport } from './transport.ts';

export interface UploadProgress {
  readonly loadedBytes: number;
  readonly totalBytes: number;
}

export interface UploadOptions {
  /** The folder, for example that of a member: `/app/mnt/members/user-42`. */
  readonly folder: string;
  /** The file's name. By default that of a `File`. */
  readonly name?: string;
  readonly apiIntegrationId?: string;
  readonly signal?: AbortSignal;
  /** Called while bytes are sent, and with all bytes at the end. */
  readonly onProgress?: (progress: UploadProgress) => void;
}

interface UploadAnswer {
  /** 0 if no answer arrived. */
  readonly status: number;
  readonly text: string;
  readonly cause?: unknown;
}

/**
 * Signs a form for the file, and posts it. The same upload twice leaves the same file: if the form has expired, the
 * connection breaks or the storage fails, another form is signed, once.
 */
export async function upload(transport: Transport, file: Blob, options: UploadOptions): Promise<SandboxFile> {
  const { folder, signal, apiIntegrationId, name = (file as Partial<File>).name } = options;
  if (name === undefined) throw invalidRequest('No file name; set `name`.');
  const typed = new File([file], name, { type: file.type || 'application/octet-stream' });
  const request = {
    ...{ apiIntegrationId: await transport.integration(apiIntegrationId), folder, filename: name },
    ...{ contentType: typed.type, sizeBytes: file.size },
  };
  for (let isAgain = false; ; isAgain = true) {
    const form = await transport.json(routes.createAgencyUpload, request, options);
    const answer = await postForm(transport, form, typed, options).catch(
      (cause: unknown): UploadAnswer => ({ status: 0, text: String(cause), cause }),
    );
    signal?.throwIfAborted();
    const { status, text, cause } = answer;
    if (status >= 200 && status < 300) {
      options.onProgress?.({ loadedBytes: file.size, totalBytes: file.size });
      return { name, path: form.resource };
    }
    if (isAgain || !isWorthAnother(answer)) {
      const reason = `${status || 'no answer'} ${text.slice(0, 500).replace(/<[^>]*>/g, ' ')}`;
      const message = `${form.uploadUrl} did not take the file: ${reason}`;
      throw new UploadError({ code: 'upload_failed', message, status: status || null, cause });
    }
    await sleep(transport.timing.minPauseMs, signal);
  }
}

/** Posts the signed fields in their order, then the file: the storage ignores what follows the file. */
async function postForm(
  { fetch, timing }: Transport,
  { uploadUrl, uploadFields }: CreateAgencyUploadResponse,
  file: File,
  { signal: outer, onProgress }: UploadOptions,
): Promise<UploadAnswer> {
  const form = new FormData();
  for (const [field, value] of Object.entries(uploadFields)) form.append(field, value);
  // A runtime that does not report progress gets time for all bytes.
  const watchdog = new Watchdog(timing, file.size, outer);
  const { signal } = watchdog;
  const report = (bytes: number) => {
    // The file may be read on after the request has failed. The watchdog must not keep the process alive then.
    if (signal.aborted) return;
    watchdog.restart();
    onProgress?.({ loadedBytes: Math.min(bytes, file.size), totalBytes: file.size });
  };
  try {
    if ('XMLHttpRequest' in globalThis) {
      form.append('file', file);
      return await postByPage(uploadUrl, form, report, signal);
    }
    form.append('file', counted(file, report));
    const answer = await fetch(uploadUrl, { method: 'POST', body: form, signal });
    return { status: answer.status, text: await answer.text() };
  } finally {
    watchdog.abort();
  }
}

/** Counts the bytes that `fetch` takes. A runtime that reads files by another way reports only the end. */
function counted(file: File, report: (bytes: number) => void): File {
  const stream = () => {
    let sent = 0;
    // A slice has the stream of the file itself, also after an earlier attempt.
    return watched(file.slice().stream(), (bytes) => {
      sent += bytes;
      report(sent);
    });
  };
  return Object.assign(file, { stream });
}

/** The part of `XMLHttpRequest` that is used: only it reports an upload's progress in a page. */
interface PageRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { readonly loaded: number }) => void) | null };
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  send(body: FormData): void;
  abort(): void;
}

function postByPage(
  url: string,
  form: FormData,
  report: (bytes: number) => void,
  signal: AbortSignal,
): Promise<UploadAnswer> {
  const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest: new () => PageRequest };
  return new Promise<UploadAnswer>((resolve) => {
    signal.throwIfAborted();
    const request = new XMLHttpRequest();
    signal.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded }) => report(loaded);
    // The status is 0 after an abort or a broken connection.
    request.onloadend = () => resolve({ status: request.status, text: request.responseText });
    request.open('POST', url);
    request.send(form);
  });
}

const isWorthAnother = ({ status, text }: UploadAnswer) =>
  status === 0 || status >= 500 || (status === 403 && /expired/i.test(text));
