import { xml } from './s3-error.ts';

export interface StoredObject {
  readonly bucket: string;
  readonly key: string;
  /** Includes the quotes. */
  readonly etag: string;
  /** The location as S3 returns it. Nothing is served there. */
  readonly location: string;
}

export interface SuccessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** XML, or null if there is no body. */
  readonly body: string | null;
}

/**
 * A redirect takes precedence over a status. The answer is 204 if the form contains neither in a form that S3 accepts.
 */
export function successAnswer(fields: ReadonlyMap<string, string>, stored: StoredObject): SuccessAnswer {
  const { bucket, key, etag, location } = stored;
  const redirect = getRedirect(fields.get('success_action_redirect') ?? fields.get('redirect'), stored);
  if (redirect !== null) return { status: 303, headers: { etag, location: redirect }, body: null };
  const headers = { etag, location };
  switch (fields.get('success_action_status')) {
    case '200':
      return { status: 200, headers, body: null };
    case '201':
      return {
        status: 201,
        headers,
        body: xml('PostResponse', { Location: location, Bucket: bucket, Key: key, ETag: etag }),
      };
    default:
      return { status: 204, headers, body: null };
  }
}

/** Returns null if the form has none, or if S3 would not follow it. */
function getRedirect(to: string | undefined, { bucket, key, etag }: StoredObject): string | null {
  if (to === undefined || !/^https?:\/\//i.test(to)) return null;
  const url = URL.parse(to);
  if (url === null) return null;
  // S3 appends to the existing query and keeps its spelling.
  url.search += `${url.search === '' ? '' : '&'}${new URLSearchParams({ bucket, key, etag })}`;
  return url.href;
}
