import { Socket } from 'node:net';

/**
 * Sends all statements of one turn of the event loop in one write. The driver itself corks, and therefore writes, once
 * per prepared statement: an admission has six of them, an end as many. Under TLS this socket gathers nothing, because
 * the TLS layer writes to it.
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
