/** What is wrong with a server of an agency, and what to do. */
export interface ServerProblem {
  readonly agency: string;
  readonly server: string;
  readonly error: string;
}
