import { keyRoles, operationRoles, type Role, type RoleOperation, scopedKeyOperations } from '@runwire/contract';
import type { Operation, OperationId } from '@runwire/contract/schemas';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../domain/account/caller.ts';
import { refuseBelow, refuseOutside } from '../domain/account/role-refusals.ts';
import { Refusal } from '../domain/refusal.ts';

/** The type requires an entry for every operation of the API. */
const ROLES: Readonly<Record<OperationId | RoleOperation, Role | null>> = operationRoles;

/** Throws if the table lacks the operation. Called when a route is registered. */
export function requireRoleEntry({ operationId, auth }: Operation): void {
  const needed: Role | null | undefined = ROLES[operationId as RoleOperation];
  if (needed === undefined || auth !== (needed !== null))
    throw new Error(`The table of roles is wrong for ${operationId}.`);
}

/**
 * Refuses what the caller's role does not allow, directly after 401. A client token has its own permissions: its person or key
 * was a `developer` when it was verified.
 */
export function checkRole(
  { principal, clientToken }: Caller,
  { operationId }: Operation,
  { params }: Pick<FastifyRequest, 'params'>,
): void {
  if (clientToken !== null) return;
  const id = operationId as RoleOperation;
  const needed = (principal.person === null ? keyRoles[id] : undefined) ?? ROLES[id];
  refuseBelow(principal.role, needed ?? 'manager');
  if (principal.integrations === null) return;
  const { apiIntegrationId } = (params ?? {}) as { readonly apiIntegrationId?: string };
  if (apiIntegrationId !== undefined) refuseOutside(principal, apiIntegrationId);
  else if (!scopedKeyOperations.has(operationId)) {
    throw new Refusal('role_forbidden', 'This API key is only for its integrations; use a key without `integrations`.');
  }
}
