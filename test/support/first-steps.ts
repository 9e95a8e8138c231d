import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { parseFrames } from '@runwire/test-kit';

export function isSignedWith(secret: string, apiKey: string): boolean {
  const [head, payload, signature] = apiKey.split('.');
  return createHmac('sha256', secret).update(`${head}.${payload}`).digest('base64url') === signature;
}

/** The printed command, as a person copies it from the screen. */
export function printedCurl(stdout: string): string {
  const lines = stdout.split('\n');
  const from = lines.findIndex((line) => line.trim().startsWith('curl '));
  const to = lines.findIndex((line, place) => place >= from && !line.endsWith('\\'));
  return lines.slice(from, to + 1).join('\n');
}

export function assertWholeStream(output: string): void {
  const frames = parseFrames(output);
  assert.equal(frames[0]?.event, 'meta');
  assert.equal(JSON.parse(frames.at(-2)?.data ?? '{}').status, 'completed');
  assert.deepEqual([frames.at(-1)?.event, frames.at(-1)?.data], ['end', '[DONE]']);
}
