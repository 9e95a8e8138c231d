import assert from 'node:assert/strict';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { imageAttachment, makePng, startTestServer } from '@runwire/test-kit';
import { messagesFrame } from './scripted-server.ts';

/** The database and an installation's folder; `''` is the embedded store. */
export interface Place {
  readonly dataDir: string;
  readonly url: string;
}

export const getEnv = ({ dataDir, url }: Place) => ({ RUNWIRE_DATA_DIR: dataDir, DATABASE_URL: url });

export const startAt = ({ dataDir, url }: Place, env: Readonly<Record<string, string>> = {}) =>
  startTestServer({ dataDir, env: { DATABASE_URL: url, ...env } });

export const getMark = (dataDir: string) => join(dataDir, 'blobs', 'installation');

/** Returns the images' paths in a data folder. */
export const imagesIn = (dataDir: string) =>
  (readdirSync(join(dataDir, 'blobs'), { recursive: true }) as string[])
    .filter((path) => /^[0-9a-f]{2}\/./.test(path))
    .map((path) => join(dataDir, 'blobs', path));

/**
 * Starts an installation whose chat has images that are old enough for a sweep if no row refers to them. Then stops it.
 */
export async function useOnce(place: Place, images = 1): Promise<void> {
  {
    await using server = await startAt(place);
    const attachments = Array.from({ length: images }, (_, index) => imageAttachment(makePng(200, index)));
    const reader = await server.api.complete({ chatId: 'seen', attachments });
    await reader.whole();
    assert.equal(messagesFrame(reader).status, 'completed');
  }
  const longAgo = new Date(Date.now() - 3 * 86_400_000);
  for (const path of imagesIn(place.dataDir)) utimesSync(path, longAgo, longAgo);
  assert.equal(imagesIn(place.dataDir).length, images);
}

/** Starts it again: none of its files is swept, and its chat continues with its images. */
export async function checkChatContinues(place: Place): Promise<void> {
  const images = imagesIn(place.dataDir);
  await using server = await startAt(place);
  assert.equal(await server.server.probes.sweepBlobs(), 0);
  assert.deepEqual(imagesIn(place.dataDir), images);
  const reader = await server.api.complete({ chatId: 'seen' });
  await reader.whole();
  assert.equal(messagesFrame(reader).status, 'completed');
}
