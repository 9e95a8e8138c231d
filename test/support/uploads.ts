import type { ApiClient } from '@runwire/test-kit';

export interface UploadOptions {
  readonly apiIntegrationId?: string;
  readonly folder?: string;
  readonly filename?: string;
  readonly contentType?: string;
}

export interface SignedForm {
  readonly resource: string;
  readonly uploadUrl: string;
  readonly uploadFields: Record<string, string>;
}

export const signing = (sizeBytes: number, options: UploadOptions = {}) => ({
  apiIntegrationId: 'demo',
  folder: '/app/mnt/u',
  filename: 'a.txt',
  contentType: 'text/plain',
  sizeBytes,
  ...options,
});

/** The folder and a path's name. */
export const at = (path: string) => ({
  folder: path.slice(0, path.lastIndexOf('/')),
  filename: path.slice(path.lastIndexOf('/') + 1),
});

/** Sends a file with its form, as a browser does. Resolves to the status. */
export async function sendForm({ uploadUrl, uploadFields }: SignedForm, bytes: Uint8Array): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'whatever.bin');
  const answer = await fetch(uploadUrl, { method: 'POST', body: form });
  await answer.arrayBuffer();
  return answer.status;
}

/** Signs a form for a file. Rejects if it is refused. */
export async function sign(api: ApiClient, sizeBytes: number, options: UploadOptions = {}): Promise<SignedForm> {
  const { status, body } = await api.post('/create_agency_upload', signing(sizeBytes, options));
  if (status !== 200) throw new Error(`Not signed: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Signs and sends; resolves to the file's path. */
export async function upload(api: ApiClient, bytes: Uint8Array | string, options: UploadOptions = {}): Promise<string> {
  const sent = Buffer.from(bytes as string);
  const form = await sign(api, sent.length, options);
  const status = await sendForm(form, sent);
  if (status !== 204) throw new Error(`Not taken: ${status}`);
  return form.resource;
}

/** Downloads a file. */
export function download(
  { url, authorization }: ApiClient,
  path: string,
  integration = 'demo',
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const query = new URLSearchParams({ path });
  const options = { headers: { ...authorization, ...headers } };
  return fetch(`${url}/v2/integrations/${integration}/files/content?${query}`, options);
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  readonly etag: string;
  readonly contentType: string;
}

/** Lists all files below a folder, at any depth. */
export async function listAll(api: ApiClient, integration = 'demo', folder = '/app/mnt'): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (let cursor = ''; ; ) {
    const query = new URLSearchParams({ folder, limit: '200', ...(cursor === '' ? {} : { cursor }) });
    const { status, body } = await api.get(`/v2/integrations/${integration}/files?${query}`);
    if (status !== 200) throw new Error(`Not listed: ${status} ${JSON.stringify(body)}`);
    for (const entry of body.items) {
      if (entry.kind === 'folder') files.push(...(await listAll(api, integration, entry.path)));
      else files.push(entry);
    }
    if (body.nextCursor === null) return files;
    cursor = body.nextCursor;
  }
}

/** Downloads all files of an integration: the type and the bytes by path. */
export async function downloadAll(api: ApiClient, integration = 'demo') {
  const files = new Map<string, { readonly contentType: string; readonly bytes: Buffer }>();
  for (const { path, contentType } of await listAll(api, integration)) {
    files.set(path, { contentType, bytes: Buffer.from(await (await download(api, path, integration)).bytes()) });
  }
  return files;
}
