import { callerId, ref } from '../kit.ts';
import { Member, MemberList, PutMemberRequest } from '../member.ts';
import { bodyRefusals, integrationPath, integrationRefusals, operation, pageQuery } from '../operation.ts';
import { Type } from '../type.ts';

const memberParams = Type.Object({ apiIntegrationId: Type.String(), consumerId: Type.String() });

export const putMember = operation({
  operationId: 'putMember',
  method: 'PUT',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Register or update a member',
  description: 'Fields that are not given keep their values; a new member is active.',
  tags: ['Members'],
  auth: true,
  params: Type.Object({ apiIntegrationId: Type.String(), consumerId: callerId() }),
  body: ref(PutMemberRequest),
  responses: {
    200: { description: 'The member was updated.', schema: ref(Member) },
    201: { description: 'The member was registered.', schema: ref(Member) },
    ...integrationRefusals(),
    ...bodyRefusals(),
  },
});

export const getMember = operation({
  operationId: 'getMember',
  method: 'GET',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Read a member',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  responses: { 200: { description: 'The member.', schema: ref(Member) }, ...integrationRefusals() },
});

export const deleteMember = operation({
  operationId: 'deleteMember',
  method: 'DELETE',
  path: `${integrationPath}/members/:consumerId`,
  summary: 'Delete a member; its usage stays',
  tags: ['Members'],
  auth: true,
  params: memberParams,
  responses: { 204: { description: 'The member is deleted.' }, ...integrationRefusals() },
});

export const listMembers = operation({
  operationId: 'listMembers',
  method: 'GET',
  path: `${integrationPath}/members`,
  summary: 'List members, newest first',
  tags: ['Members'],
  auth: true,
  params: Type.Object({ apiIntegrationId: Type.String() }),
  query: Type.Object(pageQuery),
  responses: { 200: { description: 'A page of members.', schema: ref(MemberList) }, ...integrationRefusals() },
});
