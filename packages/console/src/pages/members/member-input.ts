import type { Input, Member } from '@runwire/client';
import { readObject } from '../../app/read-object.ts';
import type { Fields } from '../../ui/form.tsx';

type MemberFields = Pick<
  Input<'PUT /v2/integrations/:apiIntegrationId/members/:consumerId'>,
  'name' | 'allowance' | 'metadata'
>;

const METADATA = { name: 'metadata', label: 'Metadata', example: '{"plan": "pro"}' };

/** Reads what `MemberFields` shows. An empty field removes the value. */
export function readMemberFields(fields: Fields): MemberFields {
  const limit = fields.number('ownLimit');
  return {
    name: fields.text('name') || null,
    allowance: limit === null ? null : { limit },
    metadata: readObject(fields.text('metadata') || '{}', METADATA),
  };
}

/** The fields that differ from what the person saw. The server keeps all others as they are now. */
export function changedMemberFields(seen: Member, fields: Fields): MemberFields {
  const { name, ownLimit, metadata } = seen;
  const before = { name, allowance: ownLimit === null ? null : { limit: ownLimit }, metadata };
  return Object.fromEntries(
    Object.entries(readMemberFields(fields)).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof MemberFields]),
    ),
  );
}
