import { parentPort } from 'node:worker_threads';
import { JsonRefused, parseStrictJson } from '@runwire/lib/strict-json.ts';
import type { JsonResult, JsonTask } from './json-worker.ts';
import { takeOut } from './take-out.ts';

function result({ id, bytes, limits, extraction }: JsonTask): JsonResult {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const value = parseStrictJson(buffer, limits);
    return { id, value, files: extraction === null ? [] : takeOut(value, extraction) };
  } catch (error) {
    if (error instanceof JsonRefused) return { id, refused: error.message };
    throw error;
  }
}

parentPort?.on('message', (task: JsonTask) => {
  const answer = result(task);
  // Frees the body now: a thread without work collects no garbage and would keep the last bodies.
  task.bytes.buffer.transfer(0);
  const files = 'files' in answer ? answer.files : [];
  // Transferred, not copied.
  const buffers = files.flatMap(([, file]) => ('bytes' in file ? [file.bytes.buffer] : []));
  parentPort?.postMessage(answer, buffers);
});
