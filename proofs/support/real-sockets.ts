import { createHook } from 'node:async_hooks';

/** What Node makes for each connection, datagram, listener and question to a name server, in this thread. */
const KINDS = new Set([
  'TCPWRAP',
  'TCPSERVERWRAP',
  'TCPCONNECTWRAP',
  'TLSWRAP',
  'UDPWRAP',
  'UDPSENDWRAP',
  'PIPECONNECTWRAP',
  'GETADDRINFOREQWRAP',
  'GETNAMEINFOREQWRAP',
  'QUERYWRAP',
]);

/** Counts what of this process touches a network from now on. */
export class RealSockets implements Disposable {
  count = 0;
  readonly #hook = createHook({
    init: (_, kind) => {
      if (KINDS.has(kind)) this.count += 1;
    },
  }).enable();

  [Symbol.dispose](): void {
    this.#hook.disable();
  }
}
