import { AuthenticationError, ConnectionLostError, RunwireError } from '@runwire/client';

type Fields = Readonly<Record<string, unknown>>;

/** Sends a request for which the client has no method, because it needs no token. Returns the answer's fields. */
export async function fetchFields(url: URL, init: RequestInit): Promise<Fields> {
  let answer: Response;
  let fields: Fields;
  try {
    answer = await fetch(url, init);
    fields = answer.status === 204 ? {} : await answer.json();
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new ConnectionLostError(null, 'connection_lost', 'The server did not answer.', error);
  }
  if (answer.ok) return fields;
  const Refused = answer.status === 401 ? AuthenticationError : RunwireError;
  throw new Refused({
    code: fields.code as RunwireError['code'],
    message: String(fields.error),
    status: answer.status,
    requestId: answer.headers.get('x-request-id'),
    retryAfterSeconds: Number(answer.headers.get('retry-after')) || null,
  });
}
