import { parentPort } from 'node:worker_threads';
import { JsonRefused, parseStrictJson } from '@runwire/lib/strict-json.ts';
import type { JsonResult, JsonTask } from './json-worker.ts';
import { takeOutImages } from './take-out-images.ts';

function result({ id, bytes, limits, imageFields }: JsonTask): JsonResult {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const value = parseStrictJson(buffer, limits);
    return { id, value, images: imageFields === null ? [] : takeOutImages(value, imageFields) };
  } catch (error) {
    if (error instanceof JsonRefused) return { id, refused: error.message };
    throw error;
  }
}

parentPort?.on('message', (task: JsonTask) => {
  const answer = result(task);
  // Frees the body now: a thread without work collects no garbage and would keep the last bodies.
  task.bytes.buffer.transfer(0);
  const images = 'images' in answer ? answer.images : [];
  // Transferred, not copied.
  const buffers = images.flatMap(([, image]) => ('bytes' in image ? [image.bytes.buffer] : []));
  parentPort?.postMessage(answer, buffers);
});
