import { operationRoles } from '@runwire/contract';

export { includesRole, type Role } from '@runwire/contract';

/** A client token is refused if the person or key that minted it could not mint it now. */
export const MINTING_ROLE = operationRoles.createClientToken;
