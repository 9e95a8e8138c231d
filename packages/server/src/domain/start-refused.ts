/** The server cannot start. The message is one sentence that tells the operator what to change. */
export class StartRefused extends Error {
  override readonly name: string = 'StartRefused';
}
