import type { Agency, AgencyDefinition } from '@runwire/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';

/**
 * What the models of the agency read. It is read again if the agency has another version, or its MCP servers another number
 * of tools.
 */
export const definitionQuery = (agency: Pick<Agency, 'agency' | 'version' | 'mcp'> | undefined) => {
  const { agency: id = '', version = null, mcp = [] } = agency ?? {};
  return queryOptions({
    queryKey: ['agency-definition', id, version, mcp.reduce((sum, { tools }) => sum + tools, 0)],
    queryFn: ({ signal }) => api().agencies.definition({ agency: id }, { signal }),
    enabled: version !== null,
    placeholderData: (before) => (before?.agency === id ? before : undefined),
  });
};

/** The instructions of all agents and those of this agent. Empty if a function of the agency makes them. */
export const joinInstructions = (
  { sharedInstructions }: Pick<AgencyDefinition, 'sharedInstructions'>,
  { instructions }: Pick<AgencyDefinition['agents'][number], 'instructions'>,
): string => [sharedInstructions, instructions ?? ''].filter((text) => text !== '').join('\n\n');
