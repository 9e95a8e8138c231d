import { ConnectionLostError } from '@runwire/client';
import type { ComponentType } from 'react';

type PageModule<Name extends string> = Readonly<Record<Name, ComponentType>>;

/** A page that is loaded when it is first opened. That fails if the server does not answer or has other pages now. */
export function lazyPage<const Name extends string>(load: () => Promise<PageModule<Name>>, name: Name) {
  let Loaded: ComponentType | null = null;
  const preload = async () => {
    try {
      Loaded ??= (await load())[name];
    } catch (cause) {
      throw new ConnectionLostError(null, 'connection_lost', 'A part of the console did not load.', cause);
    }
  };
  // The router waits for `preload` before it shows the page.
  const LazyPage = () => (Loaded === null ? null : <Loaded />);
  return Object.assign(LazyPage, { preload });
}
