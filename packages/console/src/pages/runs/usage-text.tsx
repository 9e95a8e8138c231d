import type { Usage } from '@runwire/client';
import { formatCount, formatNumber } from '../../lib/format.ts';
import { Nothing } from '../../ui/nothing.tsx';

/** Tokens in one sentence. */
export function UsageText({ usage }: { readonly usage: Usage | null }) {
  if (usage === null) return <Nothing />;
  const { input_tokens: input, output_tokens: output, cached_tokens: cached, reasoning_tokens: reasoning } = usage;
  const parts = [
    `${formatNumber(input)} input${cached > 0 ? ` (${formatNumber(cached)} cached)` : ''}`,
    `${formatNumber(output)} output${reasoning > 0 ? ` (${formatNumber(reasoning)} reasoning)` : ''}`,
    `in ${formatCount(usage.request_count, 'model call')}`,
  ];
  return `${formatNumber(usage.total_tokens)}: ${parts.join(', ')}`;
}
