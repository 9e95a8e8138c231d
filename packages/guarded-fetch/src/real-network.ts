import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect } from 'node:tls';
import { finalFailure } from './fetch-failed.ts';
import type { Network } from './network.ts';
import { resolveName } from './resolve-name.ts';

/** Uses the machine's name servers and certificates (`NODE_EXTRA_CA_CERTS` adds to them). */
export const realNetwork: Network = {
  resolve: resolveName,
  async dial({ address, port, servername, isPlain }, signal) {
    signal.throwIfAborted();
    if (isPlain === true) return dialPlain(address, port, signal);
    const socket = connect({
      host: address,
      port,
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, so that no environment variable can disable it.
      rejectUnauthorized: true,
      // An address must not be sent as a server name (RFC 6066), but the certificate must be valid for it.
      ...(isIP(servername) === 0 ? { servername } : {}),
      checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate),
    });
    try {
      await once(socket, 'secureConnect', { signal });
      return socket;
    } catch (error) {
      socket.on('error', () => {});
      socket.destroy();
      signal.throwIfAborted();
      if (!socket.authorizationError) throw error;
      throw finalFailure(
        'unreachable',
        "its server's certificate is not valid for it, or not trusted here",
        'give that server a valid certificate, or add its certificate authority to NODE_EXTRA_CA_CERTS',
      );
    }
  },
};

async function dialPlain(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  const socket = connectPlain({ host, port });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.on('error', () => {});
    socket.destroy();
    throw error;
  }
}
