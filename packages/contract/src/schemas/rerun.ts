import { idThatMayBeBlank, userContext } from './completion.ts';
import { described, flag, named, nullable, oneOfStrings, ref, strictObject, text } from './kit.ts';
import { Run, Step } from './run.ts';
import { Type } from './type.ts';
import { Usage } from './usage.ts';

const optional = <T extends Parameters<typeof nullable>[0]>(schema: T) => Type.Optional(nullable(schema));

export const RerunRequest = named(
  'RerunRequest',
  strictObject(
    {
      afterStep: optional(
        Type.Integer({
          minimum: 0,
          maximum: 1e9,
          description:
            'The steps up to this one are kept: a finished step outside of delegations. By default 0: none is kept.',
        }),
      ),
      message: optional(text('Replaces the message of the user. Only with `afterStep` 0.', { maxLength: 1_000_000 })),
      agent: optional(text('Another entry point.')),
      agency: optional(text('Another agency, such as a second folder with the new version.')),
      model: optional(text('`provider/model` for the first agent and for every agent that names none.')),
      instructions: optional(
        text('Replaces the instructions of the first agent from the first new step on.', { maxLength: 1_000_000 }),
      ),
      user_context: Type.Optional(userContext()),
      tools: optional(
        oneOfStrings(['recorded', 'live'], {
          description:
            '`recorded`: calls that the original run made get the outcomes that they had then, and others are executed only if ' +
            'they may be repeated. `live`: calls are executed as in any run. The default is `recorded`.',
        }),
      ),
      keep: optional(
        flag('If true, the chat of the rerun is listed and is not deleted after some days. The default is false.'),
      ),
      usageRequestId: optional(idThatMayBeBlank('Unique id of this request, as in `POST /get_completion_v2`.')),
    },
    { description: 'How a run is run again.' },
  ),
);

const comparedStep = (description: string) => nullable(described(Step, description));

export const RunComparison = named(
  'RunComparison',
  Type.Object(
    {
      runs: Type.Array(ref(Run), { description: 'The run of the path, and the run `with` which it is compared.' }),
      steps: Type.Array(
        Type.Object(
          {
            left: comparedStep('The step of the run of the path. Null if it has none here.'),
            right: comparedStep('The step of the other run. Null if it has none here.'),
            change: oneOfStrings(['equal', 'changed', 'added', 'removed'], {
              description:
                '`equal`: same kind, agent, tool and arguments. `changed`: same position and kind. `added`: only the other run ' +
                'has the step. `removed`: only the run of the path has it.',
            }),
          },
          { description: 'A step of each run.' },
        ),
        { description: 'The steps of both runs, oldest first.' },
      ),
      text: Type.Object(
        {
          left: nullable(text('The answer of the run of the path.')),
          right: nullable(text('The answer of the other run.')),
        },
        { description: 'The final assistant texts.' },
      ),
      usage: Type.Object(
        { left: nullable(Usage), right: nullable(Usage) },
        { description: 'What the runs used. Null until they have ended.' },
      ),
    },
    { description: 'Two runs, step by step.' },
  ),
);
