import type { Duplex } from 'node:stream';

/** The network as a parameter, so that a proof can watch it. */
export interface Network {
  /** Resolves to every address of a name, or to none if the name is unknown. */
  resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Opens a TLS connection to exactly this address. The certificate must be valid for `servername`. */
  dial(to: DialTo, signal: AbortSignal): Promise<Duplex>;
}

export interface DialTo {
  readonly address: string;
  readonly port: number;
  readonly servername: string;
}
