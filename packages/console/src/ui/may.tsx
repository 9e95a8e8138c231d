import { includesRole, type Me, operationRoles } from '@runwire/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { meQuery } from '../app/queries.ts';

export type Call = keyof typeof operationRoles;

/** True if the person's role allows the operation; false until it is known. */
export function useMay(call: Call): boolean {
  const { data: me } = useQuery(meQuery);
  return mayCall(me, call);
}

export function mayCall(me: Me | undefined, call: Call): boolean {
  const needed = operationRoles[call];
  return me !== undefined && needed !== null && includesRole(me.key.role, needed);
}

interface MayProps {
  /** The operation that the content calls. */
  readonly call: Call;
  readonly children: ReactNode;
}

/** Shows its content only to people whose role allows the operation. */
export function May({ call, children }: MayProps) {
  return useMay(call) ? children : null;
}
