import {
  described,
  displayName,
  flag,
  integrationId,
  modelId,
  named,
  nullable,
  oneOfStrings,
  strictObject,
  text,
  time,
  toList,
} from './kit.ts';
import { Type } from './type.ts';
import { AllowanceSetting } from './usage.ts';

const agency = (options: object = {}) => text('The agency that answers. The default is the demo agency.', options);
const defaultAgent = (options: object = {}) => text('Entry point that is used if a request names no `agent`.', options);
const textOnly = () => flag('True if completions answer in Text Only Mode, as `text/plain`.');
const allowances = () =>
  described(nullable(AllowanceSetting), 'Allowance of each member and period. Null if member allowances are off.');
const onDisconnect = () =>
  oneOfStrings(['continue', 'cancel'], {
    description: 'What happens to a run that had no reader for 10 s: `continue` or `cancel`.',
  });
const maxRunSeconds = (description: string) => Type.Integer({ minimum: 1, maximum: 86_400, description });
const maxRunsPerMember = () =>
  nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Maximum number of concurrent runs of a member. Null if it is not limited.',
    }),
  );
const keepAttachments = () =>
  flag('True if the server keeps a copy of each fetched attachment as long as the chat exists.');

const clientTools = () => flag('True if requests may bring tools that the caller runs (`clientTools`).');

const callerInstructions = () =>
  flag(
    'True if requests may bring instructions of their own (`instructions`, and system messages of compatible APIs).',
  );
const autoRegister = () =>
  flag(
    'True if compatible APIs register an unknown member with its first run. `POST /get_completion_v2` never does this.',
  );

/** The compatible APIs, as answers order them. */
export const COMPATIBLE_APIS = ['openai', 'ai-sdk', 'ag-ui', 'mcp', 'agency-swarm'] as const;
const compatibleApis = () =>
  Type.Array(oneOfStrings([...COMPATIBLE_APIS]), {
    maxItems: COMPATIBLE_APIS.length,
    uniqueItems: true,
    description: 'The compatible APIs that are on. An API that is off answers 404. The default is all of them.',
  });

const model = (options: object = {}) =>
  nullable(
    text('`provider/model` for agents that name no model. Null: the model of the agency or of the server.', options),
  );

const fileAccess = () =>
  oneOfStrings(['chat', 'member', 'all'], {
    description:
      'Which files the agents of a run see: `chat` (announced in the chat, or made by its runs), `member` (these, and all files below the folder of the member) or `all` (all files of the integration). The default is `chat`.',
  });
const memberFolder = (options: object = {}) =>
  text(
    'Template of the folder of a member, with `{consumerId}` as a whole path segment. The default is `/app/mnt/members/{consumerId}`.',
    options,
  );

/** 1 PiB, as for the settings. */
const MAX_QUOTA_BYTES = 2 ** 50;
const quota = (description: string) => nullable(Type.Integer({ minimum: 0, maximum: MAX_QUOTA_BYTES, description }));
const quotaBytes = () =>
  quota('Maximum bytes of all files of the integration. Null: `RUNWIRE_MOUNT_QUOTA_BYTES` of the server. 0: no quota.');
const memberQuotaBytes = () =>
  quota(
    'Maximum bytes of the files below the folder of one member. Null: `RUNWIRE_MEMBER_QUOTA_BYTES` of the server. 0: no quota.',
  );

export const Integration = named(
  'Integration',
  Type.Object(
    {
      apiIntegrationId: text('Identifier of the integration.'),
      name: nullable(text('Name of the integration, for people.')),
      agency: agency(),
      defaultAgent: nullable(defaultAgent()),
      textOnly: textOnly(),
      allowances: allowances(),
      onDisconnect: onDisconnect(),
      maxRunSeconds: maxRunSeconds('Maximum duration of a run in seconds; a longer run fails.'),
      maxRunsPerMember: maxRunsPerMember(),
      keepAttachments: keepAttachments(),
      model: model(),
      fileAccess: fileAccess(),
      memberFolder: memberFolder(),
      quotaBytes: quotaBytes(),
      memberQuotaBytes: memberQuotaBytes(),
      clientTools: clientTools(),
      callerInstructions: callerInstructions(),
      autoRegister: autoRegister(),
      compatibleApis: compatibleApis(),
      createdAt: time('When the integration was created.'),
      updatedAt: time('When the integration was last changed.'),
    },
    { description: 'An integration: an agency with settings, members, chats and files.' },
  ),
);

export const IntegrationList = toList('IntegrationList', Integration);

const changeable = {
  name: Type.Optional(
    displayName('Name of the integration, for people. A new integration without one has its id as name.'),
  ),
  agency: Type.Optional(agency({ minLength: 1 })),
  defaultAgent: Type.Optional(defaultAgent({ minLength: 1 })),
  textOnly: Type.Optional(textOnly()),
  allowances: Type.Optional(allowances()),
  onDisconnect: Type.Optional(onDisconnect()),
  maxRunSeconds: Type.Optional(
    nullable(
      maxRunSeconds('Maximum duration of a run in seconds. Null: the default of the server, which answers show.'),
    ),
  ),
  maxRunsPerMember: Type.Optional(maxRunsPerMember()),
  keepAttachments: Type.Optional(keepAttachments()),
  model: Type.Optional(model({ maxLength: 200, pattern: modelId })),
  fileAccess: Type.Optional(fileAccess()),
  memberFolder: Type.Optional(memberFolder({ maxLength: 1000 })),
  quotaBytes: Type.Optional(quotaBytes()),
  memberQuotaBytes: Type.Optional(memberQuotaBytes()),
  clientTools: Type.Optional(clientTools()),
  callerInstructions: Type.Optional(callerInstructions()),
  autoRegister: Type.Optional(autoRegister()),
  compatibleApis: Type.Optional(compatibleApis()),
};

export const CreateIntegrationRequest = named(
  'CreateIntegrationRequest',
  strictObject(
    {
      apiIntegrationId: Type.Optional(
        text('Identifier of the integration; it can never be used again. Without it the server chooses one.', {
          pattern: integrationId,
        }),
      ),
      ...changeable,
    },
    { description: 'The integration to create.' },
  ),
);

export const UpdateIntegrationRequest = named(
  'UpdateIntegrationRequest',
  strictObject(changeable, { description: 'The fields to change.' }),
);
