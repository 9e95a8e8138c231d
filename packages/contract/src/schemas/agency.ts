import { listOf, named, nullable, oneOfStrings, text } from './kit.ts';
import { Type } from './type.ts';

const agent = Type.Object(
  {
    name: text('Name of the agent.'),
    description: nullable(text('What the agent does. Null if the definition does not say.')),
    model: nullable(text('Model of the agent, as `provider/model`.')),
    tools: Type.Array(Type.String(), { description: 'Names of the tools of the agent.' }),
  },
  { description: 'An agent.' },
);

const flow = Type.Object(
  {
    from: text('The agent that hands over or delegates.'),
    to: text('The agent that continues or is asked.'),
    kind: oneOfStrings(['handoff', 'delegate'], {
      description: '`handoff`: `to` continues the run. `delegate`: `to` answers, and `from` continues.',
    }),
  },
  { description: 'A way from one agent to another.' },
);

export const Agency = named(
  'Agency',
  Type.Object(
    {
      agency: text('Identifier of the agency.'),
      name: nullable(text('Name of the agency, for people.')),
      defaultAgent: nullable(text('Entry point that is used if a request names none.')),
      entryPoints: Type.Array(Type.String(), {
        description: 'Names of the agents that a request may name in `agent`.',
      }),
      agents: Type.Array(agent, { description: 'All agents of the agency.' }),
      flows: Type.Array(flow, { description: 'Which agents hand over or delegate to which.' }),
      error: nullable(text('Why the agency could not be loaded. Null if it was loaded.')),
    },
    { description: 'A group of agents that work together.' },
  ),
);

export const AgencyList = listOf('AgencyList', Agency);
