/** An image as the text names it that replaces it. */
interface NamedImage {
  readonly mediaType: string;
  readonly sizeBytes: number;
}

/** The text that replaces an image for a reader that gets none. */
export const imageInBrackets = ({ mediaType, sizeBytes }: NamedImage): string =>
  `[image, ${mediaType}, ${sizeBytes} bytes]`;

/** A tool's output for a reader that gets no images: they are named after the text, one per line. */
export function bracketedOutput(text: string, images: readonly NamedImage[] = []): string {
  return [...(text === '' ? [] : [text]), ...images.map(imageInBrackets)].join('\n');
}

/** Begins the images of a tool's output if the provider takes them only in a message of the user. */
export const imagesOfCall = (callId: string): string => `[The images of the output of the call ${callId}]`;
