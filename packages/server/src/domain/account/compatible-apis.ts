import type { Integration } from '@runwire/contract';

export type ApiName = Integration['compatibleApis'][number];

/** All compatible APIs, as answers order them. */
export const COMPATIBLE_APIS: readonly ApiName[] = ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'];

/** Parses the column `compatible_apis`: names with commas between them. A later version may have stored others. */
export function parseApiNames(column: string): ApiName[] {
  const names = new Set(column.split(','));
  return COMPATIBLE_APIS.filter((name) => names.has(name));
}

/** The column's text, ordered like `COMPATIBLE_APIS`. */
export function toApiNames(chosen: readonly ApiName[]): string {
  return COMPATIBLE_APIS.filter((name) => chosen.includes(name)).join(',');
}
