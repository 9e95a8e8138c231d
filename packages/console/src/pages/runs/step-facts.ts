import type { Step } from '@runwire/client';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { shorten } from '../../lib/shorten.ts';

/** What a row tells about its step in one line: model, tokens, first output, tries and attempt. Empty for most calls. */
export function toFacts({ model, usage, firstTokenMs, tries, attempt }: Step): string {
  return [
    ...(model === null ? [] : [shorten(model, 40)]),
    ...(usage === null ? [] : [formatCount(usage.total_tokens, 'token')]),
    ...(firstTokenMs === null ? [] : [`first after ${formatDuration(firstTokenMs)}`]),
    ...(tries > 1 ? [`${tries} tries`] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ].join(', ');
}
