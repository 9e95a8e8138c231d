import type { OutputImages } from '@runwire/server/src/agent/output-images.ts';

const unexpected = (): Promise<never> => Promise.reject(new Error('No tool of this test returns images.'));

/** For loops whose tools return no images. */
export const NO_IMAGES: OutputImages = { store: unexpected, adopt: unexpected, show: () => [] };
