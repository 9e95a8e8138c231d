import { count, named, nullable, text, time } from './kit.ts';
import { Type } from './type.ts';
import { measuredRuns } from './usage.ts';

const measures = (description: string) =>
  Type.Object(
    { runs: count('Number of runs.'), tokens: count('Tokens of prompts and answers.'), ...measuredRuns },
    { description },
  );

const integration = { apiIntegrationId: text('Identifier of the integration.') };

export const Overview = named(
  'Overview',
  Type.Object(
    {
      from: time('Runs that were admitted at this time or later: the beginning of an hour.'),
      to: time('The time of the answer.'),
      measures: measures('The runs since `from`.'),
      before: measures('The runs of as many hours before `from`.'),
      activeRuns: count('Runs that have not ended.'),
      openQuestions: count('Questions that wait for an answer; 1000 if there are more.'),
      failures: Type.Array(
        Type.Object(
          {
            code: text('The error code.'),
            error: text('The sentence.'),
            count: count('How many of the newest 200 failed runs of each integration have it.'),
            runId: text('The newest of them.'),
          },
          { description: 'Runs that failed with the same sentence.' },
        ),
        { description: 'The failures since `from` by code and sentence, the most frequent first.' },
      ),
      brokenAgencies: Type.Array(
        Type.Object(
          { agency: text('Name of the agency.'), error: text('The first fault.') },
          { description: 'An agency that cannot be loaded as it is.' },
        ),
        { description: 'The broken agencies of the integrations.' },
      ),
      failedMcpServers: Type.Array(
        Type.Object(
          {
            agency: text('Name of the agency.'),
            server: text('Name of the MCP server.'),
            error: nullable(text('Why it cannot be used.')),
          },
          { description: 'An MCP server that this node cannot use.' },
        ),
        { description: 'The failed MCP servers of the agencies of the integrations.' },
      ),
      exhaustedMembers: Type.Array(
        Type.Object(
          { ...integration, consumerId: text('The member.') },
          { description: 'A member that has used up its allowance.' },
        ),
        { description: 'Among the members of the newest 500 runs of each integration since `from`.' },
      ),
      expiringKeys: Type.Array(
        Type.Object(
          {
            keyId: text('Identifier of the key.'),
            name: text('Its name.'),
            expiresAt: time('When it expires.'),
          },
          { description: 'An API key that expires within 14 days.' },
        ),
        { description: "The owner's keys that expire next." },
      ),
      disabledWebhooks: Type.Array(
        Type.Object(
          {
            ...integration,
            endpointId: text('Identifier of the endpoint.'),
            reason: text('Why it was disabled.'),
          },
          { description: 'A webhook endpoint that was disabled because posts failed.' },
        ),
        { description: 'Endpoints that were disabled.' },
      ),
    },
    { description: 'What happened in the last hours, and what needs a person. Lists have at most 20 items.' },
  ),
);
