import type { KeyRow } from '../store/queries/accounts.ts';

/** The only integrations that a key reaches; null if it reaches all of its owner. */
export const parseIntegrations = ({
  integrations_json: json,
}: Pick<KeyRow, 'integrations_json'>): readonly string[] | null =>
  json === null ? null : (JSON.parse(json) as readonly string[]);
