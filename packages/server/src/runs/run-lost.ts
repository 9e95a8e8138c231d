/** The run was ended, or taken over, by somebody else: nothing more of this attempt may be written. */
export class RunLost extends Error {
  override readonly name = 'RunLost';
}

/** This very end was written before, and the answer to its commit lost: nothing is to be written again. */
export class AlreadyEnded extends Error {
  override readonly name = 'AlreadyEnded';
}
