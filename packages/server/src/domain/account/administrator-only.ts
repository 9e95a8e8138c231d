import { Refusal } from '../refusal.ts';
import type { Principal } from './principal.ts';

export function administratorOnly(principal: Principal): void {
  if (!principal.administrator) throw new Refusal('administrator_only');
}
