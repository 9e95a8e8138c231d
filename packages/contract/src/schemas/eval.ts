import { idThatMayBeBlank, userContext } from './completion.ts';
import { history } from './history.ts';
import { flag, freeObject, named, nullable, recordSchema, ref, strictObject, text } from './kit.ts';
import { Type } from './type.ts';

const optional = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema));
const failed = () => Type.Optional(flag('True if the call fails.'));

export const EvalRequest = named(
  'EvalRequest',
  strictObject(
    {
      message: text('The message of the user.', { maxLength: 1_000_000 }),
      agent: optional(text('The entry point. By default that of the integration.')),
      agency: optional(text('An agency that is loaded. By default that of the integration.')),
      model: optional(text('`provider/model` for the first agent and for every agent that names none.')),
      instructions: optional(text('Replaces the instructions of the first agent.', { maxLength: 1_000_000 })),
      user_context: Type.Optional(userContext()),
      history: Type.Optional(history()),
      outputSchema: optional(freeObject({ description: 'JSON Schema for the answer of the first agent.' })),
      alone: optional(
        flag(
          'True: the first agent has no tools, no other agents and no settings. It makes one call of its model, with ' +
            'temperature 0 if the model has one. A judge is such a run.',
        ),
      ),
    },
    { description: 'What the agent is asked, as in `POST /get_completion_v2`, and with what.' },
  ),
);

export const EvalTool = named(
  'EvalTool',
  strictObject(
    {
      output: Type.Unsafe<unknown>({ description: 'Text, or a value that the model gets as JSON.' }),
      failed: failed(),
    },
    { description: 'What each call of a tool returns.' },
  ),
);

export const EvalCall = named(
  'EvalCall',
  strictObject(
    {
      agent: text('The agent that made the call.'),
      callerAgent: optional(text('The agent that asked it. Null if the user asked.')),
      tool: text('The called tool.'),
      arguments: text('The arguments as JSON text.', { maxLength: 1_000_000 }),
      output: text('What the call returned.', { maxLength: 1_000_000 }),
      failed: failed(),
    },
    { description: 'A call of another run, with its outcome.' },
  ),
);

export const EvalRunRequest = named(
  'EvalRunRequest',
  strictObject(
    {
      request: ref(EvalRequest),
      tools: Type.Optional(
        recordSchema(ref(EvalTool), {
          description: 'By the name of a tool: what its calls return. They are not executed.',
        }),
      ),
      recorded: Type.Optional(
        Type.Array(ref(EvalCall), {
          maxItems: 1000,
          description: 'Calls of another run. Equal calls get their outcomes, as in a rerun.',
        }),
      ),
      usageRequestId: Type.Optional(
        nullable(idThatMayBeBlank('Unique id of this request, as in `POST /get_completion_v2`.')),
      ),
    },
    { description: 'A run for an eval.' },
  ),
);
