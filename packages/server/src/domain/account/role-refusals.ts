import { includesRole, type Role } from '@runwire/contract';
import { Refusal } from '../refusal.ts';
import type { Principal } from './principal.ts';

export function refuseBelow(role: Role, needed: Role): void {
  if (includesRole(role, needed)) return;
  throw new Refusal(
    'role_forbidden',
    `This needs the role \`${needed}\`; yours is \`${role}\`. Ask a manager of the owner.`,
  );
}

type Reach = Pick<Principal, 'integrations'>;

/** True if the integration is one of the caller's key. The integration can belong to another owner. */
export const reaches = ({ integrations }: Reach, integrationId: string): boolean =>
  integrations === null || integrations.includes(integrationId);

/** A key with `integrations` learns nothing about other ones, not even if they exist. */
export function refuseOutside(principal: Reach, integrationId: string): void {
  if (reaches(principal, integrationId)) return;
  throw new Refusal('role_forbidden', 'This API key is not for this integration; use another key of the owner.');
}
