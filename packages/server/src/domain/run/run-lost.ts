/** Another node has ended the run or taken it over, so this attempt must write nothing more. */
export class RunLost extends Error {
  override readonly name = 'RunLost';

  /** The fence of every statement that writes to a run: `attempt` is no longer the run's newest. */
  static ofAttempt(runId: string, attempt: number): RunLost {
    return new RunLost(`Run ${runId} is no longer in attempt ${attempt}.`);
  }

  static ofFencedNode(): RunLost {
    return new RunLost('The other nodes have fenced the node that ran it.');
  }
}

/** An earlier try has written exactly this end, but the answer to its commit was lost. */
export class AlreadyEnded extends Error {
  override readonly name = 'AlreadyEnded';
}
