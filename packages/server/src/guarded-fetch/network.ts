import type { Duplex } from 'node:stream';

/** The way out: handed in, so that a proof can watch it. */
export interface Network {
  /** Every address of a name; none where it is not known. */
  resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]>;
  /** A connection that is open and secured, to this address and no other; `servername`: what the certificate must be for. */
  dial(to: DialTo, signal: AbortSignal): Promise<Duplex>;
}

export interface DialTo {
  readonly address: string;
  readonly port: number;
  readonly servername: string;
}
