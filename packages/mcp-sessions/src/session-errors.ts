import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client';
import { STREAM_LOST_CODE } from './http-transport.ts';

/** True if the server refused the request unread, so that it may be sent once more on a new session. */
export function isRefusedUnread(error: unknown, hadSession: boolean): boolean {
  if (error instanceof UnauthorizedError) return true;
  if (error instanceof SdkHttpError) {
    const { status } = error.data;
    return status === 401 || (hadSession && (status === 400 || status === 404));
  }
  return isConnectionRefused(error);
}

function isConnectionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, cause, errors } = error as Error & { code?: unknown; cause?: unknown; errors?: readonly unknown[] };
  if (code === 'ECONNREFUSED') return true;
  if (errors !== undefined && errors.length > 0) return errors.every(isConnectionRefused);
  return cause !== undefined && isConnectionRefused(cause);
}

export const isTimeout = (error: unknown) => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** True if the server answered: the connection works, whatever the answer is. */
export const isAnswer = (error: unknown) => error instanceof ProtocolError && error.code !== STREAM_LOST_CODE;

/** True if the connection was lost during the call, whose outcome is unknown. */
export function isLost(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === STREAM_LOST_CODE;
  if (error instanceof SdkHttpError) return false;
  if (error instanceof SdkError) return error.code === SdkErrorCode.ConnectionClosed;
  return true;
}
