import assert from 'node:assert/strict';
import type { FormAnswer, FormPart } from '@runwire/test-kit';

export function says(answer: FormAnswer, status: number, code: string | null): void {
  assert.deepEqual([answer.status, answer.code], [status, code], answer.body);
  assert.equal(answer.headers['access-control-allow-origin'], '*');
  if (code === null) return;
  assert.equal(answer.headers['content-type'], 'application/xml');
  assert.match(
    answer.body,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<Error><Code>.*<RequestId>req_\w+<\/RequestId><HostId>/s,
  );
}

export const without = (parts: readonly FormPart[], name: string) => parts.filter((part) => part.name !== name);
export const changed = (parts: readonly FormPart[], name: string, value: string) =>
  parts.map((part) => (part.name === name ? { ...part, value } : part));
