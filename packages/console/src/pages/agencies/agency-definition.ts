import { queryOptions } from '@tanstack/react-query';
import { api } from '../../app/api.ts';

/** What the models of the agency read. Another version has another one, and MCP servers can change their tools. */
export const definitionQuery = (agency: string, version: string | null, mcpTools: number) =>
  queryOptions({
    queryKey: ['agency-definition', agency, version, mcpTools],
    queryFn: ({ signal }) => api().agencies.definition({ agency }, { signal }),
    enabled: version !== null,
    placeholderData: (before) => (before?.agency === agency ? before : undefined),
  });
