import assert from 'node:assert/strict';
import type { FormAnswer, FormPart } from '@runwire/test-kit';
import { eventually } from './eventually.ts';
import type { UploadServer } from './upload-server.ts';

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

/** The upload is refused, and nothing of it is stored: under no name, and as no draft. */
export async function refused(
  set: UploadServer,
  answer: Promise<FormAnswer>,
  status: number,
  code: string,
): Promise<FormAnswer> {
  const there = set.stored();
  const given = await answer;
  says(given, status, code);
  await eventually('no draft is left', async () => JSON.stringify(set.stored()) === JSON.stringify(there));
  return given;
}

export const without = (parts: readonly FormPart[], name: string) => parts.filter((part) => part.name !== name);
export const changed = (parts: readonly FormPart[], name: string, value: string) =>
  parts.map((part) => (part.name === name ? { ...part, value } : part));
