/**
 * Returns the time at which a signed link expires, in milliseconds. Returns null if it is not signed or its form is not
 * known or not clear: a link is refused only if it is certain that it has expired.
 */
export function expiresAt(url: URL): number | null {
  const query = new Query(url.searchParams);
  return (
    fromDateAndSeconds(query, 'x-amz') ??
    fromDateAndSeconds(query, 'x-goog') ??
    fromEpochSeconds(query) ??
    fromCloudFrontPolicy(query) ??
    fromSharedAccessSignature(query)
  );
}

/** S3 and Google accept the names of their newer parameters in any case. Other names must match exactly. */
class Query {
  readonly #asWritten = new Map<string, string[]>();
  readonly #inAnyCase = new Map<string, string[]>();

  constructor(params: URLSearchParams) {
    for (const [name, value] of params) {
      add(this.#asWritten, name, value);
      add(this.#inAnyCase, name.toLowerCase(), value);
    }
  }

  /** Also returns null if the parameter is present twice, because it is not defined which one counts. */
  get(name: string): string | null {
    return only(this.#asWritten.get(name));
  }

  getInAnyCase(name: string): string | null {
    return only(this.#inAnyCase.get(name));
  }
}

function add(values: Map<string, string[]>, name: string, value: string): void {
  const there = values.get(name);
  if (there === undefined) values.set(name, [value]);
  else there.push(value);
}

const only = (values: readonly string[] | undefined): string | null =>
  values === undefined || values.length !== 1 ? null : (values[0] ?? null);

/** Signature V4 of S3, of compatible services and of Google Cloud Storage. */
function fromDateAndSeconds(query: Query, prefix: 'x-amz' | 'x-goog'): number | null {
  const date = query.getInAnyCase(`${prefix}-date`);
  const seconds = wholeNumber(query.getInAnyCase(`${prefix}-expires`));
  if (date === null || seconds === null || query.getInAnyCase(`${prefix}-signature`) === null) return null;
  const [, year, month, day, hours, minutes, rest] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date) ?? [];
  const signedAt = getMoment(`${year}-${month}-${day}T${hours}:${minutes}:${rest}Z`);
  return signedAt === null ? null : signedAt + seconds * 1000;
}

/** The signing key's id. If one of these is present, S3, Google or CloudFront uses `Expires`. */
const SIGNERS = ['AWSAccessKeyId', 'GoogleAccessId', 'Key-Pair-Id'];

/** Signature V2 of S3 and of Google Cloud Storage, and the canned policy of CloudFront. */
function fromEpochSeconds(query: Query): number | null {
  const seconds = wholeNumber(query.get('Expires'));
  if (seconds === null || query.get('Signature') === null) return null;
  return SIGNERS.some((signer) => query.get(signer) !== null) ? seconds * 1000 : null;
}

/** The custom policy of CloudFront: JSON in base64 with a modified alphabet. */
function fromCloudFrontPolicy(query: Query): number | null {
  const policy = query.get('Policy');
  if (policy === null || query.get('Signature') === null || query.get('Key-Pair-Id') === null) return null;
  const base64 = policy.replaceAll('-', '+').replaceAll('_', '=').replaceAll('~', '/');
  let statements: unknown;
  try {
    statements = (JSON.parse(Buffer.from(base64, 'base64').toString()) as { Statement?: unknown } | null)?.Statement;
  } catch {
    return null;
  }
  if (!Array.isArray(statements)) return null;
  const [statement] = statements as readonly ({ Condition?: Record<string, Record<string, unknown> | null> } | null)[];
  const seconds = statement?.Condition?.DateLessThan?.['AWS:EpochTime'];
  return typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/** Azure. The key that signs for a user may expire before the link. */
function fromSharedAccessSignature(query: Query): number | null {
  if (query.getInAnyCase('sig') === null) return null;
  const ends = ['se', 'ske'].map((name) => azureMoment(query.getInAnyCase(name) ?? ''));
  const known = ends.filter((end) => end !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/**
 * A day, or a time with optional seconds and fractions, in UTC or with an offset. A `+` that was not encoded is decoded
 * as a space.
 */
const AZURE = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d)?(\.\d{1,7})?(Z|[-+ ]\d\d:\d\d)?)?$/;

function azureMoment(text: string): number | null {
  const [whole, day, minutes = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = AZURE.exec(text) ?? [];
  if (whole === undefined) return null;
  if (getMoment(`${day}T${minutes}${seconds}Z`) === null) return null;
  const moment = Date.parse(`${day}T${minutes}${seconds}${fraction}${zone.replace(' ', '+')}`);
  return Number.isNaN(moment) ? null : moment;
}

/** Returns null if the day or time does not exist: `Date` would turn 31 February into 3 March. */
function getMoment(isoSeconds: string): number | null {
  const moment = Date.parse(isoSeconds);
  if (Number.isNaN(moment)) return null;
  return new Date(moment).toISOString().startsWith(isoSeconds.slice(0, -1)) ? moment : null;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
