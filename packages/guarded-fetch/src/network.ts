import type { Duplex } from 'node:stream';

/** The network as a parameter, so that a proof can watch it. */
export interface Network {
  /** Resolves to every address of a name, or to none if the name is unknown. */
  resolve(hostname: string, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Opens a connection to exactly this address. With TLS the certificate must be valid for `servername`; without, the
   * address must be in an allow-list.
   */
  dial(to: DialTo, signal: AbortSignal): Promise<Duplex>;
}

export interface DialTo {
  readonly address: string;
  readonly port: number;
  readonly servername: string;
  /** True for http, without TLS. */
  readonly isPlain?: boolean;
}
