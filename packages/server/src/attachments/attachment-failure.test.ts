import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchFailed, finalFailure } from '@runwire/guarded-fetch';
import type { StoredAttachment } from '../domain/attachment/attachment.ts';
import { attachmentFailure } from './attachment-failure.ts';

const own = { run_id: 'run_a', position: 0, filename_json: null, url_key: 'https://a.test/x' };
const attachment = own as StoredAttachment;
const sentence = (error: FetchFailed, ownRunId: string) =>
  attachmentFailure(error, attachment, ownRunId)?.message ?? '';

test('advises to attach again only if that can help', () => {
  const passing = new FetchFailed('unreachable', 'its server could not be reached');
  assert.match(sentence(passing, 'run_a'), /could not be reached; attach it again to a new message\.$/);
  assert.match(sentence(passing, 'run_b'), /could not be reached; send a fresh link to it in `attachmentUrlRefreshes`/);
  const final = finalFailure('refused', 'its host is private', 'name it in RUNWIRE_FETCH_ALLOW');
  assert.match(sentence(final, 'run_a'), /: its host is private; name it in RUNWIRE_FETCH_ALLOW\.$/);
  assert.match(sentence(final, 'run_b'), /; name it in RUNWIRE_FETCH_ALLOW, or start a new chat\.$/);
});
