/** Why the server does not start; its message is the one sentence that says what to change. */
export class StartRefused extends Error {
  override readonly name: string = 'StartRefused';
}
