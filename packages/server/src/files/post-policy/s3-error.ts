/** Status and message of each error of S3, and the code if it differs from the name. */
const ERRORS = {
  AccessDenied: [403, 'Access Denied'],
  BadDigest: [400, 'The Content-MD5 you specified did not match what we received.'],
  BadRequest: [400, 'An error occurred when parsing the HTTP request.'],
  EntityTooLarge: [400, 'Your proposed upload exceeds the maximum allowed size'],
  EntityTooSmall: [400, 'Your proposed upload is smaller than the minimum allowed size'],
  IncompleteBody: [400, 'The request body terminated unexpectedly'],
  InternalError: [500, 'We encountered an internal error. Please try again.'],
  InvalidAccessKeyId: [403, 'The AWS Access Key Id you provided does not exist in our records.'],
  InvalidArgument: [400, 'Invalid Argument'],
  InvalidDigest: [400, 'The Content-MD5 you specified was invalid.'],
  InvalidPolicyDocument: [
    400,
    'The content of the form does not meet the conditions specified in the policy document.',
  ],
  InvalidRequest: [400, 'Invalid Request'],
  KeyTooLongError: [400, 'Your key is too long'],
  MalformedPOSTRequest: [400, 'The body of your POST request is not well-formed multipart/form-data.'],
  /** The documentation of S3 has another code and message. S3 sends these. */
  MaxPostPreDataLengthExceeded: [400, 'Your POST request fields preceeding the upload file was too large.'],
  MethodNotAllowed: [405, 'The specified method is not allowed against this resource.'],
  NoSuchBucket: [404, 'The specified bucket does not exist'],
  /** S3 knows no folders, so it has no such error. */
  NameConflict: [409, 'A file and a folder cannot have one name.', 'InvalidRequest'],
  NotImplemented: [501, 'A header you provided implies functionality that is not implemented.'],
  PreconditionFailed: [412, 'At least one of the pre-conditions you specified did not hold'],
  RequestTimeTooSkewed: [403, "The difference between the request time and the server's time is too large."],
  RequestTimeout: [
    400,
    'Your socket connection to the server was not read from or written to within the timeout period. Idle connections will be closed.',
  ],
  ServiceUnavailable: [503, 'Service is unable to handle request.'],
  SignatureDoesNotMatch: [
    403,
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  ],
  UnsupportedSignature: [
    400,
    'The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.',
    'InvalidRequest',
  ],
} as const satisfies Record<string, readonly [status: number, message: string, code?: string]>;

type S3ErrorName = keyof typeof ERRORS;

/** A refusal with the code and message of S3. `details` become elements of the answer. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: string;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;

  constructor(name: S3ErrorName, message?: string, details: Readonly<Record<string, string>> = {}) {
    const [status, sentence, code = name] = ERRORS[name];
    super(message ?? sentence);
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

export const invalidPolicy = (problem: string) => new S3Error('InvalidPolicyDocument', `Invalid Policy: ${problem}`);

export const againstPolicy = (problem: string) =>
  new S3Error('AccessDenied', `Invalid according to Policy: ${problem}`);

export function invalidArgument(
  message: string,
  name: string,
  value: string,
  more: Readonly<Record<string, string>> = {},
): S3Error {
  return new S3Error('InvalidArgument', message, { ArgumentName: name, ArgumentValue: value, ...more });
}

export function errorXml({ code, message, details }: S3Error, requestId: string, hostId: string): string {
  return xml('Error', { Code: code, Message: message, ...details, RequestId: requestId, HostId: hostId });
}

export function xml(root: string, children: Readonly<Record<string, string>>): string {
  const inside = Object.entries(children).map(([name, text]) => `<${name}>${escaped(text)}</${name}>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${inside.join('')}</${root}>`;
}

/** Characters that XML 1.0 cannot contain. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  '\r': '&#13;',
};

function escaped(text: string): string {
  return text.replace(UNWRITABLE, '\ufffd').replace(/[&<>"'\r]/g, (character) => ENTITIES[character] ?? '');
}
