/** 96 random bits. Pages without https have no `randomUUID`. */
export const randomId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(12)), hex).join('');

const hex = (byte: number) => byte.toString(16).padStart(2, '0');
