import { type ClientRequest, request } from 'node:http';

/** One part of a form, as it is written. */
export interface FormPart {
  readonly name: string;
  readonly value: string | Buffer;
  readonly filename?: string;
  /** Added after the names, such as `; filename*=…`. */
  readonly moreDisposition?: string;
  readonly disposition?: string;
  readonly headers?: readonly string[];
}

/** A form's bytes, possibly with errors that a test wants. */
export interface RawForm {
  readonly parts: readonly FormPart[];
  readonly boundary?: string;
  /** Replaces `multipart/form-data; boundary=…`. */
  readonly contentType?: string;
  readonly lineEnd?: string;
  readonly preamble?: string;
  readonly epilogue?: string;
  /** Added to the `Content-Length`. With null there is none, and the body is chunked. */
  readonly lengthBy?: number | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FormAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** An error's code; null if there is no error. */
  readonly code: string | null;
}

export const BOUNDARY = 'a-boundary-of-32-characters-xxxx';

export function formBytes(form: RawForm): Buffer {
  const { boundary = BOUNDARY, lineEnd: end = '\r\n' } = form;
  const parts = form.parts.flatMap((part) => {
    const filename = part.filename === undefined ? '' : `; filename="${part.filename}"`;
    const disposition = `${part.disposition ?? 'form-data'}; name="${part.name}"${filename}${part.moreDisposition ?? ''}`;
    const head = [`--${boundary}`, `Content-Disposition: ${disposition}`, ...(part.headers ?? []), '', ''].join(end);
    return [Buffer.from(head), Buffer.from(part.value), Buffer.from(end)];
  });
  return Buffer.concat([
    Buffer.from(form.preamble ?? ''),
    ...parts,
    Buffer.from(`--${boundary}--${end}${form.epilogue ?? ''}`),
  ]);
}

export const toParts = (fields: Readonly<Record<string, string>>): FormPart[] =>
  Object.entries(fields).map(([name, value]) => ({ name, value }));

/** Posts a form. If `hold` is given, the second half is sent after it settles. */
export async function postForm(url: string, form: RawForm, hold?: () => Promise<void>): Promise<FormAnswer> {
  const bytes = formBytes(form);
  const { sent, answer } = openForm(url, form, bytes.length);
  if (hold === undefined) sent.end(bytes);
  else {
    // After the fields, within the file.
    const half = bytes.length - Math.min(bytes.length, (form.boundary ?? BOUNDARY).length + 12);
    sent.write(bytes.subarray(0, half));
    await hold();
    sent.end(bytes.subarray(half));
  }
  return answer;
}

/** A form whose bytes the caller writes. */
export function openForm(
  url: string,
  form: Omit<RawForm, 'parts'>,
  length: number,
): { readonly sent: ClientRequest; readonly answer: Promise<FormAnswer> } {
  const { boundary = BOUNDARY, lengthBy = 0 } = form;
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': form.contentType ?? `multipart/form-data; boundary=${boundary}`,
      ...(lengthBy === null ? { 'transfer-encoding': 'chunked' } : { 'content-length': length + lengthBy }),
      ...form.headers,
    },
  });
  const answer = new Promise<FormAnswer>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const body = Buffer.concat(chunks).toString();
        const code = /<Code>([^<]*)<\/Code>/.exec(body)?.[1] ?? null;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, code });
        sent.on('error', () => {});
      });
    });
  });
  answer.catch(() => {});
  return { sent, answer };
}
