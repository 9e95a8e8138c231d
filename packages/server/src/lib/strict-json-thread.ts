import { parentPort } from 'node:worker_threads';
import type { JsonResult, JsonTask } from './json-worker.ts';
import { JsonRefused, parseStrictJson } from './strict-json.ts';

function result({ id, bytes, limits }: JsonTask): JsonResult {
  try {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { id, value: parseStrictJson(buffer, limits) };
  } catch (error) {
    if (error instanceof JsonRefused) return { id, refused: error.message };
    throw error;
  }
}

parentPort?.on('message', (task: JsonTask) => parentPort?.postMessage(result(task)));
