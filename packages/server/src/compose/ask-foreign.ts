import { GuardedFetcher, type Network } from '@runwire/guarded-fetch';
import { type AskForeign, MAX_OAUTH_BYTES, OAUTH_MS } from '@runwire/mcp-sessions';
import type { Config } from '../config/config.ts';

/** How MCP sessions reach addresses of other origins than their server's. */
export function openAskForeign({ fetchAllow }: Pick<Config, 'fetchAllow'>, network?: Network): AskForeign {
  const limits = { maxBytes: MAX_OAUTH_BYTES, maxMs: OAUTH_MS };
  const fetcher = new GuardedFetcher({ allow: fetchAllow, ...limits, ...(network === undefined ? {} : { network }) });
  return fetcher.ask.bind(fetcher);
}
