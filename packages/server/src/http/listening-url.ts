import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As `host:port`, such as `0.0.0.0:8787` or `[::1]:8787`. */
export function listeningAddress(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** An address that works on this machine, also where it listens on all of them. */
export function listeningUrl(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const any = address === '0.0.0.0' || address === '::';
  const host = any ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}
