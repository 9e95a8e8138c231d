/** Classic BPF, as far as a seccomp filter needs it: 8 bytes for each instruction. */

export interface Instruction {
  readonly code: number;
  /** How many instructions to skip if the comparison is true, and if it is false. */
  readonly jt: number;
  readonly jf: number;
  readonly k: number;
}

export const BPF_LOAD_WORD = 0x20;
export const BPF_JUMP_EQUAL = 0x15;
export const BPF_JUMP_GREATER = 0x25;
export const BPF_JUMP_SET = 0x45;
export const BPF_RETURN = 0x06;

export const load = (offset: number): Instruction => ({ code: BPF_LOAD_WORD, jt: 0, jf: 0, k: offset });
export const answer = (action: number): Instruction => ({ code: BPF_RETURN, jt: 0, jf: 0, k: action });

/** Runs the instructions of `then` if the comparison with the loaded word is true. They must end with an answer. */
export function when(code: number, k: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, jt: 0, jf: then.length, k }, ...then];
}

/** The same if the comparison is false. */
export function unless(code: number, k: number, then: readonly Instruction[]): Instruction[] {
  return [{ code, jt: then.length, jf: 0, k }, ...then];
}

export function encodeProgram(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, { code, jt, jf, k }] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(jt, index * 8 + 2);
    bytes.writeUInt8(jf, index * 8 + 3);
    bytes.writeUInt32LE(k, index * 8 + 4);
  }
  return bytes;
}
