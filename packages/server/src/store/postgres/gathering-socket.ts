import { Socket } from 'node:net';

/**
 * The driver corks once for each prepared statement, and so writes once for each: here all that is asked in one turn
 * leaves in one write. An admission has six at once, an end as many. Where the connection is encrypted this is only its
 * bottom, and gathers nothing.
 */
export class GatheringSocket extends Socket {
  #gathering = false;

  override cork(): void {
    if (!this.#gathering) {
      this.#gathering = true;
      super.cork();
      process.nextTick(() => {
        this.#gathering = false;
        super.uncork();
      });
    }
    super.cork();
  }
}
