import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SAMPLE_IMAGES } from '@runwire/server/testing';
import { cites } from '../requirements/cite.ts';
import { AttachmentRig, attachmentsShown, blobsIn, fileAt, imageAt } from './support/attachment-rig.ts';

const png = Buffer.from(SAMPLE_IMAGES['image/png'], 'base64');
const fixture = (name: string) =>
  readFileSync(new URL(`../packages/server/src/files/documents/fixtures/${name}`, import.meta.url));

/** A file's text as the model is shown it. */
function shownText(name: string, mediaType: string, text: string): string {
  const mark = hash('sha256', text).slice(0, 16);
  return `[File ${mark}: ${JSON.stringify(name)}, ${mediaType}. Its text follows, up to the line [End of file ${mark}]]\n${text}\n[End of file ${mark}]`;
}

test('an image and a text file by URL reach the model in their order, without the URL', async () => {
  await using rig = await AttachmentRig.start();
  const picture = rig.files.serve('/a/picture.png', png, 'image/png');
  const notes = rig.files.serve('/a/notes.txt', 'First.\nSecond.', 'text/plain');
  const { call, reader } = await rig.rig.answer({
    chatId: 'c',
    message: 'Look',
    attachments: [fileAt(`${notes}?key=hush`), imageAt(`${picture}?key=hush`, { detail: 'low' })],
  });
  assert.deepEqual(attachmentsShown(call), [
    [
      {
        kind: 'text',
        name: 'notes.txt',
        mediaType: 'text/plain',
        text: shownText('notes.txt', 'text/plain', 'First.\nSecond.'),
      },
      {
        kind: 'image',
        name: 'picture.png',
        mediaType: 'image/png',
        sizeBytes: png.length,
        detail: 'low',
        base64: SAMPLE_IMAGES['image/png'],
      },
    ],
  ]);
  assert.ok(!JSON.stringify(call.request).includes('127.0.0.1'));
  assert.ok(!reader.text.includes('hush'));
});
