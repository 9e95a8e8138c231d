import assert from 'node:assert/strict';
import type { ApiClient } from '@runwire/test-kit';

/** Asserts that a call is refused with this status and code, and a sentence that `says` matches. */
export async function refused(
  answer: ReturnType<ApiClient['get']>,
  status: number,
  code: string,
  says = /./,
): Promise<void> {
  const { status: got, body } = await answer;
  assert.deepEqual([got, body.code], [status, code], body.error);
  assert.match(body.error, says);
}
