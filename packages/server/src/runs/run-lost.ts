/** The run was ended, or taken over, by somebody else: nothing more of this attempt may be written. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}
