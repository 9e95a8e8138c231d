import type { ClientPermission } from '@runwire/contract/schemas';
import type { IntegrationId } from '../ids.ts';
import type { Principal } from './principal.ts';
import type { MemberScope } from './scope.ts';

/** What a client token permits, and for whom. */
export interface ClientToken extends MemberScope {
  readonly integrationId: IntegrationId;
  /**
   * The `sort_key` of the member's row, which is random and never changes: a token does not fit the row of a member that
   * was deleted and created again. Null in tokens that an earlier version minted; they last at most one hour.
   */
  readonly memberKey: string | null;
  /** Null if every entry point may be used. */
  readonly agent: string | null;
  readonly can: readonly ClientPermission[];
  /** A whole path. Null if the token reaches no file. */
  readonly folder: string | null;
  /** Only the owner can set it, because tools trust it. */
  readonly userContext: unknown;
  /** Null if pages of every origin may use the token. */
  readonly origins: readonly string[] | null;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Who sends a request. */
export interface Caller {
  /** The owner and the API key. With a client token: the key that minted it. */
  readonly principal: Principal;
  /** Null if the request was sent with an API key. */
  readonly clientToken: ClientToken | null;
}
