import type { Principal } from './principal.ts';
import { Refusal } from './refusal.ts';

export function administratorOnly(principal: Principal): void {
  if (!principal.administrator) throw new Refusal('administrator_only');
}
