import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Returns `host:port`, such as `0.0.0.0:8787` or `[::1]:8787`. */
export function listeningAddress(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** Returns a URL that works on this machine, also if the server listens on all addresses. */
export function listeningUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const any = address === '0.0.0.0' || address === '::';
  const host = any ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
