/** Returns an environment variable's value, or null if it is not set. */
export type ReadVariable = (name: string) => string | null;

/** How the client introduces itself to servers. */
export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}
