import { displayName, integrationId, listOf, named, nullable, oneOfStrings, strictObject, time } from './kit.ts';
import { Type } from './type.ts';
import { AllowanceSetting } from './usage.ts';

const onDisconnect = () => oneOfStrings(['continue', 'cancel']);
const maxRunSeconds = () => Type.Integer({ minimum: 1, maximum: 86_400 });
const maxRunsPerMember = () => nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }));

export const Integration = named(
  'Integration',
  Type.Object({
    apiIntegrationId: Type.String(),
    name: nullable(Type.String()),
    agency: Type.String(),
    defaultAgent: nullable(Type.String()),
    textOnly: Type.Boolean(),
    allowances: nullable(AllowanceSetting),
    onDisconnect: onDisconnect(),
    maxRunSeconds: maxRunSeconds(),
    maxRunsPerMember: maxRunsPerMember(),
    keepAttachments: Type.Boolean(),
    createdAt: time(),
    updatedAt: time(),
  }),
);

export const IntegrationList = listOf('IntegrationList', Integration);

const changeable = {
  name: Type.Optional(displayName()),
  agency: Type.Optional(Type.String({ minLength: 1 })),
  defaultAgent: Type.Optional(Type.String({ minLength: 1 })),
  textOnly: Type.Optional(Type.Boolean()),
  allowances: Type.Optional(nullable(AllowanceSetting)),
  onDisconnect: Type.Optional(onDisconnect()),
  /** Null: as the installation has it. Answers say how long that is. */
  maxRunSeconds: Type.Optional(nullable(maxRunSeconds())),
  maxRunsPerMember: Type.Optional(maxRunsPerMember()),
  keepAttachments: Type.Optional(Type.Boolean()),
};

export const CreateIntegrationRequest = named(
  'CreateIntegrationRequest',
  strictObject({
    apiIntegrationId: Type.Optional(Type.String({ pattern: integrationId })),
    ...changeable,
  }),
);

export const UpdateIntegrationRequest = named('UpdateIntegrationRequest', strictObject(changeable));
