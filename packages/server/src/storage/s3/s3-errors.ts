import { StartRefused } from '../../domain/start-refused.ts';
import { StoreUnavailable } from '../../domain/unavailable.ts';

/** The bucket that stores the files instead of the disk. */
export interface S3Location {
  readonly bucket: string;
  /** Without a slash at the end. Null for Amazon's own endpoint. */
  readonly endpoint: string | null;
  readonly region: string;
}

/** An error of the SDK: an error answer of S3, or no answer. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}

export const getStatus = (error: unknown): number | null => {
  const { $metadata, $response } = error as SdkError;
  return $metadata?.httpStatusCode ?? $response?.statusCode ?? null;
};

export const isMissing = (error: unknown): boolean =>
  getStatus(error) === 404 && (error as SdkError).name !== 'NoSuchBucket';

/** Errors that pass by themselves or after the operator fixes the network, the bucket or the temporary credentials. */
const NOT_NOW: ReadonlySet<unknown> = new Set([
  'NoSuchBucket',
  'RequestTimeout',
  'SlowDown',
  'TooManyRequestsException',
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestTimeTooSkewed',
  'OperationAborted',
]);

/** Returns `StoreUnavailable` if a later retry can succeed, and the error itself otherwise. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const status = getStatus(error);
  const { name } = error as SdkError;
  // Without a status, the cause is the network, a timeout or the credentials' provider.
  if (status !== null && status < 500 && status !== 429 && !NOT_NOW.has(name)) return error;
  return new StoreUnavailable(`S3 does not answer now: ${getReason(error)}.`, { cause: error });
}

function getReason(error: unknown): string {
  const { name, message, code } = error as SdkError;
  const text = message === undefined || message === '' || message === 'UnknownError' ? (code ?? name ?? '') : message;
  return text.replace(/\s+/g, ' ').replace(/[.:;]\s*$/, '');
}

/** Returns the sentence that tells the operator what to fix before the server can store files there. */
export function startSentence(error: unknown, { bucket, endpoint, region }: S3Location): StartRefused {
  const cause = error instanceof StoreUnavailable && error.cause !== undefined ? error.cause : error;
  const { name = '', $response } = cause as SdkError;
  const at = endpoint ?? `Amazon S3 in ${region}`;
  return new StartRefused(sentence(), { cause: error });

  function sentence(): string {
    const status = getStatus(cause);
    if (name === 'CredentialsProviderError') {
      return `S3_BUCKET is set but no credentials for it were found (${getReason(cause)}); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role.`;
    }
    if (status === 301 || status === 307 || name === 'AuthorizationHeaderMalformed') {
      const right = $response?.headers?.['x-amz-bucket-region'];
      return `The bucket ${bucket} of S3_BUCKET is not in the region ${region}; set AWS_REGION to ${right ?? 'its region'}.`;
    }
    if (status === 404) {
      return `The bucket ${bucket} of S3_BUCKET does not exist at ${at}; create it, or set S3_BUCKET to an existing bucket.`;
    }
    if (status === 401 || status === 403) {
      return `S3 at ${at} does not allow these credentials to use the bucket ${bucket} (${name}); fix AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the policy of their user (see docs/s3.md).`;
    }
    if (status !== null && status < 500) {
      return `S3 at ${at} refuses the bucket ${bucket} (${name}: ${getReason(cause)}); fix S3_BUCKET, S3_ENDPOINT or AWS_REGION.`;
    }
    return `S3 at ${at} cannot be used now (${getReason(cause)}); fix S3_ENDPOINT, or start again when it answers.`;
  }
}
