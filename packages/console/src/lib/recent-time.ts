const HOUR_MS = 3_600_000;

/** Times that people ask for often, as the address has them. */
export const RECENT: Readonly<Record<string, { readonly title: string; readonly ms: number }>> = {
  '1h': { title: 'Last hour', ms: HOUR_MS },
  '24h': { title: 'Last 24 hours', ms: 24 * HOUR_MS },
  '7d': { title: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
  '30d': { title: 'Last 30 days', ms: 30 * 24 * HOUR_MS },
};

/** The search with the start of its recent time, if it has one. */
export function fromRecent<Search extends { readonly last?: string }>(search: Search): Search & { from?: string } {
  const recent = RECENT[search.last ?? ''];
  return recent === undefined ? search : { ...search, from: new Date(Date.now() - recent.ms).toISOString() };
}
