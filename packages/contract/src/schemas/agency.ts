import { count, flag, freeObject, named, nullable, oneOfStrings, text, time, toList } from './kit.ts';
import { Type } from './type.ts';

const agent = Type.Object(
  {
    name: text('Name of the agent.'),
    description: nullable(text('What the agent does. Null if the definition does not say.')),
    model: nullable(text('Model of the agent, as `provider/model`.')),
    fallback: Type.Array(Type.String(), { description: 'Models that are asked if `model` cannot answer, in order.' }),
    tools: Type.Array(Type.String(), { description: 'Names of the tools of the agent.' }),
    approval: Type.Array(Type.String(), { description: 'Names of the tools whose calls a person must approve.' }),
    editable: Type.Array(Type.String(), {
      description: 'Names of the tools whose arguments an approval may change.',
    }),
    remember: Type.Array(Type.String(), { description: 'Names of the tools that an approval may allow for the chat.' }),
    conditional: Type.Array(Type.String(), {
      description: 'Names of the tools that `isEnabled` can hide from the model in a step.',
    }),
    sandbox: flag('True if the agent may run commands.'),
    starters: Type.Array(Type.String(), { description: 'Messages that a user may begin with.' }),
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
    lasts: nullable(
      oneOfStrings(['chat'], {
        description: '`chat`: later runs of the chat begin with `to`. Null if a hand-off lasts to the end of its run.',
      }),
    ),
    conditional: flag('True if `isEnabled` can hide it from the model of `from` in a step.'),
  },
  { description: 'A way from one agent to another.' },
);

const mcpServer = Type.Object(
  {
    server: text('Name of the server in the agency.'),
    state: oneOfStrings(['connected', 'connecting', 'failed'], {
      description: '`failed`: the last try to connect failed, and the next one follows.',
    }),
    tools: count('How many tools of the server agents get. The last known tools stay.'),
    error: nullable(
      text(
        'Why the server could not be connected and what to do, or which of its tools are left out. Null if nothing is wrong.',
      ),
    ),
    since: time('Since when the server has this state.'),
    lastOutput: nullable(
      text(
        'The last line that the program of the server wrote to stderr, without the secrets of its settings. It can quote runs, so ' +
          'only the administrator gets it. Null for all others, for servers with a URL, and if nothing was written.',
      ),
    ),
  },
  { description: 'An MCP server. If each run has its own session, the session of the newest run.' },
);

const fault = Type.Object(
  {
    message: text('What happened. The text of an error is shown to the owner of the run only.'),
    tool: nullable(text('The tool whose code caused it. Null if that is not known, or if it was no tool.')),
    callId: nullable(text('The call of the tool. Null if it is not known, or of another owner.')),
    runId: nullable(text('The run of the call. Null if it is not known, or of another owner.')),
    at: time('When the process ended.'),
  },
  { description: 'Why the process ended last. Null if it has not ended since this version was loaded.' },
);

const agencyProcess = Type.Object(
  {
    state: oneOfStrings(['running', 'starting', 'failed', 'none'], {
      description:
        '`starting`: it is started again after a fault, and calls wait for it. `failed`: it ended several times, and the ' +
        'next start follows after a pause. `none`: the agency has no code, or runs in the process of the server.',
    }),
    pid: nullable(count('Number of the process in its system. Null if it does not run.')),
    memoryBytes: nullable(count('Heap and buffers of the process. Null if it does not run or was not measured yet.')),
    restarts: count('How often the process was started again after a fault since this version was loaded.'),
    lastFault: nullable(fault),
  },
  { description: "The process that runs the agency's code, as this node sees it." },
);

const error = Type.Object(
  {
    message: text('The first fault, in one line.'),
    faults: Type.Array(
      Type.Object(
        {
          file: text('The file, by its path from the folder of the agency.'),
          line: nullable(Type.Integer({ description: 'The line, from 1. Null if the fault is not in a text.' })),
          column: nullable(Type.Integer({ description: 'The column, from 1. Null if the fault is not in a text.' })),
          message: text('What is wrong, and what to write.'),
        },
        { description: 'A fault.' },
      ),
      { description: 'Everything that is wrong.' },
    ),
  },
  {
    description:
      'Why the files of the agency cannot be loaded as they are now; null if they can. The other fields show the last ' +
      'version that could be loaded, which completions use. If there is none, completions get 503 `agency_unavailable`.',
  },
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
      source: nullable(
        oneOfStrings(['bundled', 'yaml', 'markdown', 'typescript'], {
          description: 'The form in which the agency is written. Null if it could not be loaded.',
        }),
      ),
      version: nullable(text('Hash of everything that the agency loads. Null if it could not be loaded.')),
      longChats: nullable(
        oneOfStrings(['summarize', 'leave_out'], {
          description:
            'What happens to the oldest turns of a chat that is too long for the model. Null if the agency could not be loaded.',
        }),
      ),
      summaryModel: nullable(
        text('Model that sums up the oldest turns. Null if the model of the agent that begins the run does.'),
      ),
      loadedAt: nullable(time('When this version was loaded. Null if the agency could not be loaded.')),
      mcp: Type.Array(mcpServer, { description: 'The MCP servers of the agency, as this node sees them.' }),
      process: agencyProcess,
      error: nullable(error),
    },
    { description: 'A group of agents that work together.' },
  ),
);

const shownTool = Type.Object(
  {
    name: text('Name of the tool, as the model calls it.'),
    description: text('What the model reads about the tool.'),
    inputSchema: freeObject({ description: 'JSON Schema of the arguments.' }),
    server: nullable(text('The MCP server that has the tool. Null if it is a tool of the agency or a built-in one.')),
  },
  { description: 'A tool that the model of an agent may call.' },
);

const guardrails = (description: string) =>
  Type.Array(
    Type.Object(
      {
        name: text('Name of the guardrail.'),
        on: oneOfStrings(['input', 'output', 'toolCall', 'toolResult'], { description: 'What it checks.' }),
      },
      { description: 'A function of the agency that checks what agents get, write or do.' },
    ),
    { description },
  );

export const AgencyDefinition = named(
  'AgencyDefinition',
  Type.Object(
    {
      agency: text('Identifier of the agency.'),
      version: nullable(text('Hash of everything that the agency loads. Null if it could not be loaded.')),
      sharedInstructions: text('The instructions that all agents get. May be empty.'),
      guardrails: guardrails('The guardrails that are asked for all agents, in their order.'),
      agents: Type.Array(
        Type.Object(
          {
            name: text('Name of the agent.'),
            instructions: nullable(text('The own instructions of the agent. Null if a function writes them.')),
            tools: Type.Array(shownTool, {
              description:
                'Its tools, besides flows. This node lists the tools of the MCP servers that it has connected.',
            }),
            output: nullable(
              freeObject({ description: 'JSON Schema of its answer. Null if its answers are free text.' }),
            ),
            guardrails: guardrails('Its own guardrails, which are asked after those of the agency.'),
          },
          { description: 'What an agent tells its model.' },
        ),
        { description: 'All agents of the agency. Empty if it could not be loaded.' },
      ),
    },
    { description: 'What the models of an agency read, as its files have it: placeholders are not filled in.' },
  ),
);

export const AgencyList = toList('AgencyList', Agency);
