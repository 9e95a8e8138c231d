import { ConnectionLostError } from '@runwire/client';
import type { ComponentType } from 'react';
import { connection } from './connection.ts';

type PageModule<Name extends string> = Readonly<Record<Name, ComponentType>>;

/**
 * A page that is loaded when it is first opened. If that fails, the server does not answer, or it has pages of another
 * version now. Both are fixed by a reload as soon as the server answers: browsers remember a module that failed.
 */
export function lazyPage<const Name extends string>(load: () => Promise<PageModule<Name>>, name: Name) {
  let Loaded: ComponentType | null = null;
  const preload = async () => {
    try {
      Loaded ??= (await load())[name];
    } catch (cause) {
      const error = new ConnectionLostError(null, 'connection_lost', 'A part of the console did not load.', cause);
      connection.reloadOnRecovery(error);
      throw error;
    }
  };
  const LazyPage = () => {
    if (Loaded === null) throw preload();
    return <Loaded />;
  };
  return Object.assign(LazyPage, { preload });
}
