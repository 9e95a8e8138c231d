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

/** Sends a file with its form, as a browser does. Resolves to the status. */
export async function sendForm({ uploadUrl, uploadFields }: SignedForm, bytes: Uint8Array): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(uploadFields)) form.append(name, value);
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'whatever.bin');
  const answer = await fetch(uploadUrl, { method: 'POST', body: form });
  await answer.arrayBuffer();
  return answer.status;
}

/** Signs and sends; resolves to the path of the file. */
export async function upload(api: ApiClient, bytes: Uint8Array | string, options: UploadOptions = {}): Promise<string> {
  const sent = Buffer.from(bytes as string);
  const { status, body } = await api.post('/create_agency_upload', signing(sent.length, options));
  if (status !== 200) throw new Error(`Not signed: ${status} ${JSON.stringify(body)}`);
  const sentStatus = await sendForm(body as SignedForm, sent);
  if (sentStatus !== 204) throw new Error(`Not taken: ${sentStatus}`);
  return (body as SignedForm).resource;
}
