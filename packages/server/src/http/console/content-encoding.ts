import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Returns the smallest encoding that the `Accept-Encoding` of a request allows; null if it allows none that we have. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | null {
  const accepted = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
        const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
        return [name, Number(weight) > 0];
      }),
  );
  return ENCODINGS.find((encoding) => accepted.get(encoding) ?? accepted.get('*') ?? false) ?? null;
}

/**
 * Quality 5 of Brotli: 219 kB of React become 64 kB in 9 ms. With 11, the default, they become 58 kB in 470 ms, with gzip
 * 68 kB in 7 ms.
 */
export async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(bytes);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return promisify(brotliCompress)(bytes, { params });
}
