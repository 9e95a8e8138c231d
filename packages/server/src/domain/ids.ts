import { sortableId } from '../lib/sortable-id.ts';

export type IdPrefix = 'run' | 'chat' | 'msg' | 'own' | 'key' | 'int' | 'node' | 'resp' | 'fc' | 'rs' | 'call' | 'form';

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${sortableId()}`;
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Contract 4: "1–256 characters without control characters, compared byte for byte". */
export function isCallerId(value: string): boolean {
  if (value.length === 0 || CONTROL.test(value)) return false;
  if (value.length <= 256) return true;
  return value.length <= 512 && [...value].length <= 256;
}

/** Contract 9: "blank is only white space". */
export function isBlank(value: string): boolean {
  return value.trim().length === 0;
}
